import type { Clock } from './clock.ts';
import { nodeLimits } from './node-limits.ts';

/** Shared by all reads: how many more hedges may run, and the delay before one. */
export class HedgeState {
  /** How many more nodes may be asked for records that already arrive. */
  hedgesLeft = nodeLimits.hedgesAtOnce;
  #firstByteMs = 0;

  /** How long the first byte of a record is awaited: twice as long as it took lately. */
  get hedgeDelayMs(): number {
    const { firstByte, rest } = nodeLimits.hedgeMs;
    return Math.min(rest, Math.max(firstByte, 2 * this.#firstByteMs));
  }

  /** Notes how long the first byte of a record took. */
  firstByteAfter(milliseconds: number): void {
    this.#firstByteMs += (milliseconds - this.#firstByteMs) / 4;
  }
}

/**
 * Decides when a node is asked for a record: at once if no other is being asked, else after a delay, because a record can
 * have four megabytes. If a node sends the record slowly, the link may be slow. Then records from further nodes make it
 * slower, so there are only some at the same time.
 */
export class RecordGate {
  readonly #clock: Clock;
  readonly #hedgeState: HedgeState;
  #inProgress = 0;
  #arriving = 0;
  #nextAt = 0;
  #changed = Promise.resolve();
  #change: () => void = () => undefined;

  constructor(clock: Clock, hedgeState: HedgeState) {
    this.#clock = clock;
    this.#hedgeState = hedgeState;
    this.#arm();
  }

  /**
   * Waits for a turn, and runs `work` in it.
   * @param work calls `onBytes` when bytes of the record arrive.
   */
  async run<T>(signal: AbortSignal, work: (onBytes: (count: number) => void) => Promise<T>): Promise<T> {
    // Nothing may happen between the last look and the start.
    while (!this.#isFree()) await this.#wait(signal);
    const isHedge = this.#arriving > 0;
    if (isHedge) this.#hedgeState.hedgesLeft--;
    this.#inProgress++;
    this.#hold(this.#clock.now() + this.#hedgeState.hedgeDelayMs);
    const startedAt = this.#clock.now();
    let hedgeAt: number | undefined;
    const onBytes = (count: number) => {
      if (hedgeAt === undefined) {
        this.#arriving++;
        this.#hedgeState.firstByteAfter(this.#clock.now() - startedAt);
        hedgeAt = this.#clock.now() + nodeLimits.hedgeMs.rest;
      }
      hedgeAt += count / nodeLimits.hedgeBytesPerMs;
      this.#hold(hedgeAt);
    };
    try {
      return await work(onBytes);
    } finally {
      if (hedgeAt !== undefined) this.#arriving--;
      if (isHedge) this.#hedgeState.hedgesLeft++;
      this.#inProgress--;
      // The bytes of this node say nothing about the others.
      this.#nextAt = Math.min(this.#nextAt, this.#clock.now() + this.#hedgeState.hedgeDelayMs);
      this.#change();
      this.#arm();
    }
  }

  #isFree(): boolean {
    if (this.#inProgress === 0) return true;
    if (this.#clock.now() < this.#nextAt || this.#inProgress >= nodeLimits.recordsAtOnce) return false;
    if (this.#arriving === 0 || this.#hedgeState.hedgesLeft > 0) return true;
    // Another read gives a hedge back without notice.
    this.#hold(this.#clock.now() + this.#hedgeState.hedgeDelayMs);
    return false;
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const waitMs = this.#nextAt - this.#clock.now();
    const timer = new AbortController();
    const waits: Promise<unknown>[] = [this.#changed];
    if (waitMs > 0) waits.push(this.#clock.delay(waitMs, timer.signal).catch(() => undefined));
    await Promise.race(waits);
    timer.abort();
    signal.throwIfAborted();
  }

  /** Lets no further node be asked before this time. */
  #hold(untilMs: number): void {
    this.#nextAt = Math.max(this.#nextAt, untilMs);
  }

  #arm(): void {
    this.#changed = new Promise((resolve) => {
      this.#change = resolve;
    });
  }
}
