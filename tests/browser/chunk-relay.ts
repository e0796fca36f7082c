import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { forward, LoopbackServer } from '../support/loopback-server.ts';
import type { PeerProcess } from '../support/peer-process.ts';

/**
 * A peer's HTTP transport with a counter and a gate: which chunks were given out, and how often; and a point from which on
 * requests wait, so that something can be interrupted at a known place.
 */
export class ChunkRelay {
  /** How often each chunk was given out whole, by address. */
  readonly given = new Map<string, number>();
  readonly #peer: PeerProcess;
  #server!: LoopbackServer;
  #left = Number.POSITIVE_INFINITY;
  #waiting: (() => void)[] = [];
  #onFull: (() => void) | undefined;

  private constructor(peer: PeerProcess) {
    this.#peer = peer;
  }

  static async start(peer: PeerProcess): Promise<ChunkRelay> {
    const relay = new ChunkRelay(peer);
    relay.#server = await LoopbackServer.start((incoming, outgoing) => void relay.#pass(incoming, outgoing));
    return relay;
  }

  get url(): string {
    return this.#server.url;
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
    this.#server.dropConnections();
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const [, chunk] = /^\/chunk\/([0-9a-f]{64})$/.exec(incoming.url ?? '') ?? [];
    if (chunk && incoming.method === 'GET' && this.#left-- <= 0) {
      this.#onFull?.();
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (outgoing.destroyed) return;
    try {
      const answer = await forward(incoming, this.#peer.url);
      const body = Buffer.concat(await answer.toArray());
      const isInfo = incoming.url === '/-/info' && answer.statusCode === 200;
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
