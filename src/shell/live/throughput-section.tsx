import { useEffect, useRef } from 'preact/hooks';
import { formatBytes } from '../format.ts';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import type { ThroughputChart } from './throughput-chart.ts';

export function ThroughputSection({ samples }: { samples: readonly number[] }) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<ThroughputChart | null>(null);
  const newest = useRef(samples);
  newest.current = samples;

  useEffect(() => {
    let isGone = false;
    // The chart code is the largest part of this screen, and no other screen uses it.
    import('./throughput-chart.ts')
      .then(({ ThroughputChart }) => {
        if (isGone || !place.current) return;
        chart.current = new ThroughputChart(place.current);
        chart.current.show(newest.current);
      })
      .catch((error) => console.warn('antway: the chart could not be loaded', error));
    return () => {
      isGone = true;
      chart.current?.destroy();
      chart.current = null;
    };
  }, []);
  useEffect(() => chart.current?.show(samples), [samples]);

  return (
    <Section id="throughput" title={texts.live.throughput}>
      <p class="throughput-now">
        <span class="figure">{formatBytes(samples.at(-1) ?? 0)}/s</span>{' '}
        <span class="label">{texts.live.now}</span>
      </p>
      <div
        class="chart"
        ref={place}
        role="img"
        aria-label={texts.live.chart(formatBytes(Math.max(0, ...samples)))}
      />
    </Section>
  );
}
