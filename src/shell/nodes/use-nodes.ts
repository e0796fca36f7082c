import { useEffect, useState } from 'preact/hooks';
import { type GatewayConfig, gateway, onWorkerMessage } from '../gateway-api.ts';

/** Connects this page to nodes of the network while the user allows it. Loads the code for that only then. */
export function useNodes(isRunning: boolean, config: GatewayConfig | null): void {
  const [known, setKnown] = useState(config);
  useEffect(() => setKnown(config), [config]);
  useEffect(() => {
    const stop = new AbortController();
    // A hidden page does not follow the configuration, but must end its connections too.
    const stopListening = onWorkerMessage(({ type }) => {
      if (type === 'settings') gateway.config(stop.signal).then(setKnown, () => undefined);
    });
    return () => {
      stopListening();
      stop.abort();
    };
  }, []);
  const network = isRunning && known?.useNodes ? JSON.stringify(known.nodes) : undefined;
  useEffect(() => {
    if (network === undefined) return;
    const stop = new AbortController();
    import('./offer-nodes.ts').then(
      ({ offerNodes }) => offerNodes(JSON.parse(network), stop.signal),
      (error) => console.warn('antway: this page cannot connect to nodes of the network', error),
    );
    return () => stop.abort();
  }, [network]);
}
