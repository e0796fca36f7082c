import { sampleCount } from './throughput.ts';

const width = 240;
const height = 48;
/** A line drawn on the very edge would lose half its stroke. */
const inset = 2;

/** The last minute as a line, newest on the right. A picture only: the figure beside it says the same. */
export function Sparkline({ samples }: { samples: readonly number[] }) {
  const peak = Math.max(...samples, 1);
  const points = samples.map((sample, i) => {
    const x = width - ((samples.length - 1 - i) * width) / (sampleCount - 1);
    const y = height - inset - (sample / peak) * (height - 2 * inset);
    return `${x.toFixed(1)} ${y.toFixed(1)}`;
  });
  const line = `M${points.join('L')}`;
  const left = points[0]?.split(' ')[0];
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      <line class="sparkline-base" x1="0" x2={width} y1={height - 1} y2={height - 1} />
      {points.length > 1 && (
        <>
          <path class="sparkline-area" d={`${line}V${height}H${left}Z`} />
          <path class="sparkline-line" d={line} />
        </>
      )}
    </svg>
  );
}
