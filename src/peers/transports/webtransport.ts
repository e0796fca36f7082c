import { Address } from '../../address.ts';
import { AntwayError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { transferMs, Watchdog } from '../../util/watchdog.ts';
import { type BatchEvents, BatchedGets } from './batched-gets.ts';
import { ByteReader } from './byte-reader.ts';
import {
  checkAnswer,
  decodeInfo,
  encodeAddressRequest,
  encodeInfo,
  encodeOpen,
  operations,
  type PeerInfo,
  type PrefetchRange,
  resetCodes,
  statuses,
} from './protocol.ts';
import { isAnswer, type Transport } from './transport.ts';
import type { WebTransportEndpoint } from './webtransport-endpoint.ts';
import { WebTransportSession } from './webtransport-session.ts';

/** Time limit for one chunk, or for a batch of small chunks that together are no larger. */
const chunkMs = limits.stallMs + transferMs(limits.chunkBytes);

export class WebTransportTransport implements Transport {
  readonly name = 'webtransport';
  readonly #session: WebTransportSession;
  readonly #onBytes: (length: number) => void;
  readonly #small = new BatchedGets({
    one: (...request) => this.#get(...request),
    several: (...request) => this.#getSeveral(...request),
  });
  /** When bytes last arrived on any stream, as `performance.now()`. */
  #lastArrival = 0;

  /**
   * @param endpoint called before each new connection, so that a rotated certificate is found.
   * @param onBytes called with the number of bytes of every arriving piece.
   */
  constructor(endpoint: () => Promise<WebTransportEndpoint>, onBytes: (length: number) => void = () => {}) {
    this.#session = new WebTransportSession(endpoint);
    this.#onBytes = onBytes;
  }

  static get isSupported(): boolean {
    return typeof WebTransport === 'function';
  }

  /** Whether a session is connected and the peer may support OPEN. */
  get canPrefetch(): boolean {
    return this.#session.supports(operations.open);
  }

  get isConnected(): boolean {
    return this.#session.isConnected;
  }

  /** As of `PeerTransports`. */
  get connecting(): Promise<unknown> | undefined {
    const mayOpen = this.#session.isConnecting && this.#session.mayKnow(operations.open);
    return mayOpen ? this.#session.connectInTime() : undefined;
  }

  fetch(
    address: Address,
    signal: AbortSignal,
    onFirstByte?: () => void,
    expectedBytes = Number.POSITIVE_INFINITY,
  ): Promise<Uint8Array<ArrayBuffer>> {
    if (expectedBytes <= limits.smallChunkBytes) return this.#small.fetch(address, signal, onFirstByte);
    return this.#get(address, signal, onFirstByte);
  }

  #get(address: Address, signal: AbortSignal, onFirstByte?: () => void): Promise<Uint8Array<ArrayBuffer>> {
    const request = encodeAddressRequest(operations.get, [address]);
    return this.request(request, chunkMs, signal, (reader) => readAnswer(reader, onFirstByte));
  }

  #getSeveral(addresses: readonly Address[], signal: AbortSignal, on: BatchEvents): Promise<void> {
    const request = encodeAddressRequest(operations.get, addresses);
    const read = async (reader: ByteReader) => {
      on.opened();
      for (let index = 0; index < addresses.length; index++) {
        const answer = readAnswer(reader, (length) => on.began(index, length));
        // "Not found" and "failed" are complete answers: the next answer follows.
        const isWhole = await answer.then(
          () => true,
          (error) => error instanceof AntwayError && error.code !== 'CORRUPT' && isAnswer(error),
        );
        if (!isWhole) await answer;
        on.answered(index, answer);
      }
    };
    return this.request(request, chunkMs, signal, read, { onMoreBytes: on.bytes });
  }

  /**
   * Requests a file's map and everything that a range of the file needs (OPEN). The records are not verified.
   * @param onFirstByte called when the first record begins to arrive.
   * @param onRecord called with each record as it arrives. The next record is read when the returned promise resolves.
   * @throws as `fetch`.
   */
  async prefetch(
    address: Address,
    range: PrefetchRange,
    signal: AbortSignal,
    onFirstByte: () => void,
    onRecord: (address: Address, bytes: Uint8Array<ArrayBuffer>) => Promise<void>,
  ): Promise<void> {
    // The time for the largest range that one OPEN requests.
    const totalMs = limits.stallMs + transferMs(limits.prefetchBytes);
    const read = async (reader: ByteReader) => {
      await onRecord(address, await readAnswer(reader, onFirstByte));
      while (!(await reader.isAtEnd())) {
        const next = Address.fromBytes(await reader.read(32));
        await onRecord(next, await readAnswer(reader));
      }
    };
    try {
      await this.request(encodeOpen(address, range), totalMs, signal, read);
    } catch (error) {
      const { streamErrorCode } = ((error as Error).cause ?? {}) as Partial<WebTransportError>;
      // Only this code says that the peer does not know OPEN. A busy, slow or closing peer knows it.
      if (streamErrorCode === resetCodes.badRequest) this.#session.refused(operations.open);
      throw error;
    }
  }

  /** @throws as `fetch`, except `NOT_FOUND`. */
  has(address: Address, signal: AbortSignal): Promise<boolean> {
    const request = encodeAddressRequest(operations.has, [address]);
    return this.request(request, limits.stallMs, signal, async (reader) => {
      const [status] = await reader.read(1);
      if (status === statuses.notFound) return false;
      checkAnswer(status!, 0);
      return true;
    });
  }

  /** @throws AntwayError `UNSUPPORTED` as `decodeInfo`, or as `fetch`. */
  info(signal = new AbortController().signal, onFirstByte?: () => void): Promise<PeerInfo> {
    return this.request(encodeInfo(), limits.stallMs, signal, async (reader) => {
      const length = new DataView((await reader.read(4)).buffer).getUint32(0);
      onFirstByte?.();
      if (length > limits.infoBytes)
        throw new AntwayError('UNSUPPORTED', 'The peer says too much of itself.');
      return decodeInfo(await reader.read(length));
    });
  }

  /** Sends one request on a separate stream, under the watchdog. */
  protected async request<T>(
    request: Uint8Array<ArrayBuffer>,
    totalMs: number,
    signal: AbortSignal,
    read: (reader: ByteReader) => Promise<T>,
    { stallMs = limits.stallMs, onMoreBytes }: { stallMs?: number; onMoreBytes?: () => void } = {},
  ): Promise<T> {
    const watchdog = new Watchdog({ stallMs, totalMs, signal });
    const onBytes = (length: number) => {
      watchdog.touch();
      this.#lastArrival = performance.now();
      this.#onBytes(length);
      onMoreBytes?.();
    };
    let session: WebTransport | undefined;
    let reader: ByteReader | undefined;
    let writer: WritableStreamDefaultWriter<Uint8Array> | undefined;
    try {
      session = await watchdog.race(this.#session.connectInTime());
      const stream = await watchdog.race(openStream(session, watchdog.signal));
      writer = stream.writable.getWriter();
      reader = new ByteReader(stream.readable, onBytes);
      // A peer may refuse, or reset the stream, before it has read everything. The read reports that error.
      writer
        .write(request)
        .then(() => writer?.close())
        .catch(() => undefined);
      const result = await watchdog.race(read(reader));
      void reader.cancel();
      return result;
    } catch (error) {
      // Reset both directions, so that the peer stops sending at once.
      void reader?.cancel();
      writer?.abort().catch(() => undefined);
      if (watchdog.signal.aborted) {
        // Close the session if no stream received anything. One slow answer is no reason to close it.
        const isDead = performance.now() - this.#lastArrival > stallMs / 2;
        if (!signal.aborted && isDead) this.#session.drop(session);
        throw watchdog.signal.reason;
      }
      if (error instanceof AntwayError) throw error;
      throw new AntwayError('PEERS_UNREACHABLE', 'The WebTransport stream broke.', {}, { cause: error });
    } finally {
      watchdog.stop();
    }
  }

  /** @throws AntwayError `PEERS_UNREACHABLE`, `UNSUPPORTED`. */
  async connect(): Promise<void> {
    await this.#session.connect();
  }

  close(): void {
    this.#session.close();
  }
}

/** Resets a stream that opens after the caller has aborted: it would count against the peer's limit of streams. */
async function openStream(
  session: WebTransport,
  signal: AbortSignal,
): Promise<WebTransportBidirectionalStream> {
  const stream = await session.createBidirectionalStream();
  if (signal.aborted) {
    stream.writable.abort().catch(() => undefined);
    stream.readable.cancel().catch(() => undefined);
  }
  return stream;
}

async function readAnswer(
  reader: ByteReader,
  onFirstByte?: (length: number) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const head = await reader.read(5);
  const length = new DataView(head.buffer).getUint32(1);
  // Only a record begins here. In other answers, the length is a hint or a reason.
  checkAnswer(head[0]!, length);
  onFirstByte?.(length);
  return reader.read(length);
}
