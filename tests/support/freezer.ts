import type { Clock } from '../../src/nodes/clock.ts';

/** A page that a browser can freeze. Its timers, messages and callbacks wait until it is thawed. */
export class Freezer {
  #isFrozen = false;
  readonly #waiting: (() => void)[] = [];

  freeze(): void {
    this.#isFrozen = true;
  }

  thaw(): void {
    this.#isFrozen = false;
    for (const work of this.#waiting.splice(0)) work();
  }

  /** Runs work of the page now, or once the page is not frozen any more. */
  run(work: () => void): void {
    if (this.#isFrozen) this.#waiting.push(work);
    else work();
  }

  /** The page's own timers. */
  clock(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      delay: async (milliseconds, signal) => {
        await clock.delay(milliseconds, signal);
        await new Promise<void>((resolve) => this.run(resolve));
        signal?.throwIfAborted();
      },
    };
  }
}
