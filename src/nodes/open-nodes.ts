import { createStore } from 'idb-keyval';
import { systemClock, withTimeout } from './clock.ts';
import { parseSeeds } from './node-address.ts';
import { ChannelClient } from './node-client.ts';
import { nodeError } from './node-error.ts';
import { nodeLimits } from './node-limits.ts';
import { IndexedDbMemory } from './node-memory.ts';
import { Nodes } from './nodes.ts';
import { mainnetSeeds } from './seeds.ts';
import { openWebRtcChannel } from './webrtc-channel.ts';

/**
 * Reads from the nodes of a network, in a window. Nothing connects before the first read.
 * @param network `mainnet`, or the addresses of some nodes of another network.
 * @param isLocal allows nodes in private networks.
 * @throws AntwayError `BAD_CONFIG` for a wrong address.
 */
export function openNodes(network: 'mainnet' | readonly string[], isLocal = false): Nodes {
  return new Nodes({
    seeds: parseSeeds(network === 'mainnet' ? mainnetSeeds : network),
    connect: async (node, signal) => {
      const late = () => nodeError('timeout', `The node at ${node.host} does not answer.`);
      const channel = await withTimeout(systemClock, nodeLimits.connectMs, signal, late, (own) =>
        openWebRtcChannel(node, own),
      );
      return ChannelClient.connect(channel, node, systemClock, signal);
    },
    memory: new IndexedDbMemory(createStore('antway-nodes', 'nodes')),
    clock: systemClock,
    isLocal,
  });
}
