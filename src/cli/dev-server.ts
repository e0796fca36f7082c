import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Address } from '../address.ts';
import { Chunks } from '../chunks/chunks.ts';
import { noStore } from '../chunks/store.ts';
import { DecryptedChunks } from '../content/decrypted-chunks.ts';
import { Resolver } from '../content/resolver.ts';
import { AntwayError, asAntwayError } from '../errors.ts';
import { answerContent } from '../gateway/http/content-response.ts';
import type { PolicyRequest } from '../gateway/http/policy.ts';
import { respond } from '../gateway/http/representation.ts';
import { textsIn } from '../gateway/pages/texts/texts.ts';
import { Connections } from '../node-peer/connections.ts';
import type { PeerStore } from '../node-peer/peer-store.ts';
import { isLoopbackName, withoutPort } from '../node-peer/request-host.ts';
import { readOn } from '../node-peer/send-pieces.ts';
import type { ChunkPeers } from '../peers/chunk-peers.ts';
import { Codec } from '../self-encryption/codec.ts';
import { Stats } from '../stats/stats.ts';
import { Trace } from '../stats/trace.ts';
import { nodePlatform } from './platform.ts';

const eventsPath = '/-/reload';
const scriptPath = '/-/reload.js';
const script = `new EventSource('${eventsPath}').onmessage = () => location.reload();\n`;
const scriptTag = new TextEncoder().encode(`<script src="${scriptPath}"></script>\n`);
const memoryBytes = 64 * 1024 ** 2;

/**
 * Serves the newest version of a site at one stable origin, with the code that answers in a gateway: the same types,
 * routes, redirects and policies. Pages get a script that reloads them when the site has changed.
 */
export class DevServer {
  readonly #server: Server;
  readonly #connections = new Connections();
  readonly #resolver: Resolver;
  readonly #listeners = new Set<ServerResponse>();
  #address: Address;
  #url = '';

  private constructor(store: PeerStore, address: Address) {
    this.#address = address;
    const peers = storePeers(store);
    const codec = new Codec(nodePlatform);
    const stats = new Stats();
    const chunks = new Chunks({ codec, store: noStore, peers, stats });
    const decrypted = new DecryptedChunks({ chunks, codec, peers, stats, memoryBytes });
    this.#resolver = new Resolver({ chunks, decrypted, peers });
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#connections.watch(this.#server);
  }

