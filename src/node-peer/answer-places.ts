import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpError } from './http-error.ts';

/** A limited number of places for answers in memory. Requests without a place wait in the order of their arrival. */
export class AnswerPlaces {
  readonly #max: number;
  readonly #maxWaitMs: number;
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(max: number, maxWaitMs: number) {
    this.#max = max;
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Takes a place until the answer is complete or its connection has closed.
   * @throws HttpError `BUSY` if no place becomes free in time, and when the client has gone.
   */
  take({ socket }: IncomingMessage, response: ServerResponse): Promise<void> {
    // Each pipelined request listens to the same socket. Only the first of them has a response with that socket, so the
    // others get no `close` of their own when the connection breaks.
    socket.setMaxListeners(0);
    return new Promise((resolve, reject) => {
      let isEntered = false;
      const enter = () => {
        clearTimeout(timer);
        isEntered = true;
        resolve();
      };
      const leave = () => {
        clearTimeout(timer);
        response.off('close', leave);
        socket.off('close', leave);
        if (isEntered) return this.#free();
        this.#waiting.delete(enter);
        reject(new HttpError('BUSY'));
      };
      const timer = setTimeout(leave, this.#maxWaitMs);
      if (response.destroyed || socket.destroyed) return leave();
      response.once('close', leave);
      socket.once('close', leave);
      if (this.#taken < this.#max) {
        this.#taken += 1;
        enter();
      } else {
        this.#waiting.add(enter);
      }
    });
  }

  #free(): void {
    const [next] = this.#waiting;
    if (next) {
      this.#waiting.delete(next);
      next();
    } else {
      this.#taken -= 1;
    }
  }
}

/** From now on, closes the connection of a client that for this long neither reads nor sends anything. */
export function breakOffIfUnread(response: ServerResponse, timeoutMs: number): void {
  response.setTimeout(timeoutMs, () => response.destroy());
}
