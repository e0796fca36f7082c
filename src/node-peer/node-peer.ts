import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Blake3 } from '../self-encryption/blake3.ts';
import { breakOffIfUnread } from './answer-places.ts';
import { ChunkRoutes } from './chunk-routes.ts';
import { Connections } from './connections.ts';
import { forward, refuseUnexpectedBody } from './forward.ts';
import { HttpError, sendError } from './http-error.ts';
import type { PeerStore } from './peer-store.ts';
import { parseHost } from './request-host.ts';
import { WebFiles, type WebFilesOptions } from './web-files.ts';

/** Pages of one site can set some 180 cookies of 4 kB for the peer's name and the names around it. */
const maxHeaderBytes = 1024 * 1024;
const maxHeaderFields = 200;
/** The time for a whole request to arrive. A chunk at 64 KiB/s takes 64 s. */
const requestTimeoutMs = 90_000;
const headersTimeoutMs = 20_000;
const idleTimeoutMs = 30_000;
/** A client that reads nothing of its answer for this long loses its connection. */
const writeTimeoutMs = 30_000;

export interface NodePeerOptions {
  /** Addresses of loopback with one common port, `127.0.0.1:8080` or `[::1]:8080`. Port 0 selects a free port. */
  listen: readonly string[];
  store: PeerStore;
  blake3: Blake3;
  write: 'open' | 'none';
  /** The pages that may use the chunks besides those of this machine: origins, or `*`. */
  allowOrigins?: readonly string[] | undefined;
  /** Also serves the built gateway. */
  web?: WebFilesOptions;
  version: string;
  /** For tests: how long a request waits for a place among the open answers. */
  answerWaitMs?: number;
  /** For tests: how long an upload may take. */
  uploadMs?: number;
  /** For tests: how long a client may read nothing of its answer. */
  writeTimeoutMs?: number;
}

/**
 * A peer in Node, for the user of this machine: HTTP only, on loopback only, with the chunks of one store. It has no
 * upstreams and no limits per client, which a public peer needs. The peer in Rust has all of that.
 */
export class NodePeer {
  readonly #servers: Server[] = [];
  readonly #connections = new Connections();
  readonly #routes: ChunkRoutes;
  readonly #web: WebFiles | undefined;
  readonly #writeTimeoutMs: number;
  #successor: URL | undefined;
  #url = '';

  private constructor(options: NodePeerOptions, web: WebFiles | undefined) {
    this.#web = web;
    this.#writeTimeoutMs = options.writeTimeoutMs ?? writeTimeoutMs;
    this.#routes = new ChunkRoutes({ ...options, writeTimeoutMs: this.#writeTimeoutMs });
  }

  /** @throws RangeError for an address that is not on loopback; the errors of listening and of the web folder. */
  static async start(options: NodePeerOptions): Promise<NodePeer> {
    const web = options.web && (await WebFiles.open(options.web));
    const peer = new NodePeer(options, web);
    try {
      let port: number | undefined;
      for (const address of options.listen) {
        const [host, wanted] = parseAddress(address);
        port = await peer.#listen(host, wanted === 0 && port ? port : wanted);
        peer.#url ||= `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
      }
    } catch (error) {
      await peer.close();
      throw error;
    }
    return peer;
  }

  /** The origin of the first address. */
  get url(): string {
    return this.#url;
  }

  /** From now on, passes all requests on to this server; undefined ends that. Requests that have begun end where they are. */
  forwardTo(successor: URL | undefined): void {
    this.#successor = successor;
  }

  /** Stops listening, and ends all connections. */
  async close(): Promise<void> {
    this.#connections.close();
    await Promise.all(
      this.#servers.map(async (server) => {
        const closed = once(server, 'close');
        server.close();
        server.closeAllConnections();
        await closed;
      }),
    );
  }

  async #listen(host: string, port: number): Promise<number> {
    const server = createServer(
      {
        maxHeaderSize: maxHeaderBytes,
        requestTimeout: requestTimeoutMs,
        headersTimeout: headersTimeoutMs,
        keepAliveTimeout: idleTimeoutMs,
      },
      (request, response) => void this.#answer(request, response),
    );
    this.#connections.watch(server);
    // Node silently drops the fields after some more. `#answer` refuses such a request.
    server.maxHeadersCount = maxHeaderFields + 1;
    server.listen(port, host);
    await once(server, 'listening');
    this.#servers.push(server);
    return (server.address() as AddressInfo).port;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!(await this.#connections.turnOf(request, response))) return;
    // Bytes after the request may have ended its connection.
    if (request.socket.destroyed) return;
    try {
      if (request.rawHeaders.length > 2 * maxHeaderFields) throw new HttpError('HEADERS');
      refuseUnexpectedBody(request);
      if (this.#successor) return await forward(request, response, this.#successor);
      // Chunks come from strangers. Browsers must not guess that one is a page.
      response.setHeader('X-Content-Type-Options', 'nosniff');
      const path = request.url!.split('?', 1)[0]!;
      if (!path.startsWith('/')) throw new HttpError('NOT_FOUND');
      // Below the name of a site, a peer's answer would tell other sites whether the site's worker answers there.
      const isOfSite = parseHost(request.headers.host).kind === 'site';
      if (!isOfSite && ChunkRoutes.owns(path)) await this.#routes.answer(request, response, path);
      else if (this.#web) {
        breakOffIfUnread(response, this.#writeTimeoutMs);
        await this.#web.answer(request, response, path);
      } else throw new HttpError('NOT_FOUND');
    } catch (error) {
      const isOver = response.destroyed || response.writableEnded;
      if (isOver) return; // the client has gone
      if (!(error instanceof HttpError)) console.error(error);
      breakOffIfUnread(response, this.#writeTimeoutMs);
      // Node would read on to the end of a body that nothing takes.
      if (error instanceof HttpError && error.code === 'BAD_REQUEST') response.shouldKeepAlive = false;
      sendError(response, error instanceof HttpError ? error : new HttpError('FAILED', { cause: error }));
    }
  }
}

/** @throws RangeError */
function parseAddress(address: string): [host: string, port: number] {
  const [, host, port] = /^(127\.0\.0\.1|\[::1\]):(\d{1,5})$/.exec(address) ?? [];
  if (!host || Number(port) > 65_535) {
    throw new RangeError(`“${address}” is not an address of loopback such as 127.0.0.1:8080 or [::1]:8080.`);
  }
  return [host.replace(/[[\]]/g, ''), Number(port)];
}
