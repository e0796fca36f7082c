import { useEffect, useRef, useState } from 'preact/hooks';
import { isAbort } from '../../errors.ts';
import type { StatsSnapshot } from '../../stats/stats.ts';
import { asGatewayApiError, type GatewayApiError, gateway, onWorkerMessage } from '../gateway-api.ts';
import { addSample, noThroughput, type Throughput } from './throughput.ts';

/** The worker sends changes for 10 s after each request. */
const askEveryMs = 5_000;
const sampleEveryMs = 1_000;

export interface LiveStats {
  stats: StatsSnapshot | null;
  throughput: Throughput;
  error: GatewayApiError | null;
}

/** The worker's current counters while `active`. Earlier samples are forgotten after a pause. */
export function useStats(active: boolean): LiveStats {
  const [stats, setStats] = useState<StatsSnapshot | null>(null);
  const [error, setError] = useState<GatewayApiError | null>(null);
  const [throughput, setThroughput] = useState<Throughput>(noThroughput);
  const newest = useRef<StatsSnapshot | null>(null);

  useEffect(() => {
    if (!active) return;
    const stop = new AbortController();
    const take = (snapshot: StatsSnapshot) => {
      newest.current = snapshot;
      setStats(snapshot);
      // Start the first rate with the first figures, not with the first timer tick after them.
      setThroughput((before) => (before.last ? before : addSample(before, snapshot, performance.now())));
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
    const sample = () => {
      const snapshot = newest.current;
      if (snapshot) setThroughput((before) => addSample(before, snapshot, performance.now()));
    };
    ask();
    const timers = [setInterval(ask, askEveryMs), setInterval(sample, sampleEveryMs)];
    return () => {
      stop.abort();
      stopListening();
      timers.forEach(clearInterval);
      newest.current = null;
      setThroughput(noThroughput);
    };
  }, [active]);

  return { stats, throughput, error };
}
