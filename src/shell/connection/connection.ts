import type { NodesStatus } from '../../nodes/nodes.ts';
import { PeerUrl } from '../../peer-url.ts';
import type { PeerStatus } from '../gateway-api.ts';

/**
 * The part of the network that this gateway can reach.
 *
 * - `checking`: the peers have not been asked yet.
 * - `offline`: the browser has no network.
 * - `local`: there is no peer, or only peers on this computer that give out what they store.
 * - `silent`: no peer answers.
 * - `untried`: the only sign of life of a peer is a chunk, and no chunk was requested yet.
 * - `network`: a peer is connected to a network. Null stands for the Autonomi network.
 * - `connecting`: a peer is connecting to a network.
 * - `program`: another program that reads from the network.
 * - `direct`: this browser connects to nodes of the network, with the number of open connections.
 * - `community`: a peer elsewhere that says nothing of a network.
 */
export type Connection =
  | { kind: 'checking' | 'offline' | 'local' | 'silent' | 'untried' | 'connecting' }
  | { kind: 'network'; name: string | null }
  | { kind: 'program'; name: string }
  | { kind: 'direct'; nodes: number }
  | { kind: 'community'; name: string };

export type ReachedPeer = Pick<PeerStatus, 'url' | 'kind' | 'answers' | 'network'>;

/** Names of programs that read from the network and do not describe themselves. They are the same in every language. */
export const programs = { anttp: 'AntTP', antd: 'antd' } as const;

/**
 * @param peers null before the first answer of the gateway.
 * @param nodes null if this browser cannot connect to nodes.
 */
export function connectionOf(
  peers: readonly ReachedPeer[] | null,
  online: boolean,
  nodes: Pick<NodesStatus, 'connected'> | null = null,
): Connection {
  if (!online) return { kind: 'offline' };
  if (!peers) return { kind: 'checking' };
  const answering = peers.filter(({ answers }) => answers);
  const isThroughPeer = answering.some(
    ({ kind, network }) => kind !== 'antway' || network?.state === 'connected',
  );
  if (nodes && !isThroughPeer) return { kind: 'direct', nodes: nodes.connected };
  if (peers.length === 0) return { kind: 'local' };
  if (answering.length === 0) {
    return { kind: peers.some(({ answers }) => answers === null) ? 'untried' : 'silent' };
  }
  const inState = (state: string) => answering.find(({ network }) => network?.state === state)?.network;
  const network = inState('connected');
  if (network) return { kind: 'network', name: network.name === 'mainnet' ? null : network.name };
  for (const { kind } of answering) if (kind !== 'antway') return { kind: 'program', name: programs[kind] };
  if (inState('connecting')) return { kind: 'connecting' };
  const community = answering.map(({ url }) => new URL(PeerUrl.parse(url).origin)).find(isElsewhere);
  return community ? { kind: 'community', name: community.host } : { kind: 'local' };
}

function isElsewhere({ origin }: URL): boolean {
  return !PeerUrl.parse(origin).isLoopback;
}
