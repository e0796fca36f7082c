import { useCallback, useEffect, useState } from 'preact/hooks';
import { isAbort } from '../errors.ts';
import { asGatewayApiError, type GatewayApiError } from './gateway-api.ts';

/** Something that the gateway tells. A failure keeps the last value: old figures beat none. */
export interface Resource<T> {
  value: T | null;
  error: GatewayApiError | null;
  /** Asks again now. */
  refresh(): void;
}

/**
 * Asks for something when `active` becomes true, and then again and again while it stays so.
 *
 * @param load stable between renders: a function of `gateway`.
 * @param everyMs the pause between an answer and the next question; without it, one question.
 */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  active: boolean,
  everyMs?: number,
): Resource<T> {
  const [value, setValue] = useState<T | null>(null);
  const [error, setError] = useState<GatewayApiError | null>(null);
  /** A new round is a new question. */
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
