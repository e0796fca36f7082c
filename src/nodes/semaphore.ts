import { raceAbort } from '../util/watchdog.ts';

/** A number of places for work. Work that finds none waits in its order. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Adds places. */
  add(count: number): void {
    for (let i = 0; i < count; i++) this.#release();
  }

  /** Waits for a place. @returns a function that gives it back, once. @throws the signal's reason when aborted. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else {
      let given: () => void = () => undefined;
      const turn = new Promise<void>((resolve) => {
        given = resolve;
      });
      this.#waiting.push(given);
      try {
        await raceAbort(turn, signal);
      } catch (error) {
        const at = this.#waiting.indexOf(given);
        if (at >= 0) this.#waiting.splice(at, 1);
        else this.#release();
        throw error;
      }
    }
    let isHeld = true;
    return () => {
      if (isHeld) this.#release();
      isHeld = false;
    };
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}
