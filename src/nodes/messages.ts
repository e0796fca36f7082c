import * as v from 'valibot';
import type { AntwayError } from '../errors.ts';
import * as s from '../schema.ts';
import { parse, type Schema } from '../schema.ts';
import { concat, lengthOf, textBytes } from './bytes.ts';
import { isPeerId, type NodeAddress, parseNodeAddress } from './node-address.ts';
import { nodeError } from './node-error.ts';
import { nodeLimits } from './node-limits.ts';

/** The network's interface for browsers, version 5. */
const version = 5;
const protocolName = 'autonomi.web.poc.v5';

export type RequestBody =
  | { type: 'hello' }
  | { type: 'find_node'; target: string; count: number }
  | { type: 'get_chunk'; address: string }
  | { type: 'quote_chunk'; address: string; size: number }
  | { type: 'put_chunk'; address: string; quote: StorageQuote; transaction_hash: string }
  | { type: 'chunk_protocol' };

/** A response, split into its header and the bytes after it. */
export interface Response {
  id: number;
  status: 'ok' | 'not_found' | 'error';
  type: string;
  header: unknown;
  body: Uint8Array<ArrayBuffer>;
}

/** @param id a positive integer that no other request of the connection has. @param body its parts, in their order. */
export function encodeRequest(
  id: number,
  request: RequestBody,
  ...body: readonly Uint8Array[]
): Uint8Array<ArrayBuffer> {
  const header = { version, request_id: id, content_length: lengthOf(body), ...request };
  return concat(textBytes(JSON.stringify(header)), ...body);
}

const count = s.integer('bytes');
const envelope = s.object({
  version: v.literal(version, `it must be ${version}`),
  request_id: s.integer('requests'),
  status: v.picklist(['ok', 'not_found', 'error']),
  type: v.string(),
  content_length: count,
});

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Splits a response. There is no length between the JSON header and the body: the header ends with its last brace.
 * @throws AntwayError `CORRUPT`
 */
export function decodeResponse(frame: Uint8Array<ArrayBuffer>): Response {
  const headerBytes = jsonLength(frame.subarray(0, nodeLimits.headerBytes));
  if (headerBytes === undefined) throw nodeError('protocol', 'A node sent a response without a header.');
  let header: unknown;
  try {
    header = JSON.parse(utf8.decode(frame.subarray(0, headerBytes)));
  } catch (cause) {
    throw nodeError('protocol', 'A node sent a response whose header is no JSON.', cause);
  }
  const { request_id, status, type, content_length } = check(envelope, header);
  const body = frame.subarray(headerBytes);
  if (body.length !== content_length) {
    throw nodeError('protocol', `A node sent ${body.length} bytes and announced ${content_length}.`);
  }
  return { id: request_id, status, type, header, body };
}

const [quote, backslash, open, close] = Array.from('"\\{}', (character) => character.charCodeAt(0));

/** The length of the JSON object at the start of `bytes`, or undefined if it does not end there. */
function jsonLength(bytes: Uint8Array): number | undefined {
  if (bytes[0] !== open) return undefined;
  let depth = 0;
  let isText = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (isText) {
      if (byte === backslash) i++;
      else if (byte === quote) isText = false;
    } else if (byte === quote) isText = true;
    else if (byte === open) depth++;
    else if (byte === close && --depth === 0) return i + 1;
  }
  return undefined;
}

function check<T>(schema: Schema<T>, value: unknown): T {
  try {
    return parse(schema, value, 'CORRUPT', 'response');
  } catch (error) {
    throw nodeError('protocol', `A node sent a wrong response: ${(error as AntwayError).message}`, error);
  }
}

const peerId = v.pipe(v.string(), v.check(isPeerId, 'it must be 64 hex digits'));

const helloHeader = s.object({
  type: v.literal('hello'),
  protocol: v.literal(protocolName, `it must be ${protocolName}`),
  peer_id: peerId,
  capabilities: s.list(v.pipe(v.string(), v.maxLength(64, 'it is too long')), 64),
  payment: v.optional(v.unknown()),
});

const account = v.pipe(v.string(), v.regex(/^0x[0-9a-f]{40}$/i), v.toLowerCase());
const paymentSchema = v.object({
  chain_id: s.integer('chains'),
  payment_token_address: account,
  payment_vault_address: account,
});

/** The chain and the contracts by which a node wants to be paid. Contracts are `0x` and 40 lower-case hex digits. */
export interface NodePayment {
  chainId: number;
  token: string;
  vault: string;
}

export interface Hello {
  /** The requests that the node answers. */
  capabilities: ReadonlySet<string>;
  /** Undefined if the node does not say it. Reads do not need it. */
  payment: NodePayment | undefined;
}

/** @throws AntwayError `CORRUPT` */
export function parseHello({ header }: Response, expectedPeerId: string): Hello {
  const { peer_id, capabilities, payment } = check(helloHeader, header);
  if (peer_id !== expectedPeerId) throw nodeError('identity', 'A node greets with the name of another one.');
  const parsed = v.safeParse(paymentSchema, payment);
  return {
    capabilities: new Set(capabilities),
    payment: parsed.success
      ? {
          chainId: parsed.output.chain_id,
          token: parsed.output.payment_token_address,
          vault: parsed.output.payment_vault_address,
        }
      : undefined,
  };
}

