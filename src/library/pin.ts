import type { Address } from '../address.ts';
import type { PinOwner } from '../chunks/store.ts';
import type { Inventory } from '../content/inventory.ts';
import { Backoff } from '../util/backoff.ts';
import type { PinProblem, PinState, PinTally } from './pin-state.ts';

/** All other state is derived from the stored chunks. */
export interface PinRecord extends PinOwner {
  /** Milliseconds since 1970. */
  since: number;
  /**
   * `partial` until all chunks were once referenced and stored, then `complete`: a chunk that is missing since then was
   * lost. `damaged`: a check found missing or damaged chunks that are not fetched again yet.
   */
  completion: 'partial' | 'complete' | 'damaged';
  /** Position in the inventory that a running check has reached. */
  verified?: number | undefined;
  /** Whether its references may include more than its inventory. */
  isImported?: boolean;
}

/** This worker's work on a pin. */
type Activity =
  /** Milliseconds since 1970; infinite if waiting alone will not help. */
  { name: 'waiting'; retryAt: number } | { name: Phase; controller: AbortController; ended: Promise<void> };

type Phase = 'fetching' | 'verifying';

/** In milliseconds. */
const retry = { firstMs: 5_000, maxMs: 300_000 };
/** Period over which the rate is measured. */
const rateWindowMs = 5_000;

export class Pin {
  inventory: Inventory | undefined;
  /** Before the inventory is known: the tally of the chunks found so far. */
  tally: PinTally = { chunks: { stored: 0, total: 0 }, bytes: { stored: 0, total: 0 } };
  /** The registry's number of removals when the tally was made. */
  countedAt = 0;
  /** Null after a success or a change. */
  problem: PinProblem | null = null;
  #activity: Activity = { name: 'waiting', retryAt: 0 };
  readonly #backoff = new Backoff(retry);
  #arrivals: { at: number; bytes: number }[] = [];

  constructor(
    readonly address: Address,
    public record: PinRecord,
  ) {}

  get isComplete(): boolean {
    return this.inventory !== undefined && this.tally.chunks.stored === this.tally.chunks.total;
  }

  /** A pin whose chunks are all stored may still need its references. */
  get needsWork(): boolean {
    const { status, completion, verified, isImported = false } = this.record;
    const isDone = this.isComplete && completion === 'complete' && verified === undefined && !isImported;
    return status === 'active' && !isDone;
  }

  /** In milliseconds since 1970; infinite if the pin needs no work or cannot continue. */
  get dueAt(): number {
    const activity = this.#activity;
    return activity.name === 'waiting' && this.needsWork ? activity.retryAt : Number.POSITIVE_INFINITY;
  }

  get isRunning(): boolean {
    return this.#activity.name !== 'waiting';
  }

  /** @param work must not reject. Its signal aborts when the pin is stopped. */
  async run(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    const running: Activity = { name: 'fetching', controller, ended: Promise.resolve() };
    this.#activity = running;
    running.ended = work(controller.signal);
    await running.ended;
    if (this.#activity === running) this.#activity = { name: 'waiting', retryAt: 0 };
  }

  enter(phase: Phase): void {
    if (this.#activity.name !== 'waiting') this.#activity.name = phase;
  }

  /** Resolves when the work has ended. It can continue later. */
  async stop(reason: string): Promise<void> {
    if (this.#activity.name === 'waiting') return;
    this.#activity.controller.abort(new DOMException(reason, 'AbortError'));
    await this.#activity.ended;
  }

  /** Call this when a new chunk is on disk. @param wasFetched whether it came from a peer just now. */
  stored(size: number, expected: number, wasFetched: boolean): void {
    this.tally.chunks.stored++;
    this.tally.bytes.stored += size;
    this.tally.bytes.total += size - expected;
    if (wasFetched) this.#arrivals.push({ at: Date.now(), bytes: size });
  }

  fail(problem: PinProblem): void {
    this.problem = problem;
    const retryAt = problem.isFinal ? Number.POSITIVE_INFINITY : Date.now() + this.#backoff.next();
    this.#activity = { name: 'waiting', retryAt };
  }

  /** The next failure counts as the first. */
  succeeded(): void {
    this.problem = null;
    this.#backoff.reset();
  }

  /** The pin continues at once. The next failure counts as the first. */
  resetRetries(): void {
    if (this.#activity.name === 'waiting') this.#activity.retryAt = 0;
    this.#backoff.reset();
  }

  state(): PinState {
    const bytesPerSecond = this.#activity.name === 'fetching' ? this.#rate() : null;
    const { stored, total } = this.tally.bytes;
    return {
      state: this.isComplete ? 'complete' : this.record.completion === 'partial' ? 'partial' : 'damaged',
      activity: this.#visibleActivity(),
      chunks: { ...this.tally.chunks },
      bytes: { ...this.tally.bytes },
      bytesPerSecond,
      secondsLeft: bytesPerSecond ? Math.ceil(Math.max(total - stored, 0) / bytesPerSecond) : null,
      problem: this.problem,
    };
  }

  #visibleActivity(): PinState['activity'] {
    if (this.record.status === 'paused') return 'paused';
    const { name } = this.#activity;
    return name === 'waiting' && !this.needsWork ? 'idle' : name;
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
