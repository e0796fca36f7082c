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
  outcome: Promise<WriteOutcome>;
  settle(outcome: WriteOutcome): void;
}

/** Chunks that are not written yet. Readers find them here. One batch is written at a time. */
export class WriteQueue {
  readonly #waiting = new Map<string, Waiting>();
  #bytes = 0;
  #writing: Promise<void> | undefined;
  /** Whether the queue has to become empty without waiting for a quiet moment. */
  #isUrgent = false;
  #quietTimer: ReturnType<typeof setTimeout> | undefined;
  #lastPutAt = 0;
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
    this.#waiting.set(chunk.address.hex, { chunk, outcome, settle });
    this.#bytes += chunk.bytes.length;
    this.#lastPutAt = performance.now();
    // A large chunk is one file, however long it waits.
    if (isLarge(chunk.bytes)) this.start();
    else this.#startSoon();
    while (this.#bytes > queueBytes && this.#writing) await this.#writing;
  }

  /** Writes all that waits, without delay. Calls `write` at least once, even if the queue is empty. */
  start(): void {
    this.#isUrgent = true;
    this.#run();
  }

  /** Resolves when the outcome of all chunks now in the queue is known. Later chunks may never end. Does not hurry. */
  async drained(): Promise<void> {
    const outcomes = Array.from(this.#waiting.values(), ({ outcome }) => outcome);
    await Promise.all([...outcomes, this.#writing]);
  }

  #run(): void {
    clearTimeout(this.#quietTimer);
    this.#quietTimer = undefined;
    this.#writing ??= this.#writeBatch().finally(() => {
      this.#writing = undefined;
      if (this.#waiting.size === 0) this.#isUrgent = false;
      else this.#startSoon();
    });
  }

  /** Writes when no chunk has arrived for a while, or when something does not allow that delay. */
  #startSoon(): void {
    if (this.#writing || (this.#quietTimer && this.#bytes < delayedBytes)) return;
    const since = performance.now();
    const runWhenQuiet = (): void => {
      const now = performance.now();
      const left = Math.min(this.#lastPutAt + quietMs, since + mostDelayMs) - now;
      if (this.#isUrgent || this.#bytes >= delayedBytes || left <= 0) this.#run();
      else this.#quietTimer = setTimeout(runWhenQuiet, left);
    };
    runWhenQuiet();
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
  }
}