const nodesHeader = s.object({
  type: v.literal('nodes'),
  target: v.string(),
  nodes: s.list(v.unknown(), nodeLimits.bucket),
});
const namedNode = s.object({ peer_id: peerId, webrtc_direct: v.optional(v.unknown()) });
const browserEndpoint = s.object({ multiaddr: v.string() });

/** The nodes that a node knows as the closest ones to a target. They are hints of a stranger. */
export interface NamedNodes {
  /** Those with an address for browsers. */
  addresses: NodeAddress[];
  /** The peer ids of all of them. */
  peerIds: ReadonlySet<string>;
}

/**
 * The nodes of an answer to `find_node`. An address that names another node is left out.
 * @throws AntwayError `CORRUPT` for an answer to another request, or with more nodes than any request asks for.
 */
export function parseNodes({ header }: Response, expectedTarget: string): NamedNodes {
  const { target, nodes } = check(nodesHeader, header);
  if (target !== expectedTarget) throw nodeError('protocol', 'A node answered another request.');
  const peerIds = new Set<string>();
  const addresses: NodeAddress[] = [];
  for (const node of nodes) {
    const named = v.safeParse(namedNode, node);
    if (!named.success) continue;
    const { peer_id } = named.output;
    peerIds.add(peer_id);
    const endpoint = v.safeParse(browserEndpoint, named.output.webrtc_direct);
    const address = endpoint.success ? parseNodeAddress(endpoint.output.multiaddr) : undefined;
    if (address?.peerId === peer_id) addresses.push(address);
  }
  return { addresses, peerIds };
}

const chunkHeader = s.object({ address: v.string(), size: count });

/** The bytes of a chunk, which nothing has verified. @throws AntwayError `CORRUPT` */
export function parseChunk(
  { type, header, body }: Response,
  expectedAddress: string,
): Uint8Array<ArrayBuffer> | undefined {
  if (type !== 'chunk' && type !== 'chunk_not_found') {
    throw nodeError('protocol', 'A node answered another request.');
  }
  if (type === 'chunk_not_found') {
    if (body.length > 0) throw nodeError('protocol', 'A node sent bytes of a chunk that it does not have.');
    return undefined;
  }
  const { address, size } = check(chunkHeader, header);
  if (address !== expectedAddress || size !== body.length || size > nodeLimits.chunkBytes) {
    throw nodeError('protocol', 'A node sent another chunk.');
  }
  return body;
}

const hex = (bytes: number) =>
  s.pattern(new RegExp(`^[0-9a-f]{${2 * bytes}}$`), `it must be ${bytes} bytes in hex`);
const [publicKey, signature] = [hex(1952), hex(3309)];
const storageQuote = s.object({
  peer_id: peerId,
  content: hex(32),
  timestamp_secs: s.integer('seconds'),
  price: s.pattern(/^(0|[1-9][0-9]{0,38})$/, 'it must be a decimal number'),
  rewards_address: account,
  public_key: publicKey,
  signature,
  committed_key_count: s.integer('records'),
  commitment_pin: v.nullable(hex(32)),
  quote_hash: hex(32),
  commitment: v.nullable(
    s.object({
      encoded: s.pattern(/^(?:[0-9a-f]{2}){1,16384}$/, 'it must be hex digits'),
      root: hex(32),
      key_count: s.integer('records'),
      sender_peer_id: peerId,
      sender_public_key: publicKey,
      signature,
    }),
  ),
});

/** The price that a node signs for a chunk, in the form of the wire. */
export type StorageQuote = v.InferOutput<typeof storageQuote>;

const quoteHeader = s.object({
  type: v.literal('storage_quote'),
  address: v.string(),
  already_stored: v.boolean(),
  quote: storageQuote,
});

/** The quote of a node, of which nothing but the form is verified. @throws AntwayError `CORRUPT` */
export function parseQuote(
  { header, body }: Response,
  expectedAddress: string,
): { isStored: boolean; quote: StorageQuote } {
  const { address, already_stored, quote } = check(quoteHeader, header);
  if (address !== expectedAddress || body.length > 0) {
    throw nodeError('protocol', 'A node answered another request.');
  }
  return { isStored: already_stored, quote };
}

const storedHeader = s.object({ type: v.literal('chunk_stored'), address: v.string() });

/** Makes sure that the node says that it has the chunk. @throws AntwayError `CORRUPT` */
export function checkChunkStored({ header, body }: Response, expectedAddress: string): void {
  const { address } = check(storedHeader, header);
  if (address !== expectedAddress || body.length > 0) {
    throw nodeError('protocol', 'A node answered another request.');
  }
}

const errorHeader = s.object({ code: v.pipe(v.string(), v.regex(/^[a-z_]{1,64}$/)) });

/** The code of an error response. Its message is a stranger's text, so it is dropped. */
export function errorCode({ header }: Response): string {
  const parsed = v.safeParse(errorHeader, header);
  return parsed.success ? parsed.output.code : 'unknown';
}

/** @throws AntwayError `PEERS_UNREACHABLE` with `details.reason`, the node's code, if a node refused a request. */
export function refuseError(response: Response): void {
  if (response.status !== 'error') return;
  const reason = errorCode(response);
  throw nodeError('refused', `A node refused a request (${reason}).`, undefined, { reason });
}
