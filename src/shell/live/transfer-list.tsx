import { formatBytes, formatCount, formatShare, formatSpan } from '../format.ts';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import type { TransferRow } from './transfer-rows.ts';

/** More rows would push everything else off the screen. */
const mostShown = 8;

export function TransferList({ rows }: { rows: readonly TransferRow[] }) {
  const t = texts.live;
  const more = rows.length - mostShown;
  return (
    <Section id="transfers" title={t.transfers}>
      {rows.length === 0 ? (
        <p class="empty">{t.transfersNone}</p>
      ) : (
        <ul class="transfer-list">
          {rows.slice(0, mostShown).map((row) => (
            <Row key={row.key} row={row} />
          ))}
        </ul>
      )}
      {more > 0 && <p class="note">{t.transfersMore(more, formatCount(more))}</p>}
    </Section>
  );
}

function Row({ row }: { row: TransferRow }) {
  const { name, site, state, sent, size, share, chunks } = row;
  const t = texts.live;
  return (
    <li class={`transfer transfer-${state}`}>
      <p class="transfer-name">
        <bdi>{name}</bdi>
        {site && (
          <span class="label">
            <bdi>{site}</bdi>
          </span>
        )}
      </p>
      <p class="transfer-state">{stateText(row)}</p>
      {share === null ? (
        <progress aria-label={t.progressOf(name)} />
      ) : (
        <progress aria-label={t.progressOf(name)} value={share} max={1} />
      )}
      <p class="transfer-facts">
        <span>{size === null ? formatBytes(sent) : t.ofCeiling(formatBytes(sent), formatBytes(size))}</span>
        {share !== null && state === 'active' && <span>{formatShare(share)}</span>}
        {chunks.peer > 0 && <span class="from from-peer">{t.chunksFromPeers(formatCount(chunks.peer))}</span>}
        {chunks.disk > 0 && <span class="from from-disk">{t.chunksFromDisk(formatCount(chunks.disk))}</span>}
        {chunks.peer + chunks.disk === 0 && chunks.memory > 0 && (
          <span class="from from-memory">{t.chunksFromMemory}</span>
        )}
      </p>
    </li>
  );
}

/** Below this rate, in bytes per second, the page or the peers pause. */
const leastRate = 1_000;

function stateText({ state, rate, secondsLeft }: TransferRow): string {
  const t = texts.live;
  const speed = `${formatBytes(rate)}/s`;
  if (state === 'done') return t.transferDone(speed);
  if (state === 'failed') return t.transferFailed;
  if (state === 'left') return t.transferLeft;
  if (rate < leastRate) return t.transferWaits;
  return secondsLeft === null ? speed : t.timeLeft(speed, formatSpan(secondsLeft));
}
