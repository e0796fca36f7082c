import type { FileReading } from '../../stats/stats.ts';
import { decodePath, formatBytes, formatChunks, formatCount } from '../format.ts';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';

const states = [
  ['p', 'peer'],
  ['d', 'disk'],
  ['m', 'memory'],
  ['~', 'wait'],
  ['.', 'none'],
] as const;

interface Props {
  reading: FileReading | null;
  /** Whether sites read files on their own origins, which this map does not show. */
  isOwnOnly: boolean;
}

export function ChunkMap({ reading, isOwnOnly }: Props) {
  return (
    <Section id="chunk-map" title={texts.live.map}>
      {reading ? <Reading reading={reading} /> : <p class="empty">{texts.live.mapNone}</p>}
      {isOwnOnly && <p class="note">{texts.live.mapOwnOnly}</p>}
    </Section>
  );
}

function Reading({ reading: { path, size, count, chunks } }: { reading: FileReading }) {
  const here = [...chunks].filter((state) => 'pdm'.includes(state)).length;
  const { mapLabel, mapLegend, mapOf } = texts.live;
  return (
    <>
      {path && <p class="chunk-map-path address">{decodePath(path)}</p>}
      <p class="note">{mapOf(formatBytes(size), formatChunks(count))}</p>
      <div class="chunk-grid" role="img" aria-label={mapLabel(formatCount(here), formatCount(chunks.length))}>
        {states.map(([state, name]) => (
          <Cells key={state} chunks={chunks} state={state} name={name} />
        ))}
      </div>
      <ul class="chunk-legend">
        {states
          .filter(([state]) => chunks.includes(state))
          .map(([state, name]) => (
            <li key={state} class={`chunk-${name}`}>
              {mapLegend[name]}
            </li>
          ))}
      </ul>
    </>
  );
}

/** The minimum number of squares in a row. Without it, the squares of a small file would fill the screen. */
const leastColumns = 40;

/** All squares of one state as a single path, because a file can have thousands of chunks. */
function Cells({ chunks, state, name }: { chunks: string; state: string; name: string }) {
  const columns = Math.max(leastColumns, Math.ceil(Math.sqrt(chunks.length * 8)));
  const rows = Math.ceil(chunks.length / columns);
  let path = '';
  for (let i = chunks.indexOf(state); i >= 0; i = chunks.indexOf(state, i + 1)) {
    path += `M${(i % columns) + 0.08} ${Math.floor(i / columns) + 0.08}h.84v.84h-.84z`;
  }
  return (
    <svg class={`chunk-cells chunk-${name}`} viewBox={`0 0 ${columns} ${rows}`} aria-hidden="true">
      <path d={path} />
    </svg>
  );
}
