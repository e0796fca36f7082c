import { PeerUrl } from '../../peer-url.ts';
import type { PeerState } from '../../peers/peer.ts';
import type { PeerTally, TransportTally } from '../../stats/stats.ts';
import type { PeerStatus } from '../gateway-api.ts';

/** The figures of one peer, over both transports. */
export interface PeerRow {
  url: string;
  /** Null for a peer that is no longer configured. */
  state: PeerState | null;
  chunks: number;
  bytes: number;
  /** Median time to the first byte of an answer, in milliseconds, over the transport with more bytes. */
  firstByteMs: number | null;
  /** The average rate of a single request, in bytes per second. Several requests run at a time. */
  bytesPerSecond: number | null;
  failures: [code: string, count: number][];
}

/** A row for each configured peer, then for each other peer with counters. */
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
    };
  });
}

/** Prefetched chunks have no request times. Multiply the average chunk size by the number of timed requests instead. */
function speedOf({ chunks, bytes, totalMs }: TransportTally): number | null {
  if (chunks === 0 || totalMs.count === 0 || totalMs.sum === 0) return null;
  return ((bytes / chunks) * totalMs.count * 1000) / totalMs.sum;
}

function sum(transports: readonly TransportTally[], key: 'chunks' | 'bytes'): number {
  return transports.reduce((total, transport) => total + transport[key], 0);
}

/** The host of a peer's URL. Adds the kind of an AntTP or antd peer. */
export function hostOf(url: string): string {
  const { kind, origin } = PeerUrl.parse(url);
  const { host } = new URL(origin);
  return kind === 'antway' ? host : `${host} (${{ anttp: 'AntTP', antd: 'antd' }[kind]})`;
}