  /** @throws the errors of listening. */
  static async start(store: PeerStore, address: Address, port: number): Promise<DevServer> {
    const server = new DevServer(store, address);
    server.#server.listen(port, '127.0.0.1');
    await once(server.#server, 'listening');
    server.#url = `http://localhost:${(server.#server.address() as AddressInfo).port}`;
    return server;
  }

  get url(): string {
    return this.#url;
  }

  /** Serves another version, and reloads all open pages. */
  show(address: Address): void {
    this.#address = address;
    for (const response of this.#listeners) response.write(`data: ${address.hex}\n\n`);
  }

  async close(): Promise<void> {
    this.#connections.close();
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!(await this.#connections.turnOf(request, response))) return;
    try {
      // Security: another site's name could lead to this machine, and its pages could then read the drafts.
      if (!isLoopbackName(withoutPort(request.headers.host ?? ''))) {
        throw new AntwayError('REFUSED', 'This server answers under the name localhost only.');
      }
      // Security: any website could have this computer make archives, with requests whose answers it does not see.
      const { 'sec-fetch-site': site, 'sec-fetch-mode': mode } = request.headers;
      if (site === 'cross-site' && mode !== 'navigate')
        throw new AntwayError('REFUSED', 'This server answers no requests of other websites.');
      const path = request.url!.split('?', 1)[0];
      if (path === eventsPath) return this.#listen(response);
      if (path === scriptPath) return void sendText(response, 200, script, 'text/javascript; charset=utf-8');
      await this.#answerContent(request, response);
    } catch (error) {
      if (response.headersSent) return void response.destroy();
      const { status, code, message } = asAntwayError(error);
      sendText(response, status, `${code}: ${message}\n`);
    }
  }

  /** @throws AntwayError `BAD_ADDRESS` unless the target of the request is a path. */
  #urlOf(target: string): URL {
    if (!target.startsWith('/'))
      throw new AntwayError('BAD_ADDRESS', 'The target of the request is no path.');
    // Not relative to the origin: a target that begins with two slashes would name another host.
    return new URL(this.#url + target);
  }

  #listen(response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.write('retry: 500\n\n');
    this.#listeners.add(response);
    response.once('close', () => this.#listeners.delete(response));
  }

  async #answerContent(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', headers } = message;
    if (method !== 'GET' && method !== 'HEAD')
      throw new AntwayError('METHOD', `${method} is not allowed here.`);
    const ended = new AbortController();
    response.once('close', () => ended.abort());
    const { signal } = ended;
    const url = this.#urlOf(message.url!);
    const address = this.#address;
    const destination = String(headers['sec-fetch-dest'] ?? 'document');
    const policy = (content: Address): PolicyRequest => ({
      mode: 'own-origin',
      isTrusted: true,
      destination,
      scope: { origin: this.#url, pathPrefix: '/', workerPath: '/sw.js' },
      targetAddress: content.hex,
    });
    const answer = await answerContent(
      {
        address,
        root: '',
        path: decoded(url.pathname.slice(1)),
        query: url.searchParams,
        search: url.search,
      },
      {
        resolver: this.#resolver,
        policyFor: policy,
        isNavigation: destination === 'document' || destination === 'iframe',
        accept: headers.accept ?? null,
        isHead: method === 'HEAD',
        range: headers.range ?? null,
        signal,
        trace: new Trace(),
        reader: async () => ({ texts: textsIn('en'), theme: null }),
        reportUrl: async () => undefined,
      },
    );
    if (answer.kind === 'redirect') {
      const { location, status = 301 } = answer;
      response
        .writeHead(status === 301 ? 302 : status, { Location: location, 'Cache-Control': 'no-store' })
        .end();
      return;
    }
    const request = new Request(url, { method, headers: conditionalHeaders(headers) });
    const found = await respond(
      answer.representation,
      request,
      signal,
      { sent() {}, ended() {} },
      new Trace(),
    );
    await send(found, response, method === 'HEAD');
  }
}

/** Only a range matters: the same path has another content after each change. */
function conditionalHeaders({ range }: IncomingMessage['headers']): Record<string, string> {
  return range === undefined ? {} : { Range: range };
}

async function send(found: Response, response: ServerResponse, isHead: boolean): Promise<void> {
  const headers = Object.fromEntries(found.headers);
  for (const name of ['etag', 'content-length', 'cache-control']) delete headers[name];
  headers['cache-control'] = 'no-store';
  const isPage = /^text\/html\b/.test(headers['content-type'] ?? '') && found.status !== 206;
  response.writeHead(found.status, headers);
  if (!isHead && found.body) {
    for await (const piece of found.body) {
      if (!response.write(piece)) await readOn(response);
      if (response.destroyed) return;
    }
    // Browsers run a script behind the end of a document.
    if (isPage) response.write(scriptTag);
  }
  response.end();
}

function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  type = 'text/plain; charset=utf-8',
): void {
  response.writeHead(status, {
    'Content-Type': type,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(text);
}

/** @throws AntwayError `BAD_ADDRESS` */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (cause) {
    throw new AntwayError('BAD_ADDRESS', 'The path has an invalid percent-encoding.', {}, { cause });
  }
}

function storePeers(store: PeerStore): ChunkPeers {
  return {
    async fetch(address, { verify }) {
      const bytes = await store.read(address);
      if (!bytes)
        throw new AntwayError('NOT_FOUND', 'This is not a part of the site.', { address: address.hex });
      return verify(new Uint8Array(bytes));
    },
  };
}
