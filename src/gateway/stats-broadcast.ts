import type { Stats } from '../stats/stats.ts';

/** Name of the one channel on which the worker reports to pages. */
export const channelName = 'antway';

const watchMs = 10_000;
const intervalMs = 250;

/** Reports to pages, but only while somebody watches and only when something changed. */
export class StatsBroadcast {
  readonly #stats: Stats;
  #watchedUntil = 0;
  #stopListening: (() => void) | undefined;
  /** Reports on their way, by their type. */
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(stats: Stats) {
    this.#stats = stats;
  }

  /** A page looks on: report for the next ten seconds. */
  watch(): void {
    this.#watchedUntil = Date.now() + watchMs;
    this.#stopListening ??= this.#stats.onChange(() => this.#statsChanged());
  }

  /** Sends `{type, [type]: content}` a moment later, with the content of then. */
  report(type: string, content: () => unknown): void {
    if (this.#timers.has(type) || Date.now() > this.#watchedUntil) return;
    const send = async () => {
      this.#timers.delete(type);
      post({ type, [type]: await content() });
    };
    this.#timers.set(
      type,
      setTimeout(() => void send(), intervalMs),
    );
  }

  /** Says now that something happened, to whoever may listen: for what is rare, and costs nothing to tell. */
  announce(type: string): void {
    post({ type });
  }

  #statsChanged(): void {
    if (Date.now() > this.#watchedUntil) {
      this.#stopListening?.();
      this.#stopListening = undefined;
      return;
    }
    this.report('stats', () => this.#stats.snapshot());
  }
}

function post(message: object): void {
  const channel = new BroadcastChannel(channelName);
  channel.postMessage(message);
  channel.close();
}
