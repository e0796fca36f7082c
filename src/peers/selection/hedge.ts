export interface HedgedTry<T> {
  /**
   * @param signal aborts if another try was faster or the caller has aborted.
   * @param onFirstByte call this when the answer begins to arrive.
   * @param isHedge whether the try starts because another try is slow.
   */
  run(signal: AbortSignal, onFirstByte: () => void, isHedge: boolean): Promise<T>;
  /** In milliseconds: until the answer begins, and from then until it is complete. */
  hedgeDelayMs: { firstByte: number; rest: number };
}

export interface HedgeOptions {
  signal: AbortSignal;
  maxParallel: number;
  /** If it returns false, it is called again after the same delay. The try after a failed try is not checked. */
  mayHedge(): boolean;
}

/** The abort reason of a lost hedge. */
export const lostHedge = new DOMException('Another peer was faster.', 'AbortError');

/**
 * Runs tries in order until one succeeds ("The Tail at Scale", Dean and Barroso, 2013). The next try starts when one
 * fails, or as a hedge when the latest one exceeds its hedge delay. The first success aborts the others.
 * @throws the last try's error if all tries have failed; the signal's reason when aborted.
 */
export function hedge<T>(tries: readonly HedgedTry<T>[], options: HedgeOptions): Promise<T> {
  const { signal, maxParallel, mayHedge } = options;
  return new Promise((resolve, reject) => {
    const running = new Set<AbortController>();
    let next = 0;
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
        // Other requests may earn more budget.
        if (!mayHedge()) return watch(milliseconds);
        start(true);
      }, milliseconds);
    };
    const start = (isHedge: boolean) => {
      const { run, hedgeDelayMs } = tries[next++]!;
      const controller = new AbortController();
      running.add(controller);
      watch(hedgeDelayMs.firstByte);
      run(controller.signal, () => !isSettled && watch(hedgeDelayMs.rest), isHedge).then(
        (value) => {
          running.delete(controller);
          if (isSettled) return;
          settle(lostHedge);
          resolve(value);
        },
        (error) => {
          running.delete(controller);
          if (isSettled) return;
          if (next < tries.length) return start(false);
          if (running.size > 0) return;
          settle(undefined);
          reject(error);
        },
      );
    };

    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    start(false);
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
