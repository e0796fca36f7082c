import type { Clock } from './clock.ts';
import { portLimits } from './port-limits.ts';

export interface SilenceWatchOptions {
  clock: Clock;
  /** Asks for a sign of life. */
  ask(): void;
  /** Called once. The watch has ended. */
  onSilent(): void;
}

/**
 * Notices that another context is frozen or gone. It counts its own ticks and not the time: a context that was frozen
 * itself gives the other one the full time to answer, and a throttled one waits longer.
 */
export class SilenceWatch {
  readonly #options: SilenceWatchOptions;
  readonly #ended = new AbortController();
  #silentTicks = 0;

  constructor(options: SilenceWatchOptions) {
    this.#options = options;
    void this.#run();
  }

  /** Call this for each sign of life. */
  heard(): void {
    this.#silentTicks = 0;
  }

  end(): void {
    this.#ended.abort();
  }

  async #run(): Promise<void> {
    const { clock, ask, onSilent } = this.#options;
    const { signal } = this.#ended;
    while (this.#silentTicks++ < portLimits.silentTicks) {
      ask();
      // The wait rejects only when the watch ends.
      await clock.delay(portLimits.tickMs, signal).catch(() => undefined);
      if (signal.aborted) return;
    }
    this.end();
    onSilent();
  }
}
