import type { ErrorCode } from '../../errors.ts';
import type { Stats } from '../../stats/stats.ts';
import type { BodyObserver } from './representation.ts';

export interface Observation {
  /**
   * Also aborts when the client does not want the rest of the body. Browsers do not abort the request's signal then.
   */
  signal: AbortSignal;
  observer: BodyObserver;
}

/** Counts a request and its response. Calls `onEnd` once, when all work for the request has ended. */
export function observe(request: Request, stats: Stats, onEnd: () => void): Observation {
  stats.requestStarted();
  const controller = new AbortController();
  const { signal } = controller;
  const onRequestAbort = () => controller.abort(request.signal.reason);
  if (request.signal.aborted) onRequestAbort();
  else request.signal.addEventListener('abort', onRequestAbort, { once: true });
  const startedAt = performance.now();
  let firstByteMs: number | undefined;
  let hasEnded = false;
  const ended = (failure?: ErrorCode) => {
    if (hasEnded) return;
    hasEnded = true;
    signal.removeEventListener('abort', onAbort);
    const totalMs = performance.now() - startedAt;
    // Only complete bodies count for the timings. A redirect or an aborted request has no meaningful transfer time.
    const isWhole = !failure && !signal.aborted && firstByteMs !== undefined;
    stats.requestEnded(failure, isWhole ? { firstByteMs: firstByteMs!, totalMs } : undefined);
    onEnd();
  };
  // The body of an abandoned request neither ends nor is cancelled, so the abort ends the observation.
  const onAbort = () => ended();
  signal.addEventListener('abort', onAbort);
  const sent = (bytes: number) => {
    firstByteMs ??= performance.now() - startedAt;
    stats.served(bytes);
  };
  return { signal, observer: { sent, ended, left: (reason) => controller.abort(reason) } };
}
