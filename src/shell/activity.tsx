import { formatBytes, formatCount } from './format.ts';
import { Section } from './section.tsx';
import { Sparkline } from './sparkline.tsx';
import type { LiveStats } from './use-stats.ts';

/** What the gateway does now, and did since its worker started. */
export function Activity({ live: { stats, throughput, error } }: { live: LiveStats }) {
  const rate = throughput.samples.at(-1) ?? 0;
  const failures = Object.entries(stats?.requests.failed ?? {});
  const failed = failures.reduce((sum, [, count]) => sum + count, 0);
  return (
    <Section id="activity" title="Activity" error={error}>
      <div class="throughput">
        <span class="figure">{formatBytes(rate)}/s</span>
        <Sparkline samples={throughput.samples} />
        <span class="label">to pages, now</span>
        <span class="label throughput-span">last minute</span>
      </div>
      <dl class="figures">
        <Figure label="Requests" value={stats && formatCount(stats.requests.total)} />
        <Figure label="Under way" value={stats && formatCount(stats.requests.active)} />
        <Figure label="Failed" value={stats && formatCount(failed)} isBad={failed > 0} />
        <Figure label="Served" value={stats && formatBytes(stats.servedBytes)} />
      </dl>
      {failures.length > 0 && (
        <ul class="codes" aria-label="Failed requests by reason">
          {failures.map(([code, count]) => (
            <li key={code}>
              <span class="code">{code}</span> {formatCount(count)}
            </li>
          ))}
        </ul>
      )}
      {stats && (
        <p class="note">
          Since {new Date(stats.startedAt).toLocaleTimeString()}, when the browser last started the gateway.
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
