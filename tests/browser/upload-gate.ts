import { LoopbackServer } from '../support/loopback-server.ts';

/** A promise and the way to resolve it. */
function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** A proxy of a peer that counts the chunks stored through it, and can hold requests after a number of chunks. */
export class UploadGate {
  /** How often each path was stored. */
  readonly stored = new Map<string, number>();
  #server!: LoopbackServer;
  #holdAfter = Number.POSITIVE_INFINITY;
  #opened = deferred();
  #held = deferred();

  private constructor() {}

  /** @param target the peer's origin. */
  static async start(target: string): Promise<UploadGate> {
    const gate = new UploadGate();
    gate.#server = await LoopbackServer.start(async (request, response) => {
      const origin = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' };
      if (request.method === 'OPTIONS') {
        response.writeHead(204, { ...origin, 'Access-Control-Allow-Methods': 'GET, HEAD, PUT' }).end();
        return;
      }
      const body: Buffer[] = await request.toArray();
      if (request.method === 'PUT' && gate.stored.size >= gate.#holdAfter) {
        gate.#held.resolve();
        await gate.#opened.promise;
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
      if (answer.status === 201) gate.stored.set(request.url!, (gate.stored.get(request.url!) ?? 0) + 1);
      if (answer.status === 200 && request.method === 'PUT') gate.stored.set(request.url!, 2);
      response.writeHead(answer.status, origin).end(Buffer.from(await answer.arrayBuffer()));
    });
    return gate;
  }

  get url(): string {
    return this.#server.url;
  }

  /** Resolves when a chunk waits. */
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
    return this.#server.stop();
  }
}
