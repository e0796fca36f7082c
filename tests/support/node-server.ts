import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { blake3 } from '@noble/hashes/blake3.js';
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { ml_kem768 } from '@noble/post-quantum/ml-kem.js';
import { toHex } from '../../src/address.ts';
import { concat, textBytes } from '../../src/nodes/bytes.ts';
import type { NodeChannel } from '../../src/nodes/channel.ts';
import { FrameReader, frameMessages } from '../../src/nodes/frames.ts';
import type { StorageQuote } from '../../src/nodes/messages.ts';
import type { NodeAddress } from '../../src/nodes/node-address.ts';
import { Session } from '../../src/nodes/session.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface NodeIdentity {
  secretKey: Uint8Array;
  publicKey: Uint8Array;
  peerId: Uint8Array;
}

const identities = new Map<number, NodeIdentity>();

/** The same seed gives the same identity. */
export function nodeIdentity(seed: number): NodeIdentity {
  const known = identities.get(seed);
  if (known) return known;
  const { secretKey, publicKey } = ml_dsa65.keygen(new Uint8Array(32).fill(seed));
  const identity = { secretKey, publicKey, peerId: blake3(publicKey) };
  identities.set(seed, identity);
  return identity;
}

export function addressOf({ peerId }: NodeIdentity, host = '127.0.0.1', port = 10_001): NodeAddress {
  return { peerId: toHex(peerId), host, port, certificateHash: new Uint8Array(32) };
}

/** The node's half of the handshake. @returns its answer, and its half of the session. */
export function acceptSession(hello: Uint8Array, { secretKey, publicKey, peerId }: NodeIdentity) {
  const { cipherText, sharedSecret } = ml_kem768.encapsulate(hello.subarray(3));
  const transcript = concat(textBytes('autonomi-webrtc-pq-handshake-v1\0'), hello, cipherText, peerId);
  const material = concat(sharedSecret, blake3(transcript));
  const key = (direction: string) =>
    blake3(material, { context: textBytes(`autonomi webrtc pq session v1 ${direction}`) });
  const accept = concat(
    new Uint8Array([2, 0, 1]),
    cipherText,
    peerId,
    publicKey,
    ml_dsa65.sign(transcript, secretKey),
  );
  return { accept, session: new Session(key('server to client'), key('client to server')), key };
}

export interface ServerRequest {
  request_id: number;
  type: string;
  target?: string;
  address?: string;
  size?: number;
  quote?: StorageQuote;
  transaction_hash?: string;
  body: Uint8Array;
}

/** How a node answers one request. It gets the server to send anything else. */
export type NodeAnswer = (request: ServerRequest, server: NodeServer) => void;

export const capabilities = [
  'chunk_protocol',
  'rpc-multiplex-4',
  'find_node',
  'get_chunk',
  'pointer_protocol',
];

/** A node behind a channel in the same process. Everything that it does can be replaced by an attack. */
export class NodeServer {
  readonly requests: ServerRequest[] = [];
  session: Session | undefined;
  #sequence = 0;
  /** Encrypts with any sequence number. */
  sealAs: (sequence: bigint, frame: Uint8Array) => Uint8Array = () => new Uint8Array();
  readonly #identity: NodeIdentity;
  readonly #answer: NodeAnswer;
  readonly #reader = new FrameReader();
  readonly #deliver: (message: Uint8Array<ArrayBuffer>) => void;

  /** @param deliver sends one message to the client. */
  constructor(
    identity: NodeIdentity,
    answer: NodeAnswer,
    deliver: (message: Uint8Array<ArrayBuffer>) => void,
  ) {
    this.#identity = identity;
    this.#answer = answer;
    this.#deliver = deliver;
  }

