export interface HedgedTry<T> {
  /**
   * @param signal aborts if another try was faster or the caller has aborted.
   * @param onFirstByte call this when the answer begins to arrive.
   * @param isHedge whether the try starts because another try is slow.
   * @param onBusy call this when the peer cannot answer yet, while the try goes on.
   */
  run(
    signal: AbortSignal,
    onFirstByte: () => void,
    isHedge: boolean,
    onBusy: (isOverloaded: boolean) => void,
  ): Promise<T>;
  /** In milliseconds: until the answer begins, and from then until it is complete. */
  hedgeDelayMs: { firstByte: number; rest: number };
  /** How long the peer takes for the largest chunk, in milliseconds. Undefined if that was not measured. */
  largestChunkMs?: () => number | undefined;
  /** Whether the try looks the record up in a network. A second lookup at the same time is wasted. */
  looksUp?: () => boolean;
}

export interface HedgeOptions {
  signal: AbortSignal;
  maxParallel: number;
  /** Time during which only one try looks the record up in a network, in milliseconds. */
  lookupMs?: number;
  /** Age of all running tries, in milliseconds, from which a peer that is measured as faster needs no `mayHedge`. */
  lateMs?: number;
  /**
   * If it returns false, it is called again after a while. The tries after a failed try, after a lookup that takes
   * longer than `lookupMs`, and beside tries that are much slower than the next peer are not checked.
   */
  mayHedge(): boolean;
}

/** The abort reason of a lost hedge. */
export const lostHedge = new DOMException('Another peer was faster.', 'AbortError');

interface RunningTry<T> {
  attempt: HedgedTry<T>;
  startedAt: number;
  hasBegun: boolean;
  isBusy: boolean;
  isOverloaded: boolean;
}

/**
 * Runs tries in order until one succeeds ("The Tail at Scale", Dean and Barroso, 2013). The next try starts when one
 * fails or is busy, or as a hedge when the latest one exceeds its hedge delay. While a try looks the record up in a
 * network, other tries that would do the same do not start until `lookupMs` is over. The first success aborts the
 * others.
 * @throws the last try's error if all tries have failed; the signal's reason when aborted.
 */
export function hedge<T>(tries: readonly HedgedTry<T>[], options: HedgeOptions): Promise<T> {
  const { signal, maxParallel, lookupMs = 0, lateMs = Number.POSITIVE_INFINITY, mayHedge } = options;
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const running = new Map<AbortController, RunningTry<T>>();
    const waiting = [...tries];
    let isSettled = false;
    let timer: ReturnType<typeof setTimeout> | undefined;

    const settle = (reason: unknown) => {
      isSettled = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      for (const controller of running.keys()) controller.abort(reason);
    };
    const onAbort = () => {
      settle(signal.reason);
      reject(signal.reason);
    };
    const lookups = () =>
      [...running.values()].filter(
        ({ attempt, hasBegun, isOverloaded }) => !hasBegun && !isOverloaded && attempt.looksUp?.(),
      );
    /** Returns the index of the next try that does not repeat a lookup; -1 if there is none now. */
    const nextIndex = () => {
      const mayRepeat = lookups().length === 0 || performance.now() - startedAt >= lookupMs;
      return mayRepeat ? 0 : waiting.findIndex(({ looksUp }) => !looksUp?.());
    };
    const start = (index: number, isHedge: boolean) => run(waiting.splice(index, 1)[0]!, isHedge);
    const startNext = () => {
      const index = nextIndex();
      if (index >= 0) start(index, false);
      else watch(lookupLeftMs());
    };
    /** Whether all lookups have had their time. The next try is then no speculation and needs no budget. */
    const isOverdue = () => {
      // The first try starts a little after the time from which the timer counts.
      const before = performance.now() - lookupMs + 10;
      const pending = lookups();
      return pending.length > 0 && pending.every((lookup) => lookup.startedAt <= before);
    };
    /**
     * Whether the next try would take much less time than all running tries already took. Requests that wait for a
     * slow peer earn no budget, so without this rule all of them could wait for it while a fast peer is idle.
     */
    const isMuchFaster = (next: HedgedTry<T>) => {
      const largestChunkMs = next.largestChunkMs?.();
      if (largestChunkMs === undefined) return false;
      const before = performance.now() - Math.max(lateMs, 2 * largestChunkMs);
      return [...running.values()].every(({ startedAt }) => startedAt <= before);
    };
    const lookupLeftMs = () => Math.max(startedAt + lookupMs - performance.now(), 1);
    const watch = (milliseconds: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (waiting.length === 0 || running.size >= maxParallel) return;
        const index = nextIndex();
        if (index < 0) return watch(lookupLeftMs());
        // Other requests may earn more budget.
        if (!isOverdue() && !isMuchFaster(waiting[index]!) && !mayHedge())
          return watch(Math.min(Math.max(milliseconds, 100), 1_000));
        start(index, true);
      }, milliseconds);
    };
    const run = (attempt: HedgedTry<T>, isHedge: boolean) => {
      const controller = new AbortController();
      const startedAt = performance.now();
      const state = { attempt, startedAt, hasBegun: false, isBusy: false, isOverloaded: false };
      running.set(controller, state);
      watch(attempt.hedgeDelayMs.firstByte);
      const onFirstByte = () => {
        state.hasBegun = true;
        if (!isSettled) watch(attempt.hedgeDelayMs.rest);
      };
      const onBusy = (isOverloaded: boolean) => {
        // The try may have ended before its answer “busy” is reported.
        if (isSettled || !running.has(controller)) return;
        const isNews = !state.isBusy || (isOverloaded && !state.isOverloaded);
        state.isBusy = true;
        state.isOverloaded = isOverloaded;
        if (isNews && waiting.length > 0) startNext();
      };
      attempt.run(controller.signal, onFirstByte, isHedge, onBusy).then(
        (value) => {
          running.delete(controller);
          if (isSettled) return;
          settle(lostHedge);
          resolve(value);
        },
        (error) => {
          running.delete(controller);
          if (isSettled) return;
          if (waiting.length > 0) return startNext();
          if (running.size > 0) return;
          settle(undefined);
          reject(error);
        },
      );
    };

    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    start(0, false);
  });
}

/** Limits hedges to a share of all requests, so that a slow link does not carry every chunk twice. */
export class HedgeBudget {
  readonly #share: number;
  readonly #burst: number;
  #left: number;

  /** @param share hedges per request, on average. @param burst most unused hedges that accumulate. */
  constructor(share: number, burst: number) {
    this.#share = share;
    this.#burst = burst;
    this.#left = burst;
  }

  earn(): void {
    this.#left = Math.min(this.#left + this.#share, this.#burst);
  }

  spend(): boolean {
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
