import { delay } from '../util/delay.ts';

/** Time for everything that waits for nodes. A simulation has a clock of its own. */
export interface Clock {
  /** Milliseconds since any fixed moment. */
  now(): number;
  /** Resolves after a time. @throws the signal's reason when aborted. */
  delay(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = { now: () => performance.now(), delay };

/**
 * Runs `work` with a signal that also aborts after a time.
 * @throws the error of `work`; `timeout()` if the time is over; the caller's reason when aborted.
 */
export async function withTimeout<T>(
  clock: Clock,
  milliseconds: number,
  signal: AbortSignal | undefined,
  timeout: () => Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const timer = new AbortController();
  const onAbort = () => controller.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  clock.delay(milliseconds, timer.signal).then(
    () => controller.abort(timeout()),
    () => undefined,
  );
  try {
    return await work(controller.signal);
  } catch (error) {
    if (controller.signal.aborted) throw controller.signal.reason;
    throw error;
  } finally {
    timer.abort();
    signal?.removeEventListener('abort', onAbort);
  }
}
