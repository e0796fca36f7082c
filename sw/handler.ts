/// <reference lib="webworker" />
import sodiumWasmUrl from 'virtual:libsodium.wasm?url';
import { decoderHash, sodiumHash } from 'virtual:wasm-hashes';
import decoderWasmUrl from 'brotli-dec-wasm/web/bg.wasm?url';
import { parseServerConfig } from '../src/config.ts';
import { AntwayError } from '../src/errors.ts';
import { embeddedAt } from '../src/gateway/deployment.ts';
import { ServerConfigFile, type ServerConfigSource } from '../src/gateway/state/server-config-file.ts';
import { stateStore } from '../src/gateway/state/state-store.ts';
import { loadAead } from '../src/self-encryption/aead.ts';
import type { ServerConfig } from '../src/server-config.ts';
import { registerBackgroundSync } from './background-sync.ts';
import { filesCacheName } from './caches.ts';
import { VerifiedFiles } from './verified-files.ts';
import { clientOf, createWorkerGateway, isOpen } from './worker-gateway.ts';

declare const self: ServiceWorkerGlobalScope;

export interface HandlerOptions {
  /** The path at which the content's URLs begin. Default: `ant/` below the worker's scope. */
  prefix?: string;
  /** The server config, as in `antway.json`. Default: the worker reads `antway.json` from the folder of its script. */
  config?: ServerConfig;
  /** The URL of the folder with Antway's `.wasm` files. Default: the folder of the worker's script. */
  assets?: string;
}

/** Antway's part of a site's worker. */
export interface AntwayHandler {
  /** The path at which the content's URLs begin, with a slash at both ends. */
  readonly prefix: string;
  /** Whether Antway handles this URL. */
  matches(url: URL | string): boolean;
  /**
   * Responds to a fetch event whose URL `matches`. Never rejects because of content: every error becomes a response.
   */
  handle(event: FetchEvent): Promise<Response>;
}

/**
 * Creates the part of a site's worker that serves content addresses. Call it once, during the first run of the worker's
 * script. It registers event listeners. On `install` it stores the files that it needs offline. On a message of the
 * page's script it claims the page, which the page needs after a hard reload.
 * @throws AntwayError `BAD_CONFIG` for an invalid `prefix`. An invalid `config` does not throw here: every response and
 *   the page's script report the error.
 */
export function createHandler(options: HandlerOptions = {}): AntwayHandler {
  const { scope } = self.registration;
  const script = self.location.href;
  const prefix = prefixBelow(scope, options.prefix ?? 'ant/');
  const assets = new URL(options.assets ?? './', script).href;
  // A build knows only the file names. The site decides where the files are.
  const fileOf = (url: string, sha256: string) => ({ url: assets + url.split('/').pop(), sha256 });
  const brotli = fileOf(decoderWasmUrl, decoderHash);
  const sodium = fileOf(sodiumWasmUrl, sodiumHash);
  const readSodium = () => files.readWasm(sodium);
  const { origin, pathname: workerPath } = self.location;
  const gateway = createWorkerGateway(embeddedAt(origin, prefix, workerPath), {
    platform: { brotliDecoderWasm: () => files.readWasm(brotli), sodiumWasm: readSodium },
    serverConfig: hostConfig(options.config, script),
  });
  const files = new VerifiedFiles(filesCacheName(), gateway.stats);
  const requestSync = registerBackgroundSync(gateway);
  self.addEventListener('install', (event) =>
    event.waitUntil(Promise.all([files.read(brotli), loadAead(undefined, readSodium)])),
  );
  self.addEventListener('activate', (event) => event.waitUntil(files.forgetOthers([brotli, sodium])));
  self.addEventListener('message', (event) => {
    if (event.data?.type === 'antway:claim') event.waitUntil(self.clients.claim());
  });

  const matches = (url: URL | string): boolean => {
    const { origin, pathname } = new URL(url, self.location.href);
    return origin === self.location.origin && pathname.startsWith(prefix);
  };
  return {
    prefix,
    matches,
    async handle(event) {
      const response = await gateway.handle(event.request, {
        waitUntil: (work) => event.waitUntil(work),
        client: () => clientOf(event),
        clientIds: { asking: event.clientId, created: event.resultingClientId },
        isOpen,
        requestSync,
      });
      return response ?? fetch(event.request);
    },
  };
}

function prefixBelow(scope: string, prefix: string): string {
  const url = URL.canParse(prefix, scope) ? new URL(prefix, scope) : undefined;
  const isBelow = url?.href.startsWith(scope) && url.href !== scope;
  if (!url || !isBelow || url.search || url.hash || !url.pathname.endsWith('/') || url.pathname === '/') {
    throw new AntwayError(
      'BAD_CONFIG',
      `prefix: “${prefix}” must be a path below the worker’s scope (${new URL(scope).pathname}) that ends with a slash.`,
      { key: 'prefix' },
    );
  }
  return url.pathname;
}

function hostConfig(config: ServerConfig | undefined, script: string): ServerConfigSource {
  if (config !== undefined) {
    return {
      stored: async () => undefined,
      fetch: async () => withPeers(parseServerConfig(config, 'Antway’s options')),
    };
  }
  const file = new ServerConfigFile(stateStore, new URL('antway.json', script).pathname);
  return {
    // `fetch` below rejects a config without peers, but `ServerConfigFile` has stored it by then.
    async stored() {
      const stored = await file.stored();
      return stored?.peers?.length ? stored : undefined;
    },
    fetch: async () => withPeers(await file.fetch()),
    forget: () => file.forget(),
  };
}

/** A static host is not a peer, so there is no default peer. */
function withPeers<File extends ServerConfig | null | undefined>(file: File): File {
  if (file === undefined || file?.peers?.length) return file;
  throw new AntwayError(
    'BAD_CONFIG',
    'peers: there is none. Name one in data-peers, or in an antway.json beside the worker’s script.',
    { key: 'peers' },
  );
}
