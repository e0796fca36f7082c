import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { historySeconds } from '../../stats/activity.ts';
import { formatBytes } from '../format.ts';
import { ratesOf, type Throughput } from './throughput.ts';

const height = 230;

/** The texts in the chart. They repeat the table beside it. */
export interface ChartTexts {
  peak(rate: string): string;
  average(rate: string): string;
  now: string;
  /** A moment before now. */
  before(seconds: number): string;
}

/** The bytes from peers as a filled area, the bytes to pages as a dashed line. The newest second is on the right. */
export class ThroughputChart {
  readonly #place: HTMLElement;
  readonly #texts: ChartTexts;
  readonly #observers: { disconnect(): void }[];
  readonly #scheme = matchMedia('(prefers-color-scheme: dark)');
  #plot: uPlot;
  #shown: Throughput | null = null;

  constructor(place: HTMLElement, texts: ChartTexts) {
    this.#place = place;
    this.#texts = texts;
    this.#plot = this.#make();
    const size = new ResizeObserver(() => this.#plot.setSize({ width: place.clientWidth, height }));
    size.observe(place);
    // The user can choose a scheme other than the system's.
    const theme = new MutationObserver(this.#redraw);
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    this.#observers = [size, theme];
    this.#scheme.addEventListener('change', this.#redraw);
  }

  show(throughput: Throughput): void {
    this.#shown = throughput;
    this.#plot.setData(this.#data());
  }

  destroy(): void {
    this.#scheme.removeEventListener('change', this.#redraw);
    for (const observer of this.#observers) observer.disconnect();
    this.#plot.destroy();
  }

  /** Draws the chart anew, because a canvas does not follow a change of the colour scheme. */
  readonly #redraw = () => {
    this.#plot.destroy();
    this.#plot = this.#make();
  };

  /** Seconds relative to now, and the rates. */
  #data(): uPlot.AlignedData {
    const seconds = Array.from({ length: historySeconds }, (_, i) => i - historySeconds + 1);
    const { peerBytes = [], servedBytes = [] } = this.#shown ?? {};
    const rates = (samples: readonly number[]) => seconds.map((_, i) => samples[i] ?? 0);
    return [seconds, rates(peerBytes), rates(servedBytes)];
  }

  #make(): uPlot {
    // Resolve the colours on an element in the page, because they depend on the colour scheme.
    const colour = (name: string) => {
      const probe = document.createElement('span');
      probe.style.color = `var(${name})`;
      this.#place.append(probe);
      const value = getComputedStyle(probe).color;
      probe.remove();
      return value;
    };
    const colours = { peers: colour('--chart'), pages: colour('--chart-second') };
    const [grid, text, ground] = [colour('--line'), colour('--muted'), colour('--surface')];
    const { fontFamily } = getComputedStyle(this.#place);
    const font = `12px ${fontFamily}`;
    const axis = { stroke: text, font, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
    const paths = uPlot.paths.spline!();
    const label = { text, ground, font: `600 ${12 * devicePixelRatio}px ${fontFamily}`, texts: this.#texts };
    const draw = (plot: uPlot) => {
      const { peerBytes = [], servedBytes = [] } = this.#shown ?? {};
      markRates(plot, [peerBytes, servedBytes], [colours.peers, colours.pages], label);
    };
    return new uPlot(
      {
        width: this.#place.clientWidth || 300,
        height,
        legend: { show: false },
        cursor: { show: false },
        padding: [24, 18, 0, 0],
        scales: {
          x: { time: false },
          y: { range: (_, __, most) => [0, Math.max(most ?? 0, 10_000) * 1.08] },
        },
        series: [
          {},
          { stroke: colours.peers, width: 2, fill: fade(colours.peers), points: { show: false }, paths },
          { stroke: colours.pages, width: 2, dash: [7, 4], points: { show: false }, paths },
        ],
        axes: [
          {
            ...axis,
            grid: { show: false },
            values: (_, at) =>
              at.map((second) => (second === 0 ? this.#texts.now : this.#texts.before(-second))),
            incrs: [30],
            space: 50,
            size: 30,
          },
          {
            ...axis,
            size: 76,
            space: 44,
            values: (_, rates) => rates.map((rate) => `${formatBytes(rate)}/s`),
          },
        ],
        hooks: { draw: [draw] },
      },
      this.#data(),
      this.#place,
    );
  }
}

interface Label {
  text: string;
  ground: string;
  font: string;
  texts: ChartTexts;
}

/** Marks the peak of the higher line, and its average. Labels of both lines would cover each other. */
function markRates(
  plot: uPlot,
  lines: readonly [readonly number[], readonly number[]],
  colours: readonly [string, string],
  { text, ground, font, texts }: Label,
): void {
  const rates = lines.map(ratesOf);
  const higher = rates[1]!.peak > rates[0]!.peak ? 1 : 0;
  const { peak, peakAt, average } = rates[higher]!;
  if (peakAt === null) return;
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.font = font;
  ctx.lineWidth = ratio;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'bottom';

  const y = plot.valToPos(average, 'y', true);
  ctx.strokeStyle = text;
  ctx.setLineDash([2 * ratio, 4 * ratio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.setLineDash([]);

  const write = (content: string, x: number, bottom: number) => {
    const width = ctx.measureText(content).width;
    const left = Math.min(Math.max(x, bbox.left + 4 * ratio), bbox.left + bbox.width - width - 4 * ratio);
    ctx.strokeStyle = ground;
    ctx.lineWidth = 4 * ratio;
    ctx.lineJoin = 'round';
    ctx.strokeText(content, left, bottom);
    ctx.fillStyle = text;
    ctx.fillText(content, left, bottom);
  };
  write(texts.average(`${formatBytes(average)}/s`), bbox.left + 8 * ratio, y - 3 * ratio);

  const x = plot.valToPos(peakAt - historySeconds + 1, 'x', true);
  const top = plot.valToPos(peak, 'y', true);
  ctx.fillStyle = colours[higher]!;
  ctx.strokeStyle = ground;
  ctx.lineWidth = 2 * ratio;
  ctx.beginPath();
  ctx.arc(x, top, 4.5 * ratio, 0, 2 * Math.PI);
  ctx.fill();
  ctx.stroke();
  const peakText = texts.peak(`${formatBytes(peak)}/s`);
  write(peakText, x - ctx.measureText(peakText).width / 2, top - 8 * ratio);
  ctx.restore();
}

function fade(line: string) {
  return ({ ctx }: uPlot) => {
    const gradient = ctx.createLinearGradient(0, 0, 0, ctx.canvas.height);
    gradient.addColorStop(0, line.replace('rgb(', 'rgba(').replace(')', ', 0.34)'));
    gradient.addColorStop(1, line.replace('rgb(', 'rgba(').replace(')', ', 0.02)'));
    return gradient;
  };
}
