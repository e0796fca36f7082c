import { useEffect, useRef, useState } from 'preact/hooks';
import type { StatsSnapshot } from '../../stats/stats.ts';
import { formatBytes, formatChunks, formatCount } from '../format.ts';
import type { PeerStatus } from '../gateway-api.ts';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import type { Resource } from '../use-resource.ts';
import { fly } from './flight.ts';
import { type Source, sourcesOf } from './sources.ts';
import { useReducedMotion } from './use-reduced-motion.ts';

interface Props {
  stats: StatsSnapshot | null;
  peers: Resource<PeerStatus[]>;
  /** Which figures are shown. Another selection is no arrival of chunks. */
  view: string;
}

/** Chunks in memory came from these sources and are read many times in parts. Only their number of reads is shown. */
export function SourceLanes({ stats, peers, view }: Props) {
  const sources = sourcesOf(stats, peers.value ?? []);
  const mostBytes = Math.max(1, ...sources.map(({ bytes }) => bytes));
  return (
    <Section id="sources" title={texts.live.sources} error={peers.error}>
      <ul class="lanes">
        {sources.map((source) => (
          <Lane
            key={`${view} ${source.id}`}
            source={source}
            share={source.bytes / mostBytes}
            isKnown={stats !== null}
          />
        ))}
      </ul>
      <p class="note">{texts.live.fromMemory(formatCount(stats?.chunks.memory.count ?? 0))}</p>
    </Section>
  );
}

interface LaneProps {
  source: Source;
  /** Of the bytes of the largest source, 0 to 1. */
  share: number;
  isKnown: boolean;
}

function Lane({ source: { id, host, chunks, bytes, tone }, share, isKnown }: LaneProps) {
  const track = useRef<HTMLSpanElement>(null);
  const seen = useRef<number | null>(null);
  const isStill = useReducedMotion();
  const recent = useRecent(chunks, isStill);

  useEffect(() => {
    if (!isKnown) return;
    const arrived = seen.current === null ? 0 : chunks - seen.current;
    seen.current = chunks;
    if (arrived > 0 && !isStill && track.current) fly(track.current, arrived);
  }, [chunks, isKnown, isStill]);

  return (
    <li class={`lane tone-${tone}`}>
      <span class="lane-mark" aria-hidden="true" />
      <span class="lane-name">{host ?? (id === 'nodes' ? texts.live.nodes : texts.live.disk)}</span>
      <span class="lane-figures">
        <b>{formatBytes(bytes)}</b> <span>{formatChunks(chunks)}</span>
      </span>
      <span class="lane-track" ref={track} aria-hidden="true" />
      {isStill && (
        <span class="lane-still" aria-hidden="true">
          {Array.from({ length: recent }, (_, i) => (
            <i key={i} />
          ))}
        </span>
      )}
      <svg class="share" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect class="share-ground" width="100" height="1" />
        <rect class="share-part" width={(100 * share).toFixed(2)} height="1" />
      </svg>
    </li>
  );
}

const mostStill = 24;

/** How many chunks have arrived since this screen was opened, as resting marks. Used in place of movement. */
function useRecent(chunks: number, isStill: boolean): number {
  const [first, setFirst] = useState<number | null>(null);
  useEffect(() => {
    if (isStill) setFirst((known) => known ?? chunks);
  }, [isStill, chunks]);
  return Math.min(mostStill, first === null ? 0 : Math.max(0, chunks - first));
}
