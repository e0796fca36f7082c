import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PeerProcess } from '../support/peer-process.ts';

/**
 * A peer's HTTP face with a counter and a gate: which chunks were given out, and how often; and a point from which on
 * requests wait, so that something can be interrupted at a known place.
 */
export class ChunkRelay {
  /** How often each chunk was given out whole, by address. */
  readonly given = new Map<string, number>();
  readonly #peer: PeerProcess;
  readonly #server = createServer((incoming, outgoing) => void this.#pass(incoming, outgoing));
  readonly #agent = new Agent({ keepAlive: true });
  #left = Number.POSITIVE_INFINITY;
  #waiting: (() => void)[] = [];
  #onFull: (() => void) | undefined;

  private constructor(peer: PeerProcess) {
    this.#peer = peer;
  }

  static async start(peer: PeerProcess): Promise<ChunkRelay> {
    const relay = new ChunkRelay(peer);
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    return relay;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** All that were given out, each as often as it was. */
  get total(): number {
    return [...this.given.values()].reduce((sum, count) => sum + count, 0);
  }

  /** How many chunks were given out again. */
  get repeated(): number {
    return this.total - this.given.size;
  }

  /** Lets so many more requests for chunks pass, and holds those after them. @returns when the first one is held. */
  holdAfter(chunks: number): { held: Promise<void> } {
    this.#left = chunks;
    return {
      held: new Promise((resolve) => {
        this.#onFull = resolve;
      }),
    };
  }

  /** Lets everything pass again. */
  release(): void {
    this.#left = Number.POSITIVE_INFINITY;
    for (const pass of this.#waiting.splice(0)) pass();
  }

  /** Drops the waiting requests: they get no answer. */
  drop(): void {
    this.#waiting = [];
    this.#server.closeAllConnections();
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
    await once(this.#server, 'close');
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const [, chunk] = /^\/chunk\/([0-9a-f]{64})$/.exec(incoming.url ?? '') ?? [];
    if (chunk && incoming.method === 'GET' && this.#left-- <= 0) {
      this.#onFull?.();
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (outgoing.destroyed) return;
    try {
      const { hostname, port } = new URL(this.#peer.url);
      const { method, url: path, headers } = incoming;
      const asked = request({ agent: this.#agent, hostname, port, method, path, headers });
      incoming.pipe(asked);
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      const body = Buffer.concat(await answer.toArray());
      const isInfo = path === '/-/info' && answer.statusCode === 200;
      // Over HTTP only: what goes by WebTransport could not be counted here.
      const sent = isInfo ? withoutWebTransport(body) : body;
      outgoing.writeHead(answer.statusCode!, { ...answer.headers, 'content-length': sent.length });
      outgoing.end(sent);
      await once(outgoing, 'finish');
      if (chunk && answer.statusCode === 200) this.given.set(chunk, (this.given.get(chunk) ?? 0) + 1);
    } catch {
      outgoing.destroy(); // to the client the peer has broken off, as it has
    }
  }
}

function withoutWebTransport(info: Buffer): Buffer {
  return Buffer.from(JSON.stringify({ ...JSON.parse(info.toString()), webTransport: null }));
}
