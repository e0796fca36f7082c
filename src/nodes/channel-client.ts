import { type Address, toHex } from '../address.ts';
import type { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import { raceAbort, transferMs } from '../util/watchdog.ts';
import { resized } from './buffers.ts';
import type { NodeChannel } from './channel.ts';
import {
  type CandidateQuote,
  decodeCandidate,
  decodeChunkPut,
  decodePointerGet,
  decodePointerPut,
  encodeCandidate,
  encodeChunkPut,
  encodePointerGet,
  encodePointerPut,
} from './chunk-protocol.ts';
import { type Clock, withTimeout } from './clock.ts';
import { Inbox } from './inbox.ts';
import {
  checkStored,
  decodeResponse,
  encodeRequest,
  errorCode,
  type Hello,
  type NamedNodes,
  parseChunk,
  parseHello,
  parseNodes,
  parseQuote,
  type RequestBody,
  type Response,
  refuseError,
} from './messages.ts';
import { type NodeAddress, peerIdBytes } from './node-address.ts';
import type {
  Abilities,
  NodeClient,
  PaidChunk,
  PaidState,
  ProvenChunk,
  Quoted,
  RequestOptions,
} from './node-client.ts';
import { nodeError } from './node-error.ts';
import { nodeLimits } from './node-limits.ts';
import { Outbox } from './outbox.ts';
import { Places } from './places.ts';
import { RateLimit } from './rate-limit.ts';
import { acceptBytes, Handshake, recordOverheadBytes, type Session } from './session.ts';

const multiplexing = `rpc-multiplex-${nodeLimits.requestsAtOnce}`;
const smallFrame = nodeLimits.headerBytes + recordOverheadBytes;

/** The bytes of a request. */
interface Content {
  /** In parts, so that a large chunk is not copied. */
  body?: readonly Uint8Array<ArrayBuffer>[];
  /** The time that a node gets to work on them before it answers, in milliseconds. For a payment it asks the chain. */
  workMs?: number;
}

interface ExchangeEvents {
  onBytes(count: number): void;
  onSent(): void;
}

interface Pending {
  resolve(response: Response): void;
  onBytes(count: number): void;
}

/**
 * Talks to a node over an open channel. It says hello, and sends the first request without waiting for the answer: at a
 * distance that saves a round trip. A caller that aborts leaves at once. Its request keeps its place until the node
 * has answered, because an answer cannot be called back.
 */
export class ChannelClient implements NodeClient {
  readonly address: NodeAddress;
  readonly #channel: NodeChannel;
  readonly #clock: Clock;
  readonly #inbox: Inbox;
  readonly #outbox: Outbox;
  readonly #rate: RateLimit;
  /** One request beside the hello, until the node has said that it takes several. */
  readonly #places = new Places(1);
  readonly #pending = new Map<number, Pending>();
  /** The callers that wait for an answer. */
  #waiting = 0;
  /** Fires when the connection ends, with the reason. */
  readonly #end = new AbortController();
  #session: Session | undefined;
  #greeting: Promise<Hello> | undefined;
  #isGreeted = false;
  /** For the chunks that it stores. */
  readonly #puts = new Places(1);
  #lastId = 0;

  private constructor(channel: NodeChannel, address: NodeAddress, clock: Clock) {
    this.#channel = channel;
    this.address = address;
    this.#clock = clock;
    this.#rate = new RateLimit(clock, nodeLimits.requestsPerSecond, nodeLimits.requestBurst);
    this.#outbox = new Outbox(channel, clock, this.#end.signal);
    this.#inbox = new Inbox(clock, {
      onPayload: (payload) => this.#received(payload),
      onBytes: (count) => {
        // These bytes are the answer to the hello, and not of a record.
        if (!this.#isGreeted) return;
        for (const { onBytes } of this.#pending.values()) onBytes(count);
      },
      onFailed: (error) => this.#fail(error),
    });
    channel.onClosed = () => this.#fail(nodeError('unreachable', 'A node closed the connection.'));
  }

  /**
   * Authenticates the node, and says hello. Closes the channel if that fails.
   * @param handshake is used once. A caller can make it while the channel opens, because its key takes time.
   * @throws AntwayError `PEERS_UNREACHABLE`, `CORRUPT`; the signal's reason when aborted.
   */
  static async connect(
    channel: NodeChannel,
    address: NodeAddress,
    clock: Clock,
    signal: AbortSignal,
    handshake = new Handshake(),
  ): Promise<ChannelClient> {
    const client = new ChannelClient(channel, address, clock);
    try {
      await client.#authenticate(handshake, signal);
      client.#greeting = client.#greet();
      client.#greeting.catch((error) => client.#fail(error));
      return client;
    } catch (error) {
      client.#fail(error);
      throw error;
    }
  }

  get isClosed(): boolean {
    return this.#end.signal.aborted;
  }

  get isBusy(): boolean {
    return this.#pending.size > 0;
  }

  get isAwaited(): boolean {
    return !this.#isGreeted || this.#waiting > 0;
  }

  async abilities(signal: AbortSignal): Promise<Abilities> {
    const { capabilities, payment } = await raceAbort(this.#greeting!, signal);
    const has = (...names: string[]) => names.every((name) => capabilities.has(name));
    return {
      hasPointers: has('pointer_protocol', 'chunk_protocol'),
      hasBatches: has('chunk_protocol'),
      payment: has('quote_chunk', 'put_chunk') ? payment : undefined,
    };
  }

  async findNode(
    target: Uint8Array,
    options: RequestOptions,
    count: number = nodeLimits.bucket,
  ): Promise<NamedNodes> {
    const text = toHex(target);
    const request = { type: 'find_node', target: text, count } as const;
    return this.#parsed(await this.#request(request, smallFrame, options), (response) =>
      parseNodes(response, text),
    );
  }

  async getChunk(address: Address, options: RequestOptions): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const request = { type: 'get_chunk', address: address.hex } as const;
    const response = await this.#request(request, smallFrame + nodeLimits.chunkBytes, options);
    return this.#parsed(response, () => parseChunk(response, address.hex));
  }

  async quoteChunk(address: Address, size: number, options: RequestOptions): Promise<Quoted> {
    const request = { type: 'quote_chunk', address: address.hex, size } as const;
    const response = await this.#request(request, smallFrame, options);
    return this.#parsed(response, () => parseQuote(response, address.hex));
  }

  async putChunk({ address, bytes, quote, transaction }: PaidChunk, options: RequestOptions): Promise<void> {
    // A chunk is too large to be sent twice.
    await this.abilities(options.signal);
    const release = await this.#putPlace(options.signal);
    const paid = { quote, transaction_hash: transaction };
    const request = { type: 'put_chunk', address: address.hex, ...paid } as const;
    const content = { body: [bytes], workMs: nodeLimits.putMs };
    const response = await this.#request(request, smallFrame, options, content, release);
    this.#parsed(response, () => checkStored(response, address.hex));
  }

  async quoteCandidate(pool: Address, timestamp: number, options: RequestOptions): Promise<CandidateQuote> {
    await this.#require('hasBatches', options.signal);
    return this.#chunkProtocol(
      options,
      0,
      // The price does not depend on the size.
      (id) => [encodeCandidate(id, pool.bytes, nodeLimits.chunkBytes, timestamp)],
      decodeCandidate,
    );
  }

  async putBatchedChunk({ address, bytes, proof }: ProvenChunk, options: RequestOptions): Promise<void> {
    await this.#require('hasBatches', options.signal);
    const release = await this.#putPlace(options.signal);
    await this.#chunkProtocol(
      options,
      nodeLimits.batchedPutMs,
      (id) => encodeChunkPut(id, address.bytes, bytes, proof),
      (body, id) => decodeChunkPut(body, id, address.bytes),
      release,
    );
  }

  async getPointer(address: Address, options: RequestOptions): Promise<Uint8Array<ArrayBuffer> | undefined> {
    await this.abilities(options.signal);
    return this.#chunkProtocol(
      options,
      0,
      (id) => [encodePointerGet(id, address.bytes)],
      (body, id) => decodePointerGet(body, id, address.bytes, limits.pointerBytes),
    );
  }

  async putPointer(
    { address, state, record, proof }: PaidState,
    options: RequestOptions,
  ): Promise<'stored' | 'stale'> {
    await this.#require('hasPointers', options.signal);
    return this.#chunkProtocol(
      options,
      nodeLimits.putMs,
      (id) => [encodePointerPut(id, record, proof)],
      (body, id) => decodePointerPut(body, id, address.bytes, state),
    );
  }

  close(): void {
    this.#fail(nodeError('unreachable', 'The connection to a node is no longer needed.'));
  }

  async #authenticate(handshake: Handshake, signal: AbortSignal): Promise<void> {
    await this.#rate.take(signal);
    const accepted = new Promise<Uint8Array>((resolve) => {
      this.#onAccept = resolve;
    });
    this.#inbox.expect(acceptBytes);
    this.#channel.onMessage = (message) => this.#inbox.take(message);
    const sent = this.#outbox.send(handshake.hello).then(() => {
      this.#inbox.sent();
      return accepted;
    });
    const accept = await raceAbort(raceAbort(Promise.race([accepted, sent]), this.#end.signal), signal);
    this.#session = handshake.finish(accept, peerIdBytes(this.address));
  }

  async #greet(): Promise<Hello> {
    await this.#rate.take(this.#end.signal);
    const response = await this.#exchange(++this.#lastId, { type: 'hello' }, smallFrame);
    refuseError(response);
    const hello = parseHello(response, this.address.peerId);
    if (hello.capabilities.has(multiplexing)) this.#places.add(nodeLimits.requestsAtOnce - 1);
    this.#isGreeted = true;
    return hello;
  }

  #onAccept: (accept: Uint8Array) => void = () => undefined;

  /** A node stores one chunk of a connection at a time. @returns a function that ends the turn. */
  #putPlace(signal: AbortSignal): Promise<() => void> {
    return raceAbort(this.#puts.take(signal), this.#end.signal);
  }

  /** @throws AntwayError with `details.reason` `unsupported` if the node lacks the ability. */
  async #require(ability: 'hasPointers' | 'hasBatches', signal: AbortSignal): Promise<void> {
    if ((await this.abilities(signal))[ability]) return;
    const message = `A node stores no ${ability === 'hasPointers' ? 'pointers' : 'batches'}.`;
    throw nodeError('refused', message, undefined, { reason: 'unsupported' });
  }

  /**
   * Sends a message of the network's own protocol, and reads its answer. Both have the number of the request. Call it after
   * the greeting: a request before it may be sent again, with another number.
   * @param workMs as of `Content`. @param onEnd as of `#request`.
   */
  async #chunkProtocol<T>(
    options: RequestOptions,
    workMs: number,
    encode: (id: number) => readonly Uint8Array<ArrayBuffer>[],
    decode: (body: Uint8Array, id: number) => T,
    onEnd?: () => void,
  ): Promise<T> {
    // `#request` takes this number, so nothing may be awaited before.
    const id = this.#lastId + 1;
    const frame = smallFrame + nodeLimits.smallBodyBytes;
    const content = { body: encode(id), workMs };
    const response = await this.#request({ type: 'chunk_protocol' }, frame, options, content, onEnd);
    return this.#parsed(response, () => decode(response.body, id));
  }

  /** Parses an answer. A node that breaks the protocol is not asked again. */
  #parsed<T>(response: Response, parse: (response: Response) => T): T {
    try {
      return parse(response);
    } catch (error) {
      if ((error as AntwayError).code === 'CORRUPT') this.#fail(error);
      throw error;
    }
  }

  /**
   * @param onEnd is called when the node has answered or the connection has ended, even if the caller left before.
   * @throws AntwayError; the signal's reason when aborted.
   */
  async #request(
    request: RequestBody,
    frameBytes: number,
    { signal, onBytes = () => undefined, onSent = () => undefined }: RequestOptions,
    content?: Content,
    onEnd: () => void = () => undefined,
  ): Promise<Response> {
    const id = ++this.#lastId;
    let release = onEnd;
    try {
      const leave = await raceAbort(this.#places.take(signal), this.#end.signal);
      release = () => {
        leave();
        onEnd();
      };
      if (!this.#isGreeted) await this.#lead(signal);
      await this.#rate.take(signal);
      this.#end.signal.throwIfAborted();
    } catch (error) {
      release();
      throw error;
    }
    const isEarly = !this.#isGreeted;
    const count = (bytes: number) => signal.aborted || onBytes(bytes);
    const events = { onBytes: count, onSent: () => signal.aborted || onSent() };
    const exchange = async () => {
      const first = await this.#exchange(id, request, frameBytes, events, content);
      if (!isEarly || first.status !== 'error' || errorCode(first) !== notGreeted) return first;
      await this.#greeting;
      if (signal.aborted) return first;
      await this.#rate.take(this.#end.signal);
      return this.#exchange(++this.#lastId, request, frameBytes, events, content);
    };
    const finished = exchange().finally(release);
    // It has no other listener if the caller leaves.
    finished.catch((error) => this.#fail(error));
    this.#waiting++;
    const answered = raceAbort(finished, signal).finally(() => this.#waiting--);
    const response = await answered.catch((error) => {
      // Nothing reads the answer. It may have four megabytes.
      finished.then(({ body }) => resized(body.buffer, 0)).catch(() => undefined);
      throw error;
    });
    refuseError(response);
    return response;
  }

  /** Waits until the node has probably answered the hello. Before that, it refuses requests. */
  async #lead(signal: AbortSignal): Promise<void> {
    const timer = new AbortController();
    const lead = this.#clock.delay(nodeLimits.helloLeadMs, timer.signal).catch(() => undefined);
    try {
      await raceAbort(Promise.race([this.#greeting, lead]), signal);
    } finally {
      timer.abort();
    }
  }

  /** Sends a request. @returns its answer. @throws the reason for which the connection ended. */
  async #exchange(
    id: number,
    request: RequestBody,
    frameBytes: number,
    { onBytes, onSent }: ExchangeEvents = { onBytes: () => undefined, onSent: () => undefined },
    { body = [], workMs = 0 }: Content = {},
  ): Promise<Response> {
    const answer = new Promise<Response>((resolve) => {
      this.#pending.set(id, { resolve, onBytes });
    });
    this.#inbox.expect(frameBytes);
    const totalMs = workMs + nodeLimits.stallMs + nodeLimits.requestsAtOnce * transferMs(frameBytes);
    const late = () => nodeError('timeout', 'A node does not answer a request, but others.');
    const sent = this.#outbox.send(this.#session!.encrypt(encodeRequest(id, request, ...body)));
    // The time begins here: the link may be slow, and a request may wait long for a chunk that is sent before it.
    const inTime = sent.then(() => {
      this.#inbox.sent(workMs);
      onSent();
      return withTimeout(this.#clock, totalMs, this.#end.signal, late, (ended) => raceAbort(answer, ended));
    });
    inTime.catch((error) => this.#fail(error));
    try {
      return await raceAbort(Promise.race([answer, inTime]), this.#end.signal);
    } finally {
      this.#pending.delete(id);
    }
  }

  #received(payload: Uint8Array<ArrayBuffer>): void {
    if (!this.#session) {
      this.#onAccept(payload);
      return;
    }
    const response = decodeResponse(this.#session.decrypt(payload));
    const pending = this.#pending.get(response.id);
    if (!pending) throw nodeError('protocol', 'A node answered a request that does not exist.');
    pending.resolve(response);
  }

  #fail(error: unknown): void {
    if (this.isClosed) return;
    this.#end.abort(error);
    this.#inbox.stop();
    this.#channel.close();
  }
}

/** The code of a node that has not answered the hello yet. */
const notGreeted = 'authentication_required';
