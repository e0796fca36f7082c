import { useEffect, useState } from 'preact/hooks';
import { isAbort } from '../../errors.ts';
import type { StatsSnapshot } from '../../stats/stats.ts';
import { asGatewayApiError, type GatewayApiError, gateway, onWorkerMessage } from '../gateway-api.ts';

/** The worker sends changes for 10 s after each request. */
const askEveryMs = 5_000;

export interface LiveStats {
  stats: StatsSnapshot | null;
  error: GatewayApiError | null;
}

/** The worker's current counters while `active`. */
export function useStats(active: boolean): LiveStats {
  const [stats, setStats] = useState<StatsSnapshot | null>(null);
  const [error, setError] = useState<GatewayApiError | null>(null);

  useEffect(() => {
    if (!active) return;
    const stop = new AbortController();
    const take = (snapshot: StatsSnapshot) => {
      setStats(snapshot);
      setError(null);
    };
    const ask = async () => {
      try {
        take(await gateway.watchStats(stop.signal));
      } catch (caught) {
        if (!isAbort(caught, stop.signal)) setError(asGatewayApiError(caught));
      }
    };
    const stopListening = onWorkerMessage((message) => {
      if (message.type === 'stats') take(message.stats);
    });
    ask();
    const timer = setInterval(ask, askEveryMs);
    return () => {
      stop.abort();
      stopListening();
      clearInterval(timer);
    };
  }, [active]);

  return { stats, error };
}
