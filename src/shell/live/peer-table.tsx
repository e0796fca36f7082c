import type { PeerState } from '../../peers/peer.ts';
import type { StatsSnapshot } from '../../stats/stats.ts';
import { formatBytes, formatCount, formatMilliseconds } from '../format.ts';
import type { PeerStatus } from '../gateway-api.ts';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import type { Resource } from '../use-resource.ts';
import { hostOf, type PeerRow, peerRows } from './peer-rows.ts';

interface Props {
  stats: StatsSnapshot | null;
  peers: Resource<PeerStatus[]>;
  /** Whether the figures are the sum of several workers. Each worker has its own connections. */
  isSum: boolean;
}

const tones: Record<PeerState, 'good' | 'wait' | 'bad'> = {
  idle: 'wait',
  webtransport: 'good',
  http: 'good',
  unreachable: 'bad',
  banned: 'bad',
};

export function PeerTable({ stats, peers, isSum }: Props) {
  const rows = peerRows(stats?.peers ?? [], peers.value ?? []);
  const columns = texts.live.peerColumns;
  return (
    <Section id="peers" title={texts.live.peers} error={peers.error}>
      {rows.length === 0 ? (
        <p class="empty">{peers.value ? texts.live.noPeers : texts.common.notKnownYet}</p>
      ) : (
        <table class="peer-table">
          <thead>
            <tr>
              {Object.values(columns).map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={row.url} row={row} />
            ))}
          </tbody>
        </table>
      )}
      {isSum && rows.length > 0 && <p class="note">{texts.live.peersOwnState}</p>}
    </Section>
  );
}

function Row({
  row: { url, state, chunks, bytes, firstByteMs, bytesPerSecond, failures },
}: {
  row: PeerRow;
}) {
  const columns = texts.live.peerColumns;
  return (
    <tr>
      <th scope="row" title={url}>
        {hostOf(url)}
      </th>
      <td data-label={columns.state}>
        <span class={`status status-${state ? tones[state] : 'wait'}`}>
          {texts.live.peerStates[state ?? 'gone']}
        </span>
      </td>
      <td data-label={columns.rtt}>{firstByteMs === null ? '–' : formatMilliseconds(firstByteMs)}</td>
      <td data-label={columns.speed}>{bytesPerSecond === null ? '–' : `${formatBytes(bytesPerSecond)}/s`}</td>
      <td data-label={columns.chunks}>
        {formatCount(chunks)} · {formatBytes(bytes)}
      </td>
      <td data-label={columns.errors}>
        {failures.length === 0 && '–'}
        {failures.map(([code, count]) => (
          <span key={code} class="transport-failure">
            {formatCount(count)} × <span class="code">{code}</span>{' '}
          </span>
        ))}
      </td>
    </tr>
  );
}
