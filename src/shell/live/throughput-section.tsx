import { useEffect, useRef } from 'preact/hooks';
import { formatBytes } from '../format.ts';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import { type Rates, ratesOf, type Throughput } from './throughput.ts';
import type { ThroughputChart } from './throughput-chart.ts';

export function ThroughputSection({ throughput }: { throughput: Throughput }) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<ThroughputChart | null>(null);
  const newest = useRef(throughput);
  newest.current = throughput;
  const t = texts.live;

  useEffect(() => {
    let isGone = false;
    // The code of the chart is large, and the figures are useful without it.
    import('./throughput-chart.ts')
      .then(({ ThroughputChart }) => {
        if (isGone || !place.current) return;
        const { chartPeak: peak, chartAverage: average, chartNow: now } = texts.live;
        const before = (seconds: number) => `−${seconds} s`;
        chart.current = new ThroughputChart(place.current, { peak, average, now, before });
        chart.current.show(newest.current);
      })
      .catch((error) => console.warn('antway: the chart could not be loaded', error));
    return () => {
      isGone = true;
      chart.current?.destroy();
      chart.current = null;
    };
  }, []);
  useEffect(() => chart.current?.show(throughput), [throughput]);

  const fromPeers = ratesOf(throughput.peerBytes);
  const toPages = ratesOf(throughput.servedBytes);
  return (
    <Section id="throughput" title={t.throughput}>
      <table class="rates">
        <thead>
          <tr>
            <td />
            {[t.rateNow, t.rateAverage, t.ratePeak].map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Row line="peers" label={t.fromPeers} rates={fromPeers} />
          <Row line="pages" label={t.toPages} rates={toPages} />
        </tbody>
      </table>
      <div
        class="chart"
        ref={place}
        role="img"
        aria-label={t.chart(formatBytes(fromPeers.peak), formatBytes(toPages.peak))}
      />
      <p class="note">{t.averageNote}</p>
    </Section>
  );
}

function Row({ line, label, rates }: { line: 'peers' | 'pages'; label: string; rates: Rates }) {
  const perSecond = (rate: number) => `${formatBytes(Math.round(rate))}/s`;
  return (
    <tr class={`rate-${line}`}>
      <th scope="row">
        <svg class="rate-line" viewBox="0 0 28 8" width="28" height="8" aria-hidden="true">
          <path d="M1 4h26" />
        </svg>
        {label}
      </th>
      <td class="rate-now">{perSecond(rates.now)}</td>
      <td>{perSecond(rates.average)}</td>
      <td>{perSecond(rates.peak)}</td>
    </tr>
  );
}
