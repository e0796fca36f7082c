import type { ActivityReport } from '../../gateway/api/activity.ts';
import type { HistogramSnapshot } from '../../stats/histogram.ts';
import type { StatsSnapshot } from '../../stats/stats.ts';
import { formatBytes, formatCount, formatMilliseconds } from '../format.ts';
import type { GatewayApiError } from '../gateway-api.ts';
import { Section } from '../section.tsx';
import { locale, texts } from '../texts/texts.ts';

interface Props {
  stats: StatsSnapshot | null;
  /** Counts that outlive the worker. */
  report: Pick<ActivityReport, 'lifetime'> | null;
  error: GatewayApiError | null;
  isSum: boolean;
}

export function Activity({ stats, report, error, isSum }: Props) {
  const failures = Object.entries(stats?.requests.failed ?? {});
  const { requests, failures: failed = 0, servedBytes } = report?.lifetime ?? {};
  return (
    <Section id="activity" title={texts.live.activity} error={error}>
      <dl class="figures">
        <Figure label={texts.live.requests} value={requests === undefined ? null : formatCount(requests)} />
        <Figure label={texts.live.active} value={stats && formatCount(stats.requests.active)} />
        <Figure label={texts.live.failed} value={report && formatCount(failed)} isBad={failed > 0} />
        <Figure
          label={texts.live.served}
          value={servedBytes === undefined ? null : formatBytes(servedBytes)}
        />
      </dl>
      {failures.length > 0 && (
        <ul class="codes" aria-label={texts.live.failedByReason}>
          {failures.map(([code, count]) => (
            <li key={code}>
              <span class="code">{code}</span> {formatCount(count)}
            </li>
          ))}
        </ul>
      )}
      {stats && <Latency firstByte={stats.requests.firstByteMs} whole={stats.requests.totalMs} />}
      {stats && (
        <p class="note">
          {texts.live.speedsNote}{' '}
          {(isSum ? texts.live.sinceEach : texts.live.since)(
            new Date(stats.startedAt).toLocaleTimeString(locale, { timeStyle: 'short' }),
          )}
        </p>
      )}
    </Section>
  );
}

function Figure({ label, value, isBad = false }: { label: string; value: string | null; isBad?: boolean }) {
  return (
    <div class={isBad ? 'figure-bad' : undefined}>
      <dt>{label}</dt>
      <dd>{value ?? '–'}</dd>
    </div>
  );
}

const percentiles = [
  ['p50', 'typical'],
  ['p95', 'slow'],
  ['p99', 'worst'],
] as const;

function Latency({ firstByte, whole }: { firstByte: HistogramSnapshot; whole: HistogramSnapshot }) {
  const rows = [
    [texts.live.firstByte, firstByte],
    [texts.live.whole, whole],
  ] as const;
  return (
    <table class="latency">
      <caption>{texts.live.latency}</caption>
      <thead>
        <tr>
          <td />
          {percentiles.map(([key, name]) => (
            <th key={key} scope="col">
              {texts.live.speeds[name]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([label, histogram]) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            {percentiles.map(([key]) => (
              <td key={key}>{histogram[key] === null ? '–' : formatMilliseconds(histogram[key])}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
