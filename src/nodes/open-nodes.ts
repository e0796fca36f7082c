import type { NodeNetwork } from '../server-config.ts';
import { ChannelClient } from './channel-client.ts';
import { systemClock, withTimeout } from './clock.ts';
import { isPublicHost } from './host.ts';
import { parseSeeds } from './node-address.ts';
import { nodeError } from './node-error.ts';
import { nodeLimits } from './node-limits.ts';
import { IndexedDbMemory, noMemory, openNodeStore } from './node-memory.ts';
import { Nodes } from './nodes.ts';
import { mainnetSeeds } from './seeds.ts';
import { Handshake } from './session.ts';
import { openWebRtcChannel } from './webrtc-channel.ts';

/** Whether all given nodes are in private networks. Then the other nodes may be there too. */
export function isLocalNetwork(network: NodeNetwork): boolean {
  return network !== 'mainnet' && parseSeeds(network).every(({ host }) => !isPublicHost(host));
}

export interface OpenOptions {
  /** Allows nodes in private networks. Default: false. */
  isLocal?: boolean;
  /** Whether IndexedDB keeps the nodes that answered for the next start. Default: true. */
  remembers?: boolean;
}

/**
 * Reads from the nodes of a network, in a window. Nothing connects before the first read.
 * @param network `mainnet`, or the addresses of some nodes of another network.
 * @throws AntwayError `BAD_CONFIG` for a wrong address.
 */
export function openNodes(
  network: NodeNetwork,
  { isLocal = false, remembers = true }: OpenOptions = {},
): Nodes {
  return new Nodes({
    seeds: parseSeeds(network === 'mainnet' ? mainnetSeeds : network),
    connect: async (node, signal) => {
      const late = () => nodeError('timeout', `The node at ${node.host} does not answer.`);
      const opening = withTimeout(systemClock, nodeLimits.connectMs, signal, late, (own) =>
        openWebRtcChannel(node, own),
      );
      // The key of the handshake takes time to make, and the channel opens meanwhile.
      const handshake = new Handshake();
      return ChannelClient.connect(await opening, node, systemClock, signal, handshake);
    },
    memory: remembers ? new IndexedDbMemory(openNodeStore()) : noMemory,
    clock: systemClock,
    isLocal,
  });
}
