import type { Address } from '../address.ts';
import type { PinOwner } from '../chunks/store.ts';
import type { Inventory } from '../content/inventory.ts';
import { Backoff } from '../util/backoff.ts';
import type { PinState, Tally } from './pin-state.ts';

/** What of a pin is on disk. Everything else follows from what is stored. */
export interface PinRecord extends PinOwner {
  /** Milliseconds since 1970. */
  since: number;
  isPaused: boolean;
  /** Whether a check found chunks missing or damaged that are not back yet. */
  isDamaged: boolean;
  /** Position in the inventory up to which a check under way has come. */
  verified?: number | undefined;
  /** Whether what it holds may be more than its inventory: it came from a file. */
  isImported?: boolean;
  /** Whether all of it was held and stored once: what is missing since then was lost. */
  wasComplete?: boolean;
}

/** After how long what failed is tried again. */
const retry = { firstMs: 5_000, maxMs: 300_000 };
/** How far back a rate looks, in milliseconds. */
const rateWindowMs = 5_000;

/** One pin as this worker works on it. */
export class Pin {
  inventory: Inventory | undefined;
  /** Until the inventory is known: of what was found. */
  tally: Tally = { chunks: { stored: 0, total: 0 }, bytes: { stored: 0, total: 0 } };
  running: 'fetching' | 'verifying' | undefined;
  problem: PinState['problem'] = null;
  /** When what failed may be tried again. */
  retryAt = 0;
  /** What is under way, or was last. */
  work: Promise<void> | undefined;
  /** Stops it. */
  controller = new AbortController();
  readonly #backoff = new Backoff(retry);
  #arrivals: { at: number; bytes: number }[] = [];

  constructor(
    readonly address: Address,
    /** As it is in the database. */
    public record: PinRecord,
  ) {}

  get isComplete(): boolean {
    return this.inventory !== undefined && this.tally.chunks.stored === this.tally.chunks.total;
  }

  /** Whether there is something to do that may be done now. What is all stored already has to be held. */
  get isWaiting(): boolean {
    const { isPaused, isRemoved, verified, wasComplete } = this.record;
    return !isPaused && !isRemoved && (!this.isComplete || !wasComplete || verified !== undefined);
  }

  /** A chunk is on disk that was not there. @param wasFetched whether it came from a peer just now. */
  stored(size: number, expected: number, wasFetched: boolean): void {
    this.tally.chunks.stored++;
    this.tally.bytes.stored += size;
    this.tally.bytes.total += size - expected;
    if (wasFetched) this.#arrivals.push({ at: Date.now(), bytes: size });
  }

  /** @param isHopeless whether time alone will not help. */
  failed(problem: NonNullable<PinState['problem']>, isHopeless: boolean): void {
    this.problem = problem;
    this.retryAt = isHopeless ? Number.POSITIVE_INFINITY : Date.now() + this.#backoff.next();
  }

  /** Something was done, or has changed: the next try is a first one. */
  resetRetries(): void {
    this.retryAt = 0;
    this.#backoff.reset();
  }

  /** Stops the work on it, which goes on later. */
  pause(): void {
    this.controller.abort(new DOMException('The pin was paused.', 'AbortError'));
  }

  /** Stops the work on it for ever: it is being removed. */
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
