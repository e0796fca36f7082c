import { useCallback, useEffect, useState } from 'preact/hooks';
import { isAbort } from '../errors.ts';
import { asGatewayApiError, type GatewayApiError } from './gateway-api.ts';

/** Data from the gateway. After a failure, the last value stays, because old figures are better than none. */
export interface Resource<T> {
  value: T | null;
  error: GatewayApiError | null;
  refresh(): void;
}

/**
 * Loads data when `active` becomes true, and repeatedly while it stays true.
 * @param load must be stable between renders, such as a function of `gateway`.
 * @param everyMs the pause between an answer and the next request, in milliseconds. Without it, there is one request.
 */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  active: boolean,
  everyMs?: number,
): Resource<T> {
  const [value, setValue] = useState<T | null>(null);
  const [error, setError] = useState<GatewayApiError | null>(null);
  /** A new round starts a new request. */
  const [round, setRound] = useState(0);

  useEffect(() => {
    if (!active) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      try {
        setValue(await load(stop.signal));
        setError(null);
      } catch (caught) {
        if (isAbort(caught, stop.signal)) return;
        setError(asGatewayApiError(caught));
      }
      if (everyMs !== undefined && !stop.signal.aborted) timer = setTimeout(ask, everyMs);
    };
    ask();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [load, active, everyMs, round]);

  return { value, error, refresh: useCallback(() => setRound((last) => last + 1), []) };
}
