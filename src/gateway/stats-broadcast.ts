import type { Stats } from '../stats/stats.ts';

/** Name of the one channel on which the worker reports to pages. */
export const channelName = 'antway';

const watchMs = 10_000;
const intervalMs = 250;

/** Sends snapshots of the counters to pages, but only while somebody watches and only when something changed. */
export class StatsBroadcast {
  readonly #stats: Stats;
  #watchedUntil = 0;
  #stopListening: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(stats: Stats) {
    this.#stats = stats;
  }

  /** A page looks on: report for the next ten seconds. */
  watch(): void {
    this.#watchedUntil = Date.now() + watchMs;
    this.#stopListening ??= this.#stats.onChange(() => this.#schedule());
  }

  #schedule(): void {
    if (this.#timer !== undefined) return;
    if (Date.now() > this.#watchedUntil) {
      this.#stopListening?.();
      this.#stopListening = undefined;
      return;
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const channel = new BroadcastChannel(channelName);
      channel.postMessage({ type: 'stats', stats: this.#stats.snapshot() });
      channel.close();
    }, intervalMs);
  }
}
