import { splitPeerUrl } from '../../config.ts';
import type { PeerState } from '../../peers/peer.ts';
import type { PeerTally, TransportTally } from '../../stats/stats.ts';
import type { PeerStatus } from '../gateway-api.ts';

/** What is known of one peer, over both transports. */
export interface PeerRow {
  url: string;
  /** Null for a peer that is no longer configured. */
  state: PeerState | null;
  chunks: number;
  bytes: number;
  /** Median time to an answer's first byte, in milliseconds, over the transport that brought more. */
  firstByteMs: number | null;
  /** Of one request on average, in bytes per second. Several are under way at a time. */
  bytesPerSecond: number | null;
  /** Requests that brought nothing usable, by error code. */
  failures: [code: string, count: number][];
  webtransport: TransportTally | null;
  http: TransportTally | null;
}

/** Every configured peer, and every other one that was counted, in that order. */
export function peerRows(tallies: readonly PeerTally[], states: readonly PeerStatus[]): PeerRow[] {
  const urls = new Set([...states.map(({ url }) => url), ...tallies.map(({ url }) => url)]);
  return [...urls].map((url) => {
    const tally = tallies.find((known) => known.url === url);
    const transports = tally ? [tally.webtransport, tally.http] : [];
    const most = transports.toSorted((a, b) => b.bytes - a.bytes)[0];
    const failures = new Map<string, number>();
    for (const [code, count] of transports.flatMap((each) => Object.entries(each.failures))) {
      failures.set(code, (failures.get(code) ?? 0) + count);
    }
    return {
      url,
      state: states.find((known) => known.url === url)?.state ?? null,
      chunks: sum(transports, 'chunks'),
      bytes: sum(transports, 'bytes'),
      firstByteMs: most?.firstByteMs.p50 ?? null,
      bytesPerSecond: most ? speedOf(most) : null,
      failures: [...failures],
      webtransport: tally?.webtransport ?? null,
      http: tally?.http ?? null,
    };
  });
}

/** Chunks that came unasked for have no times of their own, so they count for nothing here. */
function speedOf({ chunks, bytes, totalMs }: TransportTally): number | null {
  if (chunks === 0 || totalMs.count === 0 || totalMs.sum === 0) return null;
  return ((bytes / chunks) * totalMs.count * 1000) / totalMs.sum;
}

function sum(transports: readonly TransportTally[], key: 'chunks' | 'bytes'): number {
  return transports.reduce((total, transport) => total + transport[key], 0);
}

/** A peer's URL without what all of them share; with its kind, if it is not one of ours. */
export function hostOf(url: string): string {
  const { kind, origin } = splitPeerUrl(url);
  const host = URL.canParse(origin) ? new URL(origin).host : origin;
  return kind === 'antway' ? host : `${host} (${{ anttp: 'AntTP', antd: 'antd' }[kind]})`;
}
