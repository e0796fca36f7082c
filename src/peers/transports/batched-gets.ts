import type { Address } from '../../address.ts';
import { asAntwayError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { raceAbort } from '../../util/watchdog.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** How a transport asks for chunks. */
export interface GetStreams {
  /** One chunk, on a stream of its own. As `Transport.fetch`. */
  one(address: Address, signal: AbortSignal, onFirstByte?: () => void): Promise<Bytes>;
  /**
   * Several on one stream, in order.
   * @throws as `one`, for what goes wrong with the stream; what was answered until then stands.
   */
  several(addresses: readonly Address[], signal: AbortSignal, on: SeveralEvents): Promise<void>;
}

export interface SeveralEvents {
  /** There is a stream, so a failure from here on is not the session's. */
  opened(): void;
  /** Something arrived. */
  bytes(): void;
  /** The answer to the address at `index` begins, with so many bytes. */
  began(index: number, length: number): void;
  /** The answer is complete: its bytes, or why there are none. */
  answered(index: number, answer: Promise<Bytes>): void;
}

interface Wanted {
  address: Address;
  signal: AbortSignal;
  onFirstByte: (() => void) | undefined;
  resolve(answer: Bytes | Promise<Bytes>): void;
  reject(error: unknown): void;
}

/**
 * Gathers requests for small chunks into GETs of several addresses: a stream takes a browser as long as ten such
 * chunks (docs/reference/benchmarks.md). Who asks alone gets a stream at once. Only while some streams are under way is what
 * comes next held back, until one of them ends or for a moment.
 *
 * Nobody waits for another's trouble: when a stream breaks, or pauses, or brings something large, all whose answers
 * were not next are asked for on streams of their own.
 */
export class BatchedGets {
  readonly #streams: GetStreams;
  #waiting: Wanted[] = [];
  #underWay = 0;
  #isScheduled = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(streams: GetStreams) {
    this.#streams = streams;
  }

  /** One small chunk. Parameters and errors as of `Transport.fetch`. */
  fetch(address: Address, signal: AbortSignal, onFirstByte?: () => void): Promise<Bytes> {
    const answer = new Promise<Bytes>((resolve, reject) => {
      this.#waiting.push({ address, signal, onFirstByte, resolve, reject });
    });
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      // What is asked for in the same moment goes together.
      queueMicrotask(() => this.#decide());
    }
    return raceAbort(answer, signal);
  }

  #decide(): void {
    this.#isScheduled = false;
    const { streams, waitMs } = limits.gatheredGets;
    if (this.#underWay < streams || this.#waiting.length >= limits.addressesPerRequest) this.#flush();
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

  async #send(wanted: readonly Wanted[]): Promise<void> {
    this.#underWay++;
    if (wanted.length === 1) await this.#sendSingle(wanted[0]!);
    else await this.#sendBatch(wanted);
    this.#underWay--;
    if (this.#waiting.length > 0) this.#flush();
  }

  /** Never rejects. */
  async #sendSingle({ address, signal, onFirstByte, resolve, reject }: Wanted): Promise<void> {
    await this.#streams.one(address, signal, onFirstByte).then(resolve, reject);
  }

  /** Never rejects. */
  async #sendBatch(wanted: readonly Wanted[]): Promise<void> {
    const controller = new AbortController();
    /** Whose answer comes next. */
    let next = 0;
    let last = wanted.length - 1;
    let hasStream = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = () => controller.abort(new DOMException('Nobody waits for the rest.', 'AbortError'));
    /** The answer that is next stays on this stream; the others do not wait for it. */
    const release = () => {
      clearTimeout(timer);
      const others = wanted.slice(next + 1, last + 1);
      last = next;
      for (const other of others) if (!other.signal.aborted) void this.#sendSingle(other);
    };
    const watch = () => {
      clearTimeout(timer);
      if (next < last) timer = setTimeout(release, limits.gatheredGets.pauseMs);
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
      // With the session gone, streams of their own would fail alike.
      if (hasStream && !controller.signal.aborted) release();
      for (const { reject } of wanted.slice(next, last + 1)) reject(failure);
    } finally {
      clearTimeout(timer);
      for (const { signal } of wanted) signal.removeEventListener('abort', leave);
    }
  }
}
