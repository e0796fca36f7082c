import type { ErrorCode } from '../../errors.ts';
import type { Stats } from '../../stats/stats.ts';
import type { BodyObserver } from './representation.ts';

export interface Observation {
  /** Aborts when the request does, and when nobody wants the rest of its body: browsers do not abort the request's own then. */
  signal: AbortSignal;
  observer: BodyObserver;
}

/**
 * Counts a request and its answer.
 * @param onEnd called once, when nothing more will be done for the request.
 */
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
    // A redirect, or what was left before it came, says nothing of how fast bytes come.
    const isWhole = !failure && !signal.aborted && firstByteMs !== undefined;
    stats.requestEnded(failure, isWhole ? { firstByteMs: firstByteMs!, totalMs } : undefined);
    onEnd();
  };
  // A body that nobody reads or cancels any more tells nothing by itself.
  const onAbort = () => ended();
  signal.addEventListener('abort', onAbort);
  const sent = (bytes: number) => {
    firstByteMs ??= performance.now() - startedAt;
    stats.served(bytes);
  };
  return { signal, observer: { sent, ended, left: (reason) => controller.abort(reason) } };
}
