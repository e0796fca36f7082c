import type { StatsSnapshot } from '../../stats/stats.ts';
import type { PeerStatus } from '../gateway-api.ts';
import { hostOf, peerRows } from './peer-rows.ts';

/** Where chunks come from: a peer, the nodes of the network, or the storage of this browser. */
export interface Source {
  /** The peer's URL, `nodes`, or `store`. */
  id: string;
  /** The peer's host. Null for the nodes and the storage. */
  host: string | null;
  chunks: number;
  bytes: number;
  /** 0 for the storage, and 1 to `toneCount` for peers. */
  tone: number;
}

/** Peers beyond this number share tones. Each has its own line, so the tone is not the only difference. */
const toneCount = 5;

/** Peers in their order, then the nodes if they gave chunks, then the storage. */
export function sourcesOf(stats: StatsSnapshot | null, peers: readonly PeerStatus[]): Source[] {
  const rows = peerRows(stats?.peers ?? [], peers);
  const ofPeers = rows.map(({ url, chunks, bytes }, i): Source => {
    return { id: url, host: hostOf(url), chunks, bytes, tone: (i % toneCount) + 1 };
  });
  const { count = 0, bytes = 0 } = stats?.chunks.disk ?? {};
  const fromNodes = stats?.chunks.nodes;
  const ofNodes: Source[] = fromNodes?.count
    ? [
        {
          id: 'nodes',
          host: null,
          chunks: fromNodes.count,
          bytes: fromNodes.bytes,
          tone: (rows.length % toneCount) + 1,
        },
      ]
    : [];
  return [...ofPeers, ...ofNodes, { id: 'store', host: null, chunks: count, bytes, tone: 0 }];
}
