import type { Address } from '../address.ts';
import { sliceChunks } from './bookkeeping.ts';
import type { WriteOutcome } from './store.ts';
import type { VerifiedChunk } from './verified-chunk.ts';

/** Bytes that may wait in the queue before `put` makes its caller wait. */
const queueBytes = 32 * 1024 * 1024;
/** Limit per transaction, besides `sliceChunks`. The browser copies all buffers of a transaction in one go. */
const batchBytes = 8 * 1024 * 1024;

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

  /** Undefined if the chunk is not in the queue. */
  outcome({ hex }: Address): Promise<WriteOutcome> | undefined {
    return this.#waiting.get(hex)?.outcome;
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
    this.start();
    while (this.#bytes > queueBytes && this.#writing) await this.#writing;
  }

  /** Starts writing. Calls `write` at least once, even if the queue is empty. */
  start(): void {
    this.#writing ??= this.#writeBatch().finally(() => {
      this.#writing = undefined;
      if (this.#waiting.size > 0) this.start();
    });
  }

  /** Resolves when the outcome of all chunks now in the queue is known. Later chunks may never end. */
  async flush(): Promise<void> {
    const outcomes = Array.from(this.#waiting.values(), ({ outcome }) => outcome);
    await Promise.all([...outcomes, this.#writing]);
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
