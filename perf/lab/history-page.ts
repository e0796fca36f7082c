import { median } from '../numbers.ts';
import type { LabRun } from './run.ts';
import { isRate, measured, ratiosTo } from './summary.ts';

/** One case over the runs in which it was measured. */
interface Series {
  name: string;
  points: { run: number; median: number; least: number; most: number }[];
}

interface Chart {
  scenario: string;
  summary: string;
  unit: string;
  series: Series[];
}

const width = 720;
const height = 220;
const margin = { left: 64, right: 16, top: 12, bottom: 28 };
const colours = ['#2f6f8f', '#b5542d', '#4d7c3a', '#7a4b8c', '#a68a00', '#555555'];

/** A page that draws stored runs: self-contained, without scripts, one chart to a scenario. */
export function historyPage(runs: readonly LabRun[]): string {
  const charts = chartsOf(runs);
  const rows = runs.map(
    ({ machine: { date, commit, cpu, load, versions } }, i) =>
      `<tr><td>${i + 1}</td><td>${escaped(date)}</td><td>${escaped(commit)}</td><td>${escaped(cpu)}</td>` +
      `<td>${escaped(load)}</td><td>${escaped(versions)}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Antway: speed over time</title>
<style>
  body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fbfaf7; max-width: 760px; margin: 2rem auto; padding: 0 1rem; }
  svg { width: 100%; height: auto; } h2 { margin-bottom: 0; } p { margin-top: 0; color: #555; }
  table { border-collapse: collapse; font-size: 13px; } td, th { text-align: left; padding: 2px 8px 2px 0; vertical-align: top; }
  .key { display: inline-block; width: 0.8em; height: 0.8em; margin: 0 0.3em 0 1em; }
</style>
<h1>Speed over time</h1>
<p>Medians of each stored run. The bars reach from the lowest to the highest value of a round. If there is a ceiling (a
worker that answers from memory), the chart shows the ratio to the ceiling, which depends less on the machine.</p>
${charts.map(section).join('\n')}
<h2>Runs</h2>
<table><tr><th></th><th>date</th><th>commit</th><th>machine</th><th>load</th><th>versions</th></tr>
${rows.join('\n')}
</table>
</html>
`;
}

function chartsOf(runs: readonly LabRun[]): Chart[] {
  const charts = new Map<string, Chart>();
  for (const [index, run] of runs.entries()) {
    for (const scenario of run.scenarios) {
      const { name, summary, measure } = scenario;
      for (const { name: of } of scenario.cases.filter(({ role }) => role === 'gateway')) {
        const ratios = ratiosTo(scenario, of, 'ceiling');
        const scale = measure === 'bytes' ? 1e-6 : 1;
        const values = scenario.samples
          .filter((sample) => sample.case === of)
          .map((sample) => measured(sample, measure) * scale);
        if (values.length === 0) continue;
        const unit = ratios
          ? `${isRate(measure) ? 'of' : '×'} the ceiling`
          : { bytes: 'MB/s', requests: 'requests/s', p95: 'ms', time: 'ms' }[measure];
        const key = `${name} ${unit}`;
        const chart = charts.get(key) ?? { scenario: name, summary, unit, series: [] };
        charts.set(key, chart);
        let series = chart.series.find((each) => each.name === of);
        if (!series) {
          series = { name: of, points: [] };
          chart.series.push(series);
        }
        series.points.push({
          run: index,
          ...(ratios ?? { median: median(values), least: Math.min(...values), most: Math.max(...values) }),
        });
      }
    }
  }
  return [...charts.values()];
}

function section({ scenario, summary, unit, series }: Chart): string {
  const points = series.flatMap(({ points }) => points);
  const last = Math.max(...points.map(({ run }) => run), 1);
  const top = Math.max(...points.map(({ most }) => most)) * 1.05 || 1;
  const x = (run: number) => margin.left + (run / last) * (width - margin.left - margin.right);
  const y = (value: number) => height - margin.bottom - (value / top) * (height - margin.top - margin.bottom);
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const at = y(share * top).toFixed(1);
    return (
      `<line x1="${margin.left}" x2="${width - margin.right}" y1="${at}" y2="${at}" stroke="#ddd"/>` +
      `<text x="${margin.left - 6}" y="${at}" text-anchor="end" dominant-baseline="middle">${(share * top).toPrecision(3)}</text>`
    );
  });
  const lines = series.map(({ points }, i) => {
    const colour = colours[i % colours.length]!;
    const path = points.map(({ run, median }) => `${x(run).toFixed(1)},${y(median).toFixed(1)}`).join(' ');
    const bars = points.map(
      ({ run, least, most, median }) =>
        `<line x1="${x(run).toFixed(1)}" x2="${x(run).toFixed(1)}" y1="${y(least).toFixed(1)}" y2="${y(most).toFixed(1)}" opacity="0.4"/>` +
        `<circle cx="${x(run).toFixed(1)}" cy="${y(median).toFixed(1)}" r="3" fill="${colour}"><title>run ${run + 1}: ${median.toPrecision(3)} ${unit}</title></circle>`,
    );
    return `<g stroke="${colour}" fill="none"><polyline points="${path}"/>${bars.join('')}</g>`;
  });
  const keys = series.map(
    ({ name }, i) =>
      `<span class="key" style="background:${colours[i % colours.length]}"></span>${escaped(name)}`,
  );
  return `<h2>${escaped(scenario)}</h2>
<p>${escaped(summary)} In ${unit}.${keys.join('')}</p>
<svg viewBox="0 0 ${width} ${height}" font-size="11" fill="#555" role="img" aria-label="${escaped(scenario)}, ${unit}">
${grid.join('\n')}
${lines.join('\n')}
</svg>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
