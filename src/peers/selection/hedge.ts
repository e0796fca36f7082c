/** One way to get something, and how long it may take before another is tried beside it. */
export interface HedgedTry<T> {
  /**
   * @param signal aborts when another try was faster, or the caller is gone.
   * @param onFirstByte to be called when the answer begins to arrive.
   */
  run(signal: AbortSignal, onFirstByte: () => void): Promise<T>;
  /** Patience in milliseconds: until the answer begins, and from there until it is complete. */
  hedgeDelayMs: { firstByte: number; rest: number };
}

export interface HedgeOptions {
  signal: AbortSignal;
  /** Most tries under way at once. */
  maxParallel: number;
  /**
   * Asked before a try is started beside a slow one, and again later where that was refused; what failed is always
   * followed by the next.
   */
  mayHedge(): boolean;
}

export interface Won<T> {
  value: T;
  /** Which try won. */
  index: number;
  /** Which tries were started beside slow ones. */
  hedged: readonly number[];
}

/** Why a try was aborted: another one was faster. */
export const lostHedge = new DOMException('Another peer was faster.', 'AbortError');

/**
 * Runs tries in order until one succeeds ("The Tail at Scale", Dean and Barroso, 2013): the next is started when
 * one fails, or beside one that is slower than it usually is. The first success wins, and the others are aborted.
 *
 * @throws the last try's error when all have failed; the signal's reason when aborted.
 */
export function hedge<T>(tries: readonly HedgedTry<T>[], options: HedgeOptions): Promise<Won<T>> {
  const { signal, maxParallel, mayHedge } = options;
  return new Promise((resolve, reject) => {
    const running = new Set<AbortController>();
    let next = 0;
    const hedged: number[] = [];
    let isSettled = false;
    let timer: ReturnType<typeof setTimeout> | undefined;

    const settle = (reason: unknown) => {
      isSettled = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      for (const controller of running) controller.abort(reason);
    };
    const onAbort = () => {
      settle(signal.reason);
      reject(signal.reason);
    };
    const watch = (milliseconds: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (next >= tries.length || running.size >= maxParallel) return;
        // Other requests earn more: it is as slow then.
        if (!mayHedge()) return watch(milliseconds);
        hedged.push(next);
        start();
      }, milliseconds);
    };
    const start = () => {
      const index = next++;
      const { run, hedgeDelayMs } = tries[index]!;
      const controller = new AbortController();
      running.add(controller);
      watch(hedgeDelayMs.firstByte);
      run(controller.signal, () => !isSettled && watch(hedgeDelayMs.rest)).then(
        (value) => {
          running.delete(controller);
          if (isSettled) return;
          settle(lostHedge);
          resolve({ value, index, hedged });
        },
        (error) => {
          running.delete(controller);
          if (isSettled) return;
          if (next < tries.length) return start();
          if (running.size > 0) return;
          settle(undefined);
          reject(error);
        },
      );
    };

    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    start();
  });
}

/** Keeps hedges to a share of all requests, so that a slow link is not loaded with everything twice. */
export class HedgeBudget {
  readonly #share: number;
  readonly #burst: number;
  #left: number;

  /**
   * @param share hedges for each request, on average.
   * @param burst hedges that may be saved up.
   */
  constructor(share: number, burst: number) {
    this.#share = share;
    this.#burst = burst;
    this.#left = burst;
  }

  earn(): void {
    this.#left = Math.min(this.#left + this.#share, this.#burst);
  }

  /** @returns whether there was one left. */
  spend(): boolean {
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
