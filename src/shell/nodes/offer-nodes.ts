import { type Address, equalBytes } from '../../address.ts';
import { parsePointer } from '../../content/pointer.ts';
import { AntwayError } from '../../errors.ts';
import { systemClock } from '../../nodes/clock.ts';
import { followLifecycle, LeaderElection } from '../../nodes/leader-election.ts';
import { isMetered } from '../../nodes/metered.ts';
import { NodeLeader } from '../../nodes/node-leader.ts';
import { isLocalNetwork, openNodes } from '../../nodes/open-nodes.ts';
import { nodesMessage } from '../../nodes/port-messages.ts';
import { hashInTurns } from '../../self-encryption/blake3.ts';
import type { NodeNetwork } from '../../server-config.ts';
import { connectSites } from '../origins/site-bridge.ts';

/** The pages ask each other for heartbeats on this channel. */
const channelName = 'antway-nodes';

const verify = {
  async chunk(address: Address, bytes: Uint8Array): Promise<void> {
    if (equalBytes(await hashInTurns(bytes), address.bytes)) return;
    throw new AntwayError('CORRUPT', 'The bytes are those of another address.', { address: address.hex });
  },
  pointer: (address: Address, bytes: Uint8Array) => void parsePointer(new Uint8Array(bytes), address),
};

/**
 * Lets this page become the leader, which has the connections to nodes, as long as the connection is not metered. The
 * leader gives its worker a port. Nothing connects before the worker asks for a record.
 * @param signal ends all connections.
 */
export function offerNodes(network: NodeNetwork, signal: AbortSignal): void {
  let running: AbortController | undefined;
  const update = () => {
    if (isMetered(navigator) || signal.aborted) {
      running?.abort();
      running = undefined;
    } else if (!running) {
      running = new AbortController();
      takePart(network, running.signal);
    }
  };
  const { connection } = navigator as Navigator & { connection?: EventTarget };
  connection?.addEventListener?.('change', update, { signal });
  signal.addEventListener('abort', update, { once: true });
  update();
}

/** Takes part in the election, and answers the worker while this page leads. */
function takePart(network: NodeNetwork, signal: AbortSignal): void {
  const workers = navigator.serviceWorker;
  let leader: NodeLeader | undefined;
  let endFormer = () => {};
  const handOver = () => {
    if (!leader || !workers.controller) return;
    const { port1, port2 } = new MessageChannel();
    workers.controller.postMessage({ type: nodesMessage }, [port2]);
    // A worker that the browser has stopped does not end its port.
    endFormer();
    endFormer = leader.serve(port1);
  };
  const election = new LeaderElection({
    locks: navigator.locks,
    openChannel: () => new BroadcastChannel(channelName),
    clock: systemClock,
    lead(lost) {
      const nodes = openNodes(network, { isLocal: isLocalNetwork(network) });
      leader = new NodeLeader({ nodes, verify, signal: lost });
      lost.addEventListener('abort', () => (leader = undefined), { once: true });
      addEventListener('online', () => nodes.wake(), { signal: lost });
      handOver();
    },
    onError: (error) => console.warn('antway: this page cannot connect to nodes of the network', error),
  });
  const onMessage = ({ data, ports: [port] }: MessageEvent) => {
    if (data?.type !== nodesMessage) return;
    // The worker passes on the port of a site. The site asks again when its port ends.
    if (!port) handOver();
    else if (leader) leader.serve(port);
    else port.close();
  };
  workers.addEventListener('message', onMessage, { signal });
  connectSites((port) => {
    if (leader) leader.serve(port);
    else workers.controller?.postMessage({ type: nodesMessage, isForSite: true }, [port]);
  }, signal);
  workers.addEventListener('controllerchange', handOver, { signal });
  followLifecycle(election, { window, document }, signal);
}
