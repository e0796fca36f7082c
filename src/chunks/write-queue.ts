import type { Address } from '../address.ts';
import { sliceChunks } from './bookkeeping.ts';
import type { WriteOutcome } from './store.ts';
import { isLarge } from './stored-form.ts';
import type { VerifiedChunk } from './verified-chunk.ts';

/** Bytes that may wait in the queue before `put` makes its caller wait. */
const queueBytes = 32 * 1024 * 1024;
/** Limit per transaction, besides `sliceChunks`. The browser copies all buffers of a transaction in one go. */
const batchBytes = 8 * 1024 * 1024;
/**
 * Writing takes processor time that a loading page needs. So small chunks wait until none has arrived for this long, in
 * milliseconds.
 */
const quietMs = 50;
/** How long they wait at most, in milliseconds. */
const mostDelayMs = 1_000;
/** How many bytes wait at most for a quiet moment. */
const delayedBytes = 16 * 1024 * 1024;

export interface Written {
  stored: ReadonlySet<VerifiedChunk>;
  /** Why the other chunks are not on disk. */
  refusal: Exclude<WriteOutcome, 'stored'>;
}

interface Waiting {
  chunk: VerifiedChunk;
  /** When it was put, in milliseconds. */
  at: number;
  outcome: Promise<WriteOutcome>;
  settle(outcome: WriteOutcome): void;
}

/** Chunks that are not written yet. Readers find them here. One batch is written at a time. */
export class WriteQueue {
  /** The oldest first. */
  readonly #waiting = new Map<string, Waiting>();
  #bytes = 0;
  #writing: Promise<void> | undefined;
  /** How many of the oldest chunks are to be written without delay. */
  #urgent = 0;
  #quietTimer: ReturnType<typeof setTimeout> | undefined;
  #lastPutAt = 0;
  #lastOutcome: Promise<WriteOutcome> | undefined;
  readonly #write: (batch: readonly VerifiedChunk[], bytes: number) => Promise<Written>;

  /** @param write must not reject. `start` also calls it with an empty batch. */
  constructor(write: (batch: readonly VerifiedChunk[], bytes: number) => Promise<Written>) {
    this.#write = write;
  }

  get size(): number {
    return this.#waiting.size;
  }

  get({ hex }: Address): VerifiedChunk | undefined {
    return this.#waiting.get(hex)?.chunk;
  }

  /** Writes the chunk without delay. Undefined if it is not in the queue. */
  outcome({ hex }: Address): Promise<WriteOutcome> | undefined {
    const waiting = this.#waiting.get(hex);
    if (waiting) this.start();
    return waiting?.outcome;
  }

  /** Resolves when there is room in the queue, not when the chunk is on disk. */
  async put(chunk: VerifiedChunk): Promise<void> {
    if (this.#waiting.has(chunk.address.hex)) return;
    let settle!: Waiting['settle'];
    const outcome = new Promise<WriteOutcome>((resolve) => {
      settle = resolve;
    });
    this.#lastPutAt = performance.now();
    this.#lastOutcome = outcome;
    this.#waiting.set(chunk.address.hex, { chunk, at: this.#lastPutAt, outcome, settle });
    this.#bytes += chunk.bytes.length;
    // A large chunk is one file, however long it waits.
    if (isLarge(chunk.bytes)) this.start();
    else this.#startSoon();
    while (this.#bytes > queueBytes && this.#writing) await this.#writing;
  }

  /** Writes all that waits, without delay. Calls `write` at least once, even if the queue is empty. */
  start(): void {
    this.#urgent = this.#waiting.size;
    this.#run();
  }

  /**
   * Resolves when the outcome of all chunks now in the queue is known. Does not wait for chunks that are put later, because
   * there may always be more. Does not shorten the delay.
   */
  async drained(): Promise<void> {
    await Promise.all([this.#lastOutcome, this.#writing]);
  }

  #run(): void {
    clearTimeout(this.#quietTimer);
    this.#quietTimer = undefined;
    this.#writing ??= this.#writeBatch().finally(() => {
      this.#writing = undefined;
      this.#startSoon();
    });
  }

  /** Writes when no chunk has arrived for a while, or when something does not allow that delay. */
  #startSoon(): void {
    const [oldest] = this.#waiting.values();
    if (!oldest || this.#writing) return;
    const left = Math.min(this.#lastPutAt + quietMs, oldest.at + mostDelayMs) - performance.now();
    if (this.#urgent > 0 || this.#bytes >= delayedBytes || left <= 0) this.#run();
    else {
      this.#quietTimer ??= setTimeout(() => {
        this.#quietTimer = undefined;
        this.#startSoon();
      }, left);
    }
  }

  async #writeBatch(): Promise<void> {
    // Let chunks that arrive at the same moment join the batch.
    await new Promise((resolve) => setTimeout(resolve));
    const batch: Waiting[] = [];
    let bytes = 0;
    for (const waiting of this.#waiting.values()) {
      const { length } = waiting.chunk.bytes;
      if (batch.length === sliceChunks || (batch.length > 0 && bytes + length > batchBytes)) break;
      batch.push(waiting);
      bytes += length;
    }
    const { stored, refusal } = await this.#write(
      batch.map(({ chunk }) => chunk),
      bytes,
    );
    for (const { chunk, settle } of batch) {
      this.#waiting.delete(chunk.address.hex);
      settle(stored.has(chunk) ? 'stored' : refusal);
    }
    this.#bytes -= bytes;
    this.#urgent = Math.max(0, this.#urgent - batch.length);
  }
}
