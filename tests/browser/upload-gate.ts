import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A promise and the way to resolve it. */
function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** Stands before a peer: counts what is stored through it, and can hold everything back after so many chunks. */
export class UploadGate {
  readonly stored = new Map<string, number>();
  readonly #server: Server;
  #holdAfter = Number.POSITIVE_INFINITY;
  #opened = deferred();
  #held = deferred();

  private constructor(target: string) {
    this.#server = createServer(async (request, response) => {
      const origin = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' };
      if (request.method === 'OPTIONS') {
        response.writeHead(204, { ...origin, 'Access-Control-Allow-Methods': 'GET, HEAD, PUT' }).end();
        return;
      }
      const body: Buffer[] = [];
      for await (const piece of request) body.push(piece);
      if (request.method === 'PUT' && this.stored.size >= this.#holdAfter) {
        this.#held.resolve();
        await this.#opened.promise;
        // The client has gone.
        response.destroy();
        return;
      }
      const { authorization = '' } = request.headers;
      const answer = await fetch(target + request.url, {
        method: request.method!,
        headers: { authorization },
        ...(request.method === 'PUT' ? { body: Buffer.concat(body) } : {}),
      });
      if (answer.status === 201) this.stored.set(request.url!, (this.stored.get(request.url!) ?? 0) + 1);
      if (answer.status === 200 && request.method === 'PUT') this.stored.set(request.url!, 2);
      response.writeHead(answer.status, origin).end(Buffer.from(await answer.arrayBuffer()));
    });
  }

  static async start(target: string): Promise<UploadGate> {
    const gate = new UploadGate(target);
    await new Promise<void>((resolve) => gate.#server.listen(0, '127.0.0.1', resolve));
    return gate;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Done when a chunk waits. */
  get held(): Promise<void> {
    return this.#held.promise;
  }

  holdAfter(chunks: number): void {
    this.#holdAfter = chunks;
  }

  open(): void {
    this.#holdAfter = Number.POSITIVE_INFINITY;
    this.#opened.resolve();
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
