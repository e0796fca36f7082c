import type { AntwayError } from '../errors.ts';
import { raceAbort, transferMs } from '../util/watchdog.ts';
import { authenticate } from './authenticate.ts';
import { resized } from './buffers.ts';
import type { NodeChannel } from './channel.ts';
import { type Clock, withTimeout } from './clock.ts';
import { Inbox, type OwedAnswer } from './inbox.ts';
import {
  decodeResponse,
  encodeRequest,
  errorCode,
  type Hello,
  parseHello,
  type RequestBody,
  type Response,
  refuseError,
} from './messages.ts';
import type { NodeAddress } from './node-address.ts';
import type { RequestOptions } from './node-client.ts';
import { nodeError } from './node-error.ts';
import { nodeLimits } from './node-limits.ts';
import { Outbox } from './outbox.ts';
import { RateLimit } from './rate-limit.ts';
import { Semaphore } from './semaphore.ts';
import { type Handshake, recordOverheadBytes, type Session } from './session.ts';

const multiplexing = `rpc-multiplex-${nodeLimits.requestsAtOnce}`;
/** The most bytes of an answer without content. */
export const smallFrame = nodeLimits.headerBytes + recordOverheadBytes;
/** The code of a node that has not answered the hello yet. */
const notGreeted = 'authentication_required';

/** The bytes of a request. */
export interface RequestContent {
  /** In parts, so that a large chunk is not copied. @param id the number of the request. */
  body?(id: number): readonly Uint8Array<ArrayBuffer>[];
  /** The time that a node gets to work on them before it answers, in milliseconds. For a payment it asks the chain. */
  workMs?: number;
}

interface ExchangeEvents {
  onBytes(count: number): void;
  onSent(): void;
}

interface Pending {
  owed: OwedAnswer;
  resolve(response: Response): void;
  onBytes(count: number): void;
}

/**
 * An authenticated connection, which exchanges requests and answers. It says hello, and sends the first request without
 * waiting for the answer: at a distance that saves a round trip. A caller that aborts leaves at once. Its request keeps its
 * place until the node has answered, because an answer cannot be called back.
 */
export class NodeConnection {
  readonly #address: NodeAddress;
  readonly #channel: NodeChannel;
  readonly #clock: Clock;
  readonly #inbox: Inbox;
  readonly #outbox: Outbox;
  readonly #rate: RateLimit;
  /** One request beside the hello, until the node has said that it takes several. */
  readonly #places = new Semaphore(1);
  readonly #pending = new Map<number, Pending>();
  /** The callers that wait for an answer. */
  #waiting = 0;
  /** Fires when the connection ends, with the reason. */
  readonly #end = new AbortController();
  #session: Session | undefined;
  /** Takes the first payload, which is the answer to the handshake. */
  #onFirst: (payload: Uint8Array) => void = () => undefined;
  #greeting: Promise<Hello> | undefined;
  #isGreeted = false;
  #lastId = 0;

