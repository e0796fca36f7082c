import type { ErrorCode } from '../../errors.ts';
import type { Stats } from '../../stats/stats.ts';
import type { Trace } from '../../stats/trace.ts';
import type { Transfer } from '../../stats/transfers.ts';
import type { BodyObserver } from './representation.ts';

export interface Observation {
  /**
   * Also aborts when the client does not want the rest of the body. Browsers do not abort the request's signal then.
   */
  signal: AbortSignal;
  observer: BodyObserver;
  transfer: Transfer;
}

/** Counts a request and its response. Calls `onEnd` once, when all work for the request has ended. */
export function observe(request: Request, stats: Stats, trace: Trace, onEnd: () => void): Observation {
  stats.requestStarted();
  const transfer = stats.transfers.start(trace);
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
    transfer.end(failure, signal.aborted);
    stats.requestEnded(failure, isWhole ? { firstByteMs: firstByteMs!, totalMs } : undefined);
    onEnd();
  };
  // The body of an abandoned request neither ends nor is cancelled, so the abort ends the observation.
  const onAbort = () => ended();
  signal.addEventListener('abort', onAbort);
  const sent = (bytes: number) => {
    firstByteMs ??= performance.now() - startedAt;
    transfer.sent += bytes;
    stats.served(bytes);
  };
  return { signal, transfer, observer: { sent, ended, left: (reason) => controller.abort(reason) } };
}
