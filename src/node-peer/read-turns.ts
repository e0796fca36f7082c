import type { ServerResponse } from 'node:http';
import { clientOf, FairQueue } from './fair-queue.ts';
import { HttpError } from './http-error.ts';

/** Reads only a few records at a time, because each takes the thread. Clients take turns. */
export class ReadTurns {
  readonly #max: number;
  #running = 0;
  readonly #waiting = new FairQueue<() => void>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Runs when it is the client's turn. @throws HttpError `BUSY` if the client has gone meanwhile. */
  async run<T>(response: ServerResponse, read: () => Promise<T>): Promise<T> {
    if (this.#running < this.#max) this.#running++;
    else await new Promise<void>((resolve) => this.#waiting.add(clientOf(response), resolve));
    try {
      if (response.destroyed) throw new HttpError('BUSY');
      return await read();
    } finally {
      const next = this.#waiting.next();
      if (next) next();
      else this.#running--;
    }
  }
}