  private constructor(channel: NodeChannel, address: NodeAddress, clock: Clock) {
    this.#channel = channel;
    this.#address = address;
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
      onFailed: (error) => this.fail(error),
    });
    channel.onClosed = () => this.fail(nodeError('unreachable', 'A node closed the connection.'));
  }

  /** @throws as `ChannelClient.connect`. */
  static async open(
    channel: NodeChannel,
    address: NodeAddress,
    clock: Clock,
    signal: AbortSignal,
    handshake: Handshake,
  ): Promise<NodeConnection> {
    const connection = new NodeConnection(channel, address, clock);
    try {
      await connection.#authenticate(handshake, signal);
      connection.#greeting = connection.#greet();
      connection.#greeting.catch((error) => connection.fail(error));
      return connection;
    } catch (error) {
      connection.fail(error);
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

  /** Fires when the connection ends, with the reason. */
  get end(): AbortSignal {
    return this.#end.signal;
  }

  /** Waits for the answer to the hello. @throws AntwayError; the signal's reason when aborted. */
  hello(signal: AbortSignal): Promise<Hello> {
    return raceAbort(this.#greeting!, signal);
  }

  /**
   * A small request that waits too long behind a chunk fails for its caller. The connection goes on.
   * @param onEnd is called when the node has answered or the connection has ended, even if the caller left before.
   * @throws AntwayError; the signal's reason when aborted.
   */
  async request(
    request: RequestBody,
    frameBytes: number,
    options: RequestOptions,
    content?: RequestContent,
    onEnd?: () => void,
  ): Promise<Response> {
    if (content?.workMs) return this.#request(request, frameBytes, options, content, onEnd);
    const late = new AbortController();
    const isSent = new AbortController();
    const over = AbortSignal.any([options.signal, isSent.signal]);
    this.#clock.delay(nodeLimits.behindMs, over).then(
      () => late.abort(nodeError('unreachable', 'A node takes another request for too long.')),
      () => undefined,
    );
    const signal = AbortSignal.any([options.signal, late.signal]);
    const onSent = () => {
      isSent.abort();
      options.onSent?.();
    };
    try {
      return await this.#request(request, frameBytes, { ...options, signal, onSent }, content, onEnd);
    } finally {
      isSent.abort();
    }
  }

  async #request(
    request: RequestBody,
    frameBytes: number,
    { signal, onBytes = () => undefined, onSent = () => undefined }: RequestOptions,
    content?: RequestContent,
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
    finished.catch((error) => this.fail(error));
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

  /** Parses an answer. A node that breaks the protocol is not asked again. */
  parsed<T>(response: Response, parse: (response: Response) => T): T {
    try {
      return parse(response);
    } catch (error) {
      if ((error as AntwayError).code === 'CORRUPT') this.fail(error);
      throw error;
    }
  }

  /** Ends the connection. */
  fail(error: unknown): void {
    if (this.isClosed) return;
    this.#end.abort(error);
    this.#inbox.stop();
    this.#channel.close();
  }

  async #authenticate(handshake: Handshake, signal: AbortSignal): Promise<void> {
    await this.#rate.take(signal);
    const first = new Promise<Uint8Array>((resolve) => {
      this.#onFirst = resolve;
    });
    const link = { inbox: this.#inbox, outbox: this.#outbox, first, end: this.end };
    const session = authenticate(handshake, this.#address, link, signal);
    this.#channel.onMessage = (message) => this.#inbox.take(message);
    this.#session = await session;
  }

  async #greet(): Promise<Hello> {
    await this.#rate.take(this.#end.signal);
    const response = await this.#exchange(++this.#lastId, { type: 'hello' }, smallFrame);
    refuseError(response);
    const hello = parseHello(response, this.#address.peerId);
    if (hello.capabilities.has(multiplexing)) this.#places.add(nodeLimits.requestsAtOnce - 1);
    this.#isGreeted = true;
    return hello;
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
    { body = () => [], workMs = 0 }: RequestContent = {},
  ): Promise<Response> {
    const owed = this.#inbox.expect(frameBytes);
    const answer = new Promise<Response>((resolve) => {
      this.#pending.set(id, { owed, resolve, onBytes });
    });
    const frame = encodeRequest(id, request, ...body(id));
    const graceMs = workMs + transferMs(Math.min(frame.length, nodeLimits.hiddenBytes));
    const totalMs = graceMs + nodeLimits.stallMs + nodeLimits.requestsAtOnce * transferMs(frameBytes);
    const late = () => nodeError('timeout', 'A node does not answer a request, but others.');
    const sent = this.#outbox.send(this.#session!.encrypt(frame));
    // The time begins here: the link may be slow, and a request may wait long for a chunk that is sent before it.
    const inTime = sent.then(() => {
      owed.sent(graceMs);
      onSent();
      return withTimeout(this.#clock, totalMs, this.#end.signal, late, (ended) => raceAbort(answer, ended));
    });
    inTime.catch((error) => this.fail(error));
    try {
      return await raceAbort(Promise.race([answer, inTime]), this.#end.signal);
    } finally {
      this.#pending.delete(id);
    }
  }

  #received(payload: Uint8Array<ArrayBuffer>): void {
    if (!this.#session) {
      this.#onFirst(payload);
      return;
    }
    const response = decodeResponse(this.#session.decrypt(payload));
    const pending = this.#pending.get(response.id);
    if (!pending) throw nodeError('protocol', 'A node answered a request that does not exist.');
    pending.owed.received();
    pending.resolve(response);
  }
}
