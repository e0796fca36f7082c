import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatBytes } from '../format.ts';
import { sampleCount } from './throughput.ts';

const height = 180;

/** A line chart of the last minute in the page's colours. The newest sample is on the right. */
export class ThroughputChart {
  readonly #place: HTMLElement;
  readonly #observer: ResizeObserver;
  readonly #scheme = matchMedia('(prefers-color-scheme: dark)');
  #plot: uPlot;
  #samples: readonly number[] = [];

  constructor(place: HTMLElement) {
    this.#place = place;
    this.#plot = this.#make();
    this.#observer = new ResizeObserver(() => this.#plot.setSize({ width: place.clientWidth, height }));
    this.#observer.observe(place);
    this.#scheme.addEventListener('change', this.#redraw);
  }

  /** @param samples bytes per second, one per second, oldest first. */
  show(samples: readonly number[]): void {
    this.#samples = samples;
    this.#plot.setData(this.#data());
  }

  destroy(): void {
    this.#scheme.removeEventListener('change', this.#redraw);
    this.#observer.disconnect();
    this.#plot.destroy();
  }

  /** Draws the chart anew, because a canvas does not follow a change of the colour scheme. */
  readonly #redraw = () => {
    this.#plot.destroy();
    this.#plot = this.#make();
  };

  /** Seconds relative to now, and their rates. The rate is null for a second without a sample. */
  #data(): uPlot.AlignedData {
    const seconds = Array.from({ length: sampleCount }, (_, i) => i - sampleCount + 1);
    const missing = sampleCount - this.#samples.length;
    return [seconds, seconds.map((_, i) => this.#samples[i - missing] ?? null)];
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
    const [line, grid, text] = [colour('--chart'), colour('--line'), colour('--muted')];
    const font = `12px ${getComputedStyle(this.#place).fontFamily}`;
    const axis = { stroke: text, font, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
    return new uPlot(
      {
        width: this.#place.clientWidth || 300,
        height,
        legend: { show: false },
        cursor: { show: false },
        padding: [8, 8, 0, 0],
        scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(most ?? 0, 1000) * 1.1] } },
        series: [{}, { stroke: line, width: 2, fill: fade(line), points: { show: false } }],
        axes: [
          {
            ...axis,
            grid: { show: false },
            values: (_, at) => at.map((second) => `${second} s`),
            space: 70,
            size: 30,
          },
          {
            ...axis,
            size: 72,
            space: 36,
            values: (_, rates) => rates.map((rate) => `${formatBytes(rate)}/s`),
          },
        ],
      },
      this.#data(),
      this.#place,
    );
  }
}

function fade(line: string) {
  return ({ ctx }: uPlot) => {
    const gradient = ctx.createLinearGradient(0, 0, 0, ctx.canvas.height);
    gradient.addColorStop(0, line.replace('rgb(', 'rgba(').replace(')', ', 0.28)'));
    gradient.addColorStop(1, line.replace('rgb(', 'rgba(').replace(')', ', 0)'));
    return gradient;
  };
}
