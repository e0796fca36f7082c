import { systemClock } from '../../nodes/clock.ts';
import { isLocalNetwork, openNodes } from '../../nodes/open-nodes.ts';
import type { PaymentChain } from '../../payment/chain.ts';
import { nodePointerReader } from '../../payment/node-pointers.ts';
import { NodeRoute } from '../../payment/node-route.ts';
import type { PointerReader } from '../../payment/paid-pointers.ts';
import type { PaymentRoute } from '../../payment/payment-route.ts';
import type { NodeNetwork } from '../../server-config.ts';
import { serveRoute } from './route-port.ts';

/** The nodes of a network, through this window. */
export interface DirectAccess {
  route: PaymentRoute;
  /** Reads pointers, and the content that they lead to. */
  reader: PointerReader;
  /** Ends the connections. */
  close(): void;
}

/**
 * Reaches the nodes of a network without a relay. The window has connections of its own for that, besides those that the
 * gateway reads by.
 */
export function openDirect(network: NodeNetwork, chain: PaymentChain): DirectAccess {
  const nodes = openNodes(network, { isLocal: isLocalNetwork(network), remembers: false });
  return {
    route: new NodeRoute({ nodes, chain, clock: systemClock }),
    reader: nodePointerReader(nodes),
    close: () => nodes.close(),
  };
}

/**
 * Lets a worker bring paid chunks to the nodes of a network through this window.
 * @returns a function that ends the connections.
 */
export function serveNodes(network: NodeNetwork, chain: PaymentChain, port: MessagePort): () => void {
  const direct = openDirect(network, chain);
  const end = serveRoute(port, direct.route);
  return () => {
    end();
    direct.close();
  };
}
