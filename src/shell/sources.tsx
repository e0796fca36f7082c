import type { ComponentChildren } from 'preact';
import type { PeerState } from '../peers/peer.ts';
import type { PeerTally, StatsSnapshot, Tally, TransportTally } from '../stats/stats.ts';
import { formatBytes, formatCount } from './format.ts';
import type { PeerStatus } from './gateway-api.ts';
import { Section } from './section.tsx';
import type { Resource } from './use-resource.ts';

interface Props {
  stats: StatsSnapshot | null;
  peers: Resource<PeerStatus[]>;
}

/** Where chunks came from: this browser's memory and storage, and each peer by transport. */
export function Sources({ stats, peers }: Props) {
  const rows = peerRows(stats?.peers ?? [], peers.value ?? []);
  const memory = stats?.chunks.memory ?? none;
  const disk = stats?.chunks.disk ?? none;
  const mostBytes = Math.max(1, memory.bytes, disk.bytes, ...rows.map(({ bytes }) => bytes));
  return (
    <Section id="sources" title="Where chunks came from" error={peers.error}>
      <ul class="source-list">
        <Source name="Memory" bytes={memory.bytes} mostBytes={mostBytes}>
          {formatChunks(memory.count)}
        </Source>
        <Source name="This browser’s storage" bytes={disk.bytes} mostBytes={mostBytes}>
          {formatChunks(disk.count)}
        </Source>
        {rows.map(({ url, state, bytes, tally }) => (
          <Source key={url} name={hostOf(url)} bytes={bytes} mostBytes={mostBytes}>
            {state && <span class={`status status-${stateTexts[state].tone}`}>{stateTexts[state].text}</span>}
            {tally && <TransportNotes tally={tally} />}
          </Source>
        ))}
      </ul>
      {rows.length === 0 && peers.value && (
        <p class="empty">No peer is configured: only what is stored here can be opened.</p>
      )}
    </Section>
  );
}

const none: Tally = { count: 0, bytes: 0 };

const stateTexts: Record<PeerState, { tone: 'good' | 'wait' | 'bad'; text: string }> = {
  idle: { tone: 'wait', text: 'not needed yet' },
  webtransport: { tone: 'good', text: 'connected by WebTransport' },
  http: { tone: 'good', text: 'connected by HTTP' },
  unreachable: { tone: 'bad', text: 'unreachable' },
  banned: { tone: 'bad', text: 'left out: sent wrong bytes' },
};

interface PeerRow {
  url: string;
  /** Null for a peer that is no longer configured. */
  state: PeerState | null;
  tally: PeerTally | null;
  /** Over both transports. */
  bytes: number;
}

/** Every configured peer, and every other one that was counted, in that order. */
function peerRows(tallies: readonly PeerTally[], states: readonly PeerStatus[]): PeerRow[] {
  const urls = new Set([...states.map(({ url }) => url), ...tallies.map(({ url }) => url)]);
  return [...urls].map((url) => {
    const tally = tallies.find((known) => known.url === url) ?? null;
    const state = states.find((known) => known.url === url)?.state ?? null;
    return { url, state, tally, bytes: tally ? tally.webtransport.bytes + tally.http.bytes : 0 };
  });
}

interface SourceProps {
  name: string;
  bytes: number;
  /** Bytes of the largest source, which has a full bar. */
  mostBytes: number;
  children: ComponentChildren;
}

function Source({ name, bytes, mostBytes, children }: SourceProps) {
  return (
    <li class="source">
      <span class="source-name">{name}</span>
      <span class="source-bytes">{formatBytes(bytes)}</span>
      <svg class="share" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect class="share-ground" width="100" height="1" />
        <rect class="share-part" width={((100 * bytes) / mostBytes).toFixed(2)} height="1" />
      </svg>
      <div class="source-notes">{children}</div>
    </li>
  );
}

function formatChunks(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'chunk' : 'chunks'}`;
}

function TransportNotes({ tally }: { tally: PeerTally }) {
  return (
    <dl class="transports">
      <TransportNote name="WebTransport" tally={tally.webtransport} />
      <TransportNote name="HTTP" tally={tally.http} />
    </dl>
  );
}

function TransportNote({ name, tally }: { name: string; tally: TransportTally }) {
  const failures = Object.entries(tally.failures);
  if (tally.chunks === 0 && failures.length === 0) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {formatChunks(tally.chunks)} · {formatBytes(tally.bytes)}
        {failures.map(([code, count]) => (
          <span key={code} class="transport-failure">
            {formatCount(count)} × <span class="code">{code}</span>
          </span>
        ))}
      </dd>
    </div>
  );
}

/** A peer's URL without what all of them share. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
