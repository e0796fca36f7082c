import type { ServerResponse } from 'node:http';
import { clientOf, FairQueue } from './fair-queue.ts';
import { HttpError } from './http-error.ts';

/** The memory of one answer, or of one upload. */
export interface Place {
  /**
   * Waits until the client reads on, or another request needs the place.
   * @returns whether the place is still this answer's.
   */
  holds(reads: Promise<void>): Promise<boolean>;
  /** Gives the place to the next request. */
  leave(): void;
}

/**
 * A limited number of places for answers or uploads in memory. Requests without a place wait, and their clients take turns.
 * An answer whose client does not read loses its place to them, so clients that read nothing keep no other waiting.
 */
export class AnswerPlaces {
  readonly #max: number;
  readonly #maxWaitMs: number;
  #taken = 0;
  readonly #waiting = new FairQueue<() => void>();
  /** Takes the places of answers whose clients do not read, in the order of the time since they did. */
  readonly #stalled = new Set<() => void>();

  constructor(max: number, maxWaitMs: number) {
    this.#max = max;
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Takes a place. It is free again when the answer leaves it, or is over.
   * @throws HttpError `BUSY` if no place becomes free in time, and when the client has gone.
   */
  take(response: ServerResponse): Promise<Place> {
    return new Promise((resolve, reject) => {
      const client = clientOf(response);
      let state: 'waiting' | 'held' | 'left' = 'waiting';
      const enter = () => {
        clearTimeout(timer);
        state = 'held';
        resolve({ holds, leave });
      };
      const leave = () => {
        clearTimeout(timer);
        response.off('close', leave);
        const before = state;
        state = 'left';
        if (before === 'held') this.#free();
        if (before !== 'waiting') return;
        this.#waiting.delete(client, enter);
        reject(new HttpError('BUSY'));
      };
      const holds = (reads: Promise<void>) =>
        new Promise<boolean>((resolve) => {
          if (state !== 'held') return resolve(false);
          const lose = () => {
            this.#stalled.delete(lose);
            leave();
            resolve(false);
          };
          this.#stalled.add(lose);
          if (!this.#waiting.isEmpty) return lose();
          void reads.then(() => {
            this.#stalled.delete(lose);
            resolve(state === 'held');
          });
        });
      const timer = setTimeout(leave, this.#maxWaitMs);
      if (response.destroyed) return leave();
      response.once('close', leave);
      if (this.#taken < this.#max) {
        this.#taken += 1;
        enter();
        return;
      }
      this.#waiting.add(client, enter);
      const [longest] = this.#stalled;
      longest?.();
    });
  }

  #free(): void {
    const next = this.#waiting.next();
    if (next) next();
    else this.#taken -= 1;
  }
}

/** From now on, closes the connection of a client that for this long neither reads nor sends anything. */
export function breakOffIfUnread(response: ServerResponse, timeoutMs: number): void {
  response.setTimeout(timeoutMs, () => response.destroy());
}
