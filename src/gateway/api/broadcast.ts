import type { Stats } from '../../stats/stats.ts';

/** Name of the one channel on which the worker reports to pages. */
export const channelName = 'antway';

const watchMs = 10_000;
const intervalMs = 250;

/** Reports to pages, but only while somebody watches and only when something changed. */
export class StatsBroadcast {
  readonly #stats: Stats;
  readonly #notify: (message: object) => void;
  #watchedUntil = 0;
  #stopListening: (() => void) | undefined;
  /** Reports on their way, by their type. */
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();

  /** @param notify sends a message to the pages. */
  constructor(stats: Stats, notify: (message: object) => void) {
    this.#stats = stats;
    this.#notify = notify;
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
      this.#notify({ type, [type]: await content() });
    };
    this.#timers.set(
      type,
      setTimeout(() => void send(), intervalMs),
    );
  }

  /** Says now that something happened, to whoever may listen: for what is rare, and costs nothing to tell. */
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

/** Sends a message to the shell's pages. */
export function notifyPages(message: object): void {
  const channel = new BroadcastChannel(channelName);
  channel.postMessage(message);
  channel.close();
}
