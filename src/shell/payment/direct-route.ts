import { systemClock } from '../../nodes/clock.ts';
import { isLocalNetwork, openNodes } from '../../nodes/open-nodes.ts';
import type { PaymentChain } from '../../payment/chain.ts';
import { NodeRoute } from '../../payment/node-route.ts';
import type { NodeNetwork } from '../../server-config.ts';
import { serveRoute } from './route-port.ts';

/**
 * Lets a worker bring paid chunks to the nodes of a network through this window. The window has connections of its own for
 * that, besides those that the gateway reads by.
 * @returns a function that ends them.
 */
export function serveNodes(network: NodeNetwork, chain: PaymentChain, port: MessagePort): () => void {
  const nodes = openNodes(network, { isLocal: isLocalNetwork(network), remembers: false });
  const end = serveRoute(port, new NodeRoute({ nodes, chain, clock: systemClock }));
  return () => {
    end();
    nodes.close();
  };
}
