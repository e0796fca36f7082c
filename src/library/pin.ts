import type { Address } from '../address.ts';
import type { PinOwner } from '../chunks/store.ts';
import type { Inventory } from '../content/inventory.ts';
import { Backoff } from '../util/backoff.ts';
import type { PinState, Tally } from './pin-state.ts';

/** The stored record of a pin. All other state is derived from the stored chunks. */
export interface PinRecord extends PinOwner {
  /** Milliseconds since 1970. */
  since: number;
  isPaused: boolean;
  /** Whether a check found missing or damaged chunks that are not fetched again yet. */
  isDamaged: boolean;
  /** Position in the inventory that a running check has reached. */
  verified?: number | undefined;
  /** Whether the pin came from a file, so that its references may include more than its inventory. */
  isImported?: boolean;
  /** Whether all chunks were once referenced and stored. Chunks that are missing since then were lost. */
  wasComplete?: boolean;
}

/** Delays before a failed pin is retried, in milliseconds. */
const retry = { firstMs: 5_000, maxMs: 300_000 };
/** Period over which the rate is measured, in milliseconds. */
const rateWindowMs = 5_000;

/** A pin with its progress in this worker. */
export class Pin {
  inventory: Inventory | undefined;
  /** Before the inventory is known: the tally of the chunks found so far. */
  tally: Tally = { chunks: { stored: 0, total: 0 }, bytes: { stored: 0, total: 0 } };
  running: 'fetching' | 'verifying' | undefined;
  problem: PinState['problem'] = null;
  /** When a failed pin may be retried, in milliseconds since 1970. */
  retryAt = 0;
  /** The running work, or the last one. */
  work: Promise<void> | undefined;
  /** Aborts the work. */
  controller = new AbortController();
  readonly #backoff = new Backoff(retry);
  #arrivals: { at: number; bytes: number }[] = [];

  constructor(
    readonly address: Address,
    /** As stored in the database. */
    public record: PinRecord,
  ) {}

  get isComplete(): boolean {
    return this.inventory !== undefined && this.tally.chunks.stored === this.tally.chunks.total;
  }

  /**
   * Whether the pin needs work that may be done now. A pin whose chunks are all stored may still need its references.
   */
  get isWaiting(): boolean {
    const { isPaused, isRemoved, verified, wasComplete } = this.record;
    return !isPaused && !isRemoved && (!this.isComplete || !wasComplete || verified !== undefined);
  }

  /** Call this when a new chunk is on disk. @param wasFetched whether it came from a peer just now. */
  stored(size: number, expected: number, wasFetched: boolean): void {
    this.tally.chunks.stored++;
    this.tally.bytes.stored += size;
    this.tally.bytes.total += size - expected;
    if (wasFetched) this.#arrivals.push({ at: Date.now(), bytes: size });
  }

  /** @param isHopeless whether waiting alone will not help. */
  failed(problem: NonNullable<PinState['problem']>, isHopeless: boolean): void {
    this.problem = problem;
    this.retryAt = isHopeless ? Number.POSITIVE_INFINITY : Date.now() + this.#backoff.next();
  }

  /** Call this after a success or a change: the next failure counts as the first. */
  resetRetries(): void {
    this.retryAt = 0;
    this.#backoff.reset();
  }

  /** Stops the work on this pin. It can continue later. */
  pause(): void {
    this.controller.abort(new DOMException('The pin was paused.', 'AbortError'));
  }

  /** Stops the work on this pin for good, because it is being removed. */
  cancel(): void {
    this.controller.abort(new DOMException('The pin was removed.', 'AbortError'));
  }

  state(): PinState {
    const bytesPerSecond = this.running === 'fetching' ? this.#rate() : null;
    const { stored, total } = this.tally.bytes;
    const { isDamaged, wasComplete } = this.record;
    return {
      state: this.isComplete ? 'complete' : isDamaged || wasComplete ? 'damaged' : 'partial',
      activity: this.#activity(),
      chunks: { ...this.tally.chunks },
      bytes: { ...this.tally.bytes },
      bytesPerSecond,
      secondsLeft: bytesPerSecond ? Math.ceil(Math.max(total - stored, 0) / bytesPerSecond) : null,
      problem: this.problem,
    };
  }

  #activity(): PinState['activity'] {
    if (this.record.isPaused) return 'paused';
    return this.running ?? (this.isWaiting ? 'waiting' : 'idle');
  }

  #rate(): number | null {
    const now = Date.now();
    this.#arrivals = this.#arrivals.filter(({ at }) => at > now - rateWindowMs);
    const [first] = this.#arrivals;
    if (!first) return null;
    const bytes = this.#arrivals.reduce((sum, arrival) => sum + arrival.bytes, 0);
    return Math.round((1000 * bytes) / Math.max(now - first.at, 500));
  }
}