  /** Replaces the answer to the handshake. */
  changeAccept: (accept: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer> = (accept) => accept;

  receive(message: Uint8Array): void {
    this.#reader.expect(5 << 20);
    const payload = this.#reader.take(message);
    if (!payload) return;
    if (!this.session) {
      const { accept, session, key } = acceptSession(payload, this.#identity);
      this.session = session;
      this.sealAs = (sequence, frame) => sealRecord(key('server to client'), sequence, frame);
      this.sendPayload(this.changeAccept(accept));
      return;
    }
    const frame = this.session.decrypt(payload);
    const end = headerEnd(frame);
    const header = JSON.parse(new TextDecoder().decode(frame.subarray(0, end)));
    const request = { ...header, body: frame.subarray(end) };
    this.requests.push(request);
    this.#answer(request, this);
  }

  /** Sends a response in a record. */
  respond(header: object, body: Uint8Array = new Uint8Array()): void {
    this.#sequence++;
    this.sendPayload(this.session!.encrypt(responseFrame(header, body)));
  }

  /** The sequence number of the next record. */
  get sequence(): number {
    return this.#sequence;
  }

  sendPayload(payload: Uint8Array): void {
    for (const message of frameMessages(payload)) this.#deliver(message);
  }

  sendMessage(message: Uint8Array<ArrayBuffer>): void {
    this.#deliver(message);
  }
}

/** The end of the JSON, whose texts have no braces. */
function headerEnd(frame: Uint8Array): number {
  let depth = 0;
  return (
    1 +
    frame.findIndex((byte) => {
      if (byte === 0x7b) depth++;
      else if (byte === 0x7d) depth--;
      return depth === 0;
    })
  );
}

function sealRecord(key: Uint8Array, sequence: bigint, frame: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, sequence);
  const associated = concat(textBytes('autonomi-webrtc-pq-record-v1\0'), bytes);
  const cipher = chacha20poly1305(key, concat(new Uint8Array(4), bytes), associated);
  return concat(new Uint8Array([3]), bytes, cipher.encrypt(frame));
}

export function responseFrame(header: object, body: Uint8Array = new Uint8Array()): Uint8Array {
  const complete = { version: 5, content_length: body.length, ...header };
  return concat(textBytes(JSON.stringify(complete)), body);
}

/** Answers as an honest node without nodes, and with these chunks by address. */
export function honestAnswer(
  identity: NodeIdentity,
  chunks: ReadonlyMap<string, Uint8Array> = new Map(),
): NodeAnswer {
  return ({ request_id, type, target, address }, server) => {
    if (type === 'hello') server.respond(helloHeader(request_id, identity));
    else if (type === 'find_node') {
      server.respond({ request_id, status: 'ok', type: 'nodes', target, nodes: [] });
    } else if (type === 'get_chunk') {
      const bytes = chunks.get(address!);
      if (bytes) {
        server.respond({ request_id, status: 'ok', type: 'chunk', address, size: bytes.length }, bytes);
      } else server.respond({ request_id, status: 'not_found', type: 'chunk_not_found', address });
    } else
      server.respond({ request_id, status: 'error', type: 'error', code: 'unknown_request', message: '' });
  };
}

export function helloHeader(request_id: number, { peerId }: NodeIdentity): object {
  const peer_id = toHex(peerId);
  return { request_id, status: 'ok', type: 'hello', protocol: 'autonomi.web.poc.v5', peer_id, capabilities };
}

/** So many bytes of a slow link wait in the browser before a sender waits for half of them, as in `webrtc-channel.ts`. */
const bufferedBytes = 256 * 1024;

/**
 * Puts a slow link with a buffer before a channel, as a browser has. As Chromium, it tells that bytes have left only once more
 * than 100 KiB have, or all.
 * @param bytesPerMs is asked for each message. With 0, nothing gets through.
 */
export function slowDown(
  channel: NodeChannel,
  clock: VirtualClock,
  bytesPerMs: (message: Uint8Array) => number,
): void {
  const { send } = channel;
  const waiting: Uint8Array<ArrayBuffer>[] = [];
  let unsent = 0;
  let reported = 0;
  let wake: () => void = () => undefined;
  let isDraining = false;
  const drain = async () => {
    isDraining = true;
    while (waiting.length > 0) {
      const message = waiting[0]!;
      const rate = bytesPerMs(message);
      await clock.delay(rate > 0 ? message.length / rate : 1_000);
      if (rate === 0) continue;
      waiting.shift();
      unsent -= message.length;
      if (unsent === 0 || reported - unsent > 100 * 1024) reported = unsent;
      await send(message);
      if (reported <= bufferedBytes / 2) wake();
    }
    isDraining = false;
  };
  Object.defineProperty(channel, 'unsentBytes', { get: () => reported });
  channel.send = async (message) => {
    if (waiting.length === 0 && bytesPerMs(message) === Number.POSITIVE_INFINITY) return send(message);
    unsent += message.length;
    reported += message.length;
    waiting.push(message.slice());
    if (!isDraining) void drain();
    if (reported <= bufferedBytes) return;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  };
}

/** A channel to a server in this process. */
export function channelTo(
  identity: NodeIdentity,
  answer: NodeAnswer,
): { channel: NodeChannel; server: NodeServer; isClosed: () => boolean } {
  let isClosed = false;
  const channel: NodeChannel = {
    send: async (message) => queueMicrotask(() => server.receive(message)),
    unsentBytes: 0,
    onMessage: () => undefined,
    onClosed: () => undefined,
    close: () => {
      if (isClosed) return;
      isClosed = true;
      channel.onClosed();
    },
  };
  const server = new NodeServer(identity, answer, (message) => {
    if (!isClosed) channel.onMessage(message);
  });
  return { channel, server, isClosed: () => isClosed };
}
