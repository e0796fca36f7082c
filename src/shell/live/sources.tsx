import type { ComponentChildren } from 'preact';
import type { StatsSnapshot, Tally } from '../../stats/stats.ts';
import { formatBytes, formatChunks, formatCount } from '../format.ts';
import type { PeerStatus } from '../gateway-api.ts';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import type { Resource } from '../use-resource.ts';
import { hostOf, peerRows } from './peer-rows.ts';

interface Props {
  stats: StatsSnapshot | null;
  peers: Resource<PeerStatus[]>;
}

/** Chunks in memory came from these sources and are read many times in parts. Only their number of reads is shown. */
export function Sources({ stats, peers }: Props) {
  const rows = peerRows(stats?.peers ?? [], peers.value ?? []);
  const disk = stats?.chunks.disk ?? none;
  const mostBytes = Math.max(1, disk.bytes, ...rows.map(({ bytes }) => bytes));
  return (
    <Section id="sources" title={texts.live.sources} error={peers.error}>
      <ul class="source-list">
        <Source name={texts.live.disk} bytes={disk.bytes} mostBytes={mostBytes}>
          {formatChunks(disk.count)}
        </Source>
        {rows.map(({ url, bytes, chunks }) => (
          <Source key={url} name={hostOf(url)} bytes={bytes} mostBytes={mostBytes}>
            {formatChunks(chunks)}
          </Source>
        ))}
      </ul>
      <p class="note">{texts.live.fromMemory(formatCount(stats?.chunks.memory.count ?? 0))}</p>
    </Section>
  );
}

const none: Tally = { count: 0, bytes: 0 };

interface SourceProps {
  name: string;
  bytes: number;
  /** The number of bytes of the largest source. Its bar has the full width. */
  mostBytes: number;
  children: ComponentChildren;
}

function Source({ name, bytes, mostBytes, children }: SourceProps) {
  return (
    <li class="source">
      <span class="source-name">{name}</span>
      <span class="source-notes">{children}</span>
      <span class="source-bytes">{formatBytes(bytes)}</span>
      <svg class="share" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect class="share-ground" width="100" height="1" />
        <rect class="share-part" width={((100 * bytes) / mostBytes).toFixed(2)} height="1" />
      </svg>
    </li>
  );
}
