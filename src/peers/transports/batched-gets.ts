import type { Address } from '../../address.ts';
import { asAntwayError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { raceAbort } from '../../util/watchdog.ts';

type Bytes = Uint8Array<ArrayBuffer>;

export interface GetStreams {
  /** As `Transport.fetch`. */
  one(address: Address, signal: AbortSignal, onFirstByte?: () => void): Promise<Bytes>;
  /** Requests chunks on one stream, in order. @throws as `one`; answers that were complete before stay valid. */
  several(addresses: readonly Address[], signal: AbortSignal, on: BatchEvents): Promise<void>;
}

export interface BatchEvents {
  /** A failure from here on is not a failure of the session. */
  opened(): void;
  bytes(): void;
  /** The chunk of the address at `index` begins and has `length` bytes. */
  began(index: number, length: number): void;
  /** The answer is complete: its bytes, or the error of this address. */
  answered(index: number, answer: Promise<Bytes>): void;
}

interface PendingGet {
  address: Address;
  signal: AbortSignal;
  onFirstByte: (() => void) | undefined;
  resolve(answer: Bytes | Promise<Bytes>): void;
  reject(error: unknown): void;
}

/**
 * Batches requests for small chunks into GETs of several addresses: a browser needs as long for one stream as for ten
 * small chunks (docs/reference/benchmarks.md). A single request gets a stream at once. If `limits.batchedGets.streams`
 * streams are open, further requests wait until one of them ends, or for a few milliseconds.
 *
 * One slow answer does not delay the others: if a stream fails, pauses or delivers a large chunk, all requests behind
 * the current answer are sent again on separate streams.
 */
export class BatchedGets {
  readonly #streams: GetStreams;
  #waiting: PendingGet[] = [];
  #active = 0;
  #isScheduled = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(streams: GetStreams) {
    this.#streams = streams;
  }

  /** As `Transport.fetch`. */
  fetch(address: Address, signal: AbortSignal, onFirstByte?: () => void): Promise<Bytes> {
    const answer = new Promise<Bytes>((resolve, reject) => {
      this.#waiting.push({ address, signal, onFirstByte, resolve, reject });
    });
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      // Requests of the same moment share a batch.
      queueMicrotask(() => this.#decide());
    }
    return raceAbort(answer, signal);
  }

  #decide(): void {
    this.#isScheduled = false;
    const { streams, waitMs } = limits.batchedGets;
    if (this.#active < streams || this.#waiting.length >= limits.addressesPerRequest) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), waitMs);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const wanted = this.#waiting.filter(({ signal }) => !signal.aborted);
    this.#waiting = [];
    for (let i = 0; i < wanted.length; i += limits.addressesPerRequest) {
      void this.#send(wanted.slice(i, i + limits.addressesPerRequest));
    }
  }

  async #send(wanted: readonly PendingGet[]): Promise<void> {
    this.#active++;
    if (wanted.length === 1) await this.#sendSingle(wanted[0]!);
    else await this.#sendBatch(wanted);
    this.#active--;
    if (this.#waiting.length > 0) this.#flush();
  }

  /** Never rejects. */
  async #sendSingle({ address, signal, onFirstByte, resolve, reject }: PendingGet): Promise<void> {
    await this.#streams.one(address, signal, onFirstByte).then(resolve, reject);
  }

  /** Never rejects. */
  async #sendBatch(wanted: readonly PendingGet[]): Promise<void> {
    const controller = new AbortController();
    let next = 0;
    let last = wanted.length - 1;
    let hasStream = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = () => controller.abort(new DOMException('No caller waits for the rest.', 'AbortError'));
    /** Keeps only the next answer on this stream, and sends the other requests on separate streams. */
    const release = () => {
      clearTimeout(timer);
      const others = wanted.slice(next + 1, last + 1);
      last = next;
      for (const other of others) if (!other.signal.aborted) void this.#sendSingle(other);
    };
    const watch = () => {
      clearTimeout(timer);
      if (next < last) timer = setTimeout(release, limits.batchedGets.pauseMs);
    };
    const leave = () => {
      if (wanted.slice(next, last + 1).every(({ signal }) => signal.aborted)) stop();
    };
    for (const { signal } of wanted) signal.addEventListener('abort', leave, { once: true });
    const addresses = wanted.map(({ address }) => address);
    try {
      await this.#streams.several(addresses, controller.signal, {
        opened: () => {
          hasStream = true;
          watch();
        },
        bytes: watch,
        began: (index, length) => {
          wanted[index]!.onFirstByte?.();
          if (length > limits.smallChunkBytes) release();
        },
        answered: (index, answer) => {
          wanted[index]!.resolve(answer);
          next = index + 1;
          if (next > last && next < wanted.length) stop();
          else leave();
        },
      });
    } catch (error) {
      const failure = controller.signal.aborted ? error : asAntwayError(error);
      // Without a session, separate streams would fail too.
      if (hasStream && !controller.signal.aborted) release();
      for (const { reject } of wanted.slice(next, last + 1)) reject(failure);
    } finally {
      clearTimeout(timer);
      for (const { signal } of wanted) signal.removeEventListener('abort', leave);
    }
  }
}
