import type { Stats } from '../../stats/stats.ts';

/** The only channel on which the worker sends messages to pages. */
export const channelName = 'antway';

const watchMs = 10_000;
const intervalMs = 250;

/** Sends reports to pages, but only while a page watches and only after a change. */
export class StatsBroadcast {
  readonly #stats: Stats;
  readonly #notify: (message: object) => void;
  #watchedUntil = 0;
  #stopListening: (() => void) | undefined;
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(stats: Stats, notify: (message: object) => void) {
    this.#stats = stats;
    this.#notify = notify;
  }

  /** Starts or extends the reports, because a page watches. They stop after ten seconds. */
  watch(): void {
    this.#watchedUntil = Date.now() + watchMs;
    this.#stopListening ??= this.#stats.onChange(() => this.#statsChanged());
  }

  /** Sends `{type, [type]: content}` after a short delay, with the content at that time. */
  report(type: string, content: () => unknown): void {
    if (this.#timers.has(type) || Date.now() > this.#watchedUntil) return;
    const send = async () => {
      this.#timers.delete(type);
      this.#notify({ type, [type]: await content() });
    };
    this.#timers.set(
      type,
      setTimeout(() => void send(), intervalMs),
    );
  }

  /** Sends an event at once, even if no page watches. Use it for rare events only. */
  announce(type: string): void {
    this.#notify({ type });
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

export function notifyPages(message: object): void {
  const channel = new BroadcastChannel(channelName);
  channel.postMessage(message);
  channel.close();
}
