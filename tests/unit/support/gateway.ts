import 'fake-indexeddb/auto';
import { createStore } from 'idb-keyval';
import type { Address } from '../../../src/address.ts';
import { IndexedDbStore } from '../../../src/chunks/indexed-db-store.ts';
import { nodePlatform } from '../../../src/cli/platform.ts';
import { parseServerConfig } from '../../../src/config.ts';
import { createGateway, type Gateway, type GatewayPeers } from '../../../src/gateway/create-gateway.ts';
import type { Deployment } from '../../../src/gateway/deployment.ts';
import type { RequestContext } from '../../../src/gateway/request-context.ts';
import type { FetchOptions } from '../../../src/peers/chunk-peers.ts';
import type { PeerDescription } from '../../../src/peers/selection/pool.ts';
import type { PeerNetwork } from '../../../src/peers/transports/protocol.ts';
import type { ServerConfig } from '../../../src/server-config.ts';
import { Stats } from '../../../src/stats/stats.ts';
import type { Received } from '../../http/case.ts';
import type { Exchange } from '../../http/exchange.ts';
import { sha256 } from '../../support/tar.ts';
import type { Records } from './encrypted-file.ts';
import { MemoryPeers } from './fake-network.ts';

const peer = 'https://peer.example';

/** Peers in memory that also have pointers, by hex address. */
export class Network extends MemoryPeers implements GatewayPeers {
  readonly #pointers: Records;
  /** The lookups of the peer `https://peer.example`. */
  looksFor: Address[] = [];
  state: PeerNetwork | null = null;

  constructor(records: Records, pointers: Records = new Map()) {
    super(records);
    this.#pointers = pointers;
  }

  async pointers<T>({ hex }: { hex: string }, { verify }: FetchOptions<T>): Promise<T[]> {
    const record = this.#pointers.get(hex);
    return record ? [verify(record)] : [];
  }

  describe(): PeerDescription[] {
    return [{ url: peer, kind: 'antway', namedBy: null, state: 'http', answers: true, network: this.state }];
  }
  lookups() {
    return this.looksFor.map((address) => ({ peer, address, since: Date.now() }));
  }
  async networks() {
    return [{ peer, network: this.state }];
  }
  async check() {}
  warm() {}
  wake() {}
  close() {}
}

export interface StartOptions {
  config?: ServerConfig;
  records?: Records;
  pointers?: Records;
  /** Default: a network with these records and pointers. `'real'`: the peers of the configuration. */
  network?: Network | 'real';
  /** Fetches the server config. Default: `config`. */
  fetchConfig?: () => Promise<ServerConfig>;
  /** Default: none, so that no site has an origin of its own. */
  buildHash?: string;
}

/** A whole gateway in this process, with storage in memory. The storage is that of the test's file. */
export function startGateway(
  deployment: Deployment,
  {
    config = {},
    records = new Map(),
    pointers,
    network = new Network(records, pointers),
    fetchConfig,
    buildHash,
  }: StartOptions = {},
): Gateway {
  const stats = new Stats();
  const file = parseServerConfig({ peers: [peer], ...config });
  return createGateway(deployment, {
    stats,
    store: new IndexedDbStore(stats),
    state: createStore('antway', 'settings'),
    platform: nodePlatform,
    serverConfig: { stored: async () => undefined, fetch: fetchConfig ?? (async () => file) },
    ...(network !== 'real' && { peers: () => network }),
    notify: () => undefined,
    ...(buildHash !== undefined && { buildHash }),
  });
}

/** The context of a request from the shell. Work that goes on after the answer is not awaited. */
export function contextOf(origin: string): RequestContext {
  return {
    waitUntil: (work) => void work.catch(() => undefined),
    client: async () => ({ url: `${origin}/`, isTopLevel: true }),
    requestSync: () => undefined,
  };
}

/** A request as a worker gets it, of a link on a page of the same origin. */
export function linkTo(url: string): Request {
  return Object.defineProperty(requestOf(url, {}, 'document'), 'referrer', {
    value: `${new URL(url).origin}/`,
  });
}

/** A request as a worker gets it. `mode` and `destination` cannot be set on one that is made by hand. */
export function requestOf(
  url: string,
  init: RequestInit,
  as: 'fetch' | 'document' | 'iframe' | 'object' | 'embed',
): Request {
  const request = new Request(url, { ...init, headers: { Accept: '*/*', ...init.headers } });
  if (as === 'fetch') return request;
  request.headers.set('Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8');
  return Object.defineProperties(request, {
    mode: { value: 'navigate' },
    destination: { value: as },
    // The user typed the URL, or a page of the same origin frames it.
    referrer: { value: as === 'document' ? '' : `${new URL(url).origin}/`, configurable: true },
  });
}

/** The answer of a gateway, with its whole body read. */
export async function answerOf(gateway: Gateway, request: Request): Promise<Received> {
  // The host answers all other requests; here it has nothing.
  const response =
    (await gateway.handle(request, contextOf(new URL(request.url).origin))) ??
    new Response(null, { status: 404 });
  const bytes = Buffer.from(await response.arrayBuffer());
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    size: bytes.length,
    sha256: sha256(bytes),
    text: bytes.toString(),
  };
}

/** Asks a gateway as the shell and a user do. */
export function inProcess(gateway: Gateway, origin: string): Exchange {
  return async ({ method, path, headers, body, as, isLink }) => {
    const request = requestOf(origin + path, { method, headers, ...(body !== undefined && { body }) }, as);
    if (isLink) Object.defineProperty(request, 'referrer', { value: `${origin}/` });
    return answerOf(gateway, request);
  };
}
