import type { Address } from '../address.ts';
import { Chunks } from '../chunks/chunks.ts';
import { DataMaps } from '../content/data-maps.ts';
import { DecryptedChunks } from '../content/decrypted-chunks.ts';
import { findInArchive } from '../content/find-in-archive.ts';
import { Resolver } from '../content/resolver.ts';
import { answerContent } from '../gateway/http/content-response.ts';
import { respond } from '../gateway/http/representation.ts';
import { textsIn } from '../gateway/pages/texts/texts.ts';
import { PeerPool } from '../peers/selection/pool.ts';
import { Codec } from '../self-encryption/codec.ts';
import { Stats } from '../stats/stats.ts';
import { Trace } from '../stats/trace.ts';
import { createArchive } from './ant-archive.ts';
import { AntError, publicError } from './ant-error.ts';
import { createFile } from './ant-file.ts';
import { publicStream } from './body.ts';
import { DirectNodes } from './direct-nodes.ts';
import { parseOptions, refuseUnknown } from './options.ts';
import { portablePlatform } from './platform.ts';
import { openStore } from './store.ts';
import { type FetchTarget, targetOf, textOf } from './target.ts';
import type {
  AntArchive,
  AntFetch,
  AntFetchInit,
  AntFetchOptions,
  AntFile,
  AntInput,
  AntReadInit,
} from './types.ts';

/** Size of the cache for decrypted chunks. */
const memoryBytes = 64 * 1024 ** 2;
const mostRedirects = 20;
/** Only the path of a redirect counts. Nothing asks this host. */
const nowhere = 'https://content.invalid';

/**
 * Creates a client. Every chunk is verified and decrypted here, so no peer and no node is trusted.
 * @throws TypeError for an unknown option or a wrong type, AntError `BAD_CONFIG` for a wrong peer, node or name,
 *   `UNSUPPORTED` for nodes where there is no WebRTC.
 */
export function createAntFetch(options: AntFetchOptions): AntFetch {
  const { peers: urls, nodes: network, names, store: storeOption } = parseOptions(options);
  const stats = new Stats();
  const codec = new Codec(portablePlatform);
  const nodes = network && new DirectNodes(network, storeOption === 'indexeddb');
  const peers = new PeerPool(urls, stats, { nodes });
  const store = openStore(storeOption, stats);
  const chunks = new Chunks({ codec, store, peers, stats });
  const decrypted = new DecryptedChunks({ chunks, codec, peers, stats, memoryBytes });
  const maps = new DataMaps();
  const common = new Resolver({ chunks, decrypted, peers, maps });
  const closed = new AbortController();
  // A signal for each call, so that nothing of a finished call stays attached to the client's own signal.
  const until = (signal: AbortSignal | null | undefined) =>
    AbortSignal.any(signal ? [signal, closed.signal] : [closed.signal]);

  function resolverFor({ address, manifest }: FetchTarget): Resolver {
    if (!manifest) return common;
    const get = async (id: Address) => (id.equals(address) ? manifest : undefined);
    return new Resolver({ chunks, decrypted, peers, maps, manifests: { get } });
  }

  async function fetchAnt(input: AntInput, init: AntFetchInit = {}): Promise<Response> {
    refuseUnknown('antFetch', init, ['method', 'headers', 'signal', 'onProgress']);
    const text = textOf(input);
    const from = input instanceof Request ? input : undefined;
    const signal = until(init.signal === undefined ? from?.signal : init.signal);
    const method = (init.method ?? from?.method ?? 'GET').toUpperCase();
    if (method !== 'GET' && method !== 'HEAD') {
      throw new AntError('METHOD', `${method} is not possible: content is read-only.`);
    }
    const request = new Request(nowhere, { method, headers: init.headers ?? from?.headers ?? {} });
    try {
      signal.throwIfAborted();
      const target = await targetOf(text, names);
      const response = await firstFound(target.paths, (path) => answer(target, path, request, signal));
      if (!response.body) return response;
      const total = Number(response.headers.get('Content-Length') ?? 0);
      const { status, headers } = response;
      return new Response(publicStream(response.body, total, signal, init.onProgress), { status, headers });
    } catch (error) {
      throw publicError(error, signal);
    }
  }

  async function answer(
    target: FetchTarget,
    path: string | undefined,
    request: Request,
    signal: AbortSignal,
  ) {
    const trace = new Trace();
    const { method, headers } = request;
    let at = { path, search: target.search };
    for (let redirects = 0; redirects <= mostRedirects; redirects++) {
      const found = await answerContent(
        { address: target.address, root: '', ...at, query: new URLSearchParams(at.search) },
        {
          resolver: resolverFor(target),
          policyFor: ({ hex }) => ({
            mode: 'embedded',
            isTrusted: false,
            destination: '',
            scope: { origin: nowhere, pathPrefix: '/', workerPath: '/' },
            targetAddress: hex,
          }),
          isNavigation: false,
          accept: headers.get('Accept'),
          isHead: method === 'HEAD',
          range: headers.get('Range'),
          signal,
          trace,
          reader: async () => ({ texts: textsIn('en'), theme: null }),
          reportUrl: async () => undefined,
        },
      );
      if (found.kind === 'representation') {
        const { representation } = found;
        // A policy for documents of a gateway says nothing to a program.
        const { 'Content-Security-Policy': _, ...headers } = representation.headers;
        const observer = { sent: () => undefined, ended: () => undefined };
        return respond({ ...representation, headers }, request, signal, observer, trace);
      }
      const { pathname, search } = new URL(found.location, nowhere);
      at = { path: decodeURIComponent(pathname.slice(1)), search };
    }
    throw new AntError('NOT_FOUND', `The content redirects more than ${mostRedirects} times.`);
  }

  async function open(
    input: AntInput,
    init: Pick<AntReadInit, 'signal'> = {},
  ): Promise<AntFile | AntArchive> {
    refuseUnknown('open', init, ['signal']);
    const text = textOf(input);
    const from = input instanceof Request ? input : undefined;
    const signal = until(init.signal === undefined ? from?.signal : init.signal);
    try {
      signal.throwIfAborted();
      const target = await targetOf(text, names);
      const { content, address } = await resolverFor(target).locate(target.address, signal);
      const parts = { address: address.hex, until };
      if (content.kind !== 'archive') {
        return await createFile({ ...parts, name: target.filename ?? '', source: content.source }, signal);
      }
      const found = await firstFound(target.paths, (path = '') =>
        findInArchive(target.address, content.archive, path, signal),
      );
      if (found.kind === 'folder') return createArchive(found.archive, found.folder, parts);
      const name = found.path.slice(found.path.lastIndexOf('/') + 1);
      return await createFile({ ...parts, name, source: found.source }, signal);
    } catch (error) {
      throw publicError(error, signal);
    }
  }

  let closing: Promise<void> | undefined;
  function close(): Promise<void> {
    closing ??= end();
    return closing;
  }

  async function end(): Promise<void> {
    closed.abort(new DOMException('This antFetch is closed.', 'AbortError'));
    peers.close();
    nodes?.close();
    await store.flush();
  }

  return Object.assign(fetchAnt, { open, close });
}

/** Tries the possible meanings of a path. @throws the first error, or another than `NOT_FOUND` at once. */
async function firstFound<P, T>(paths: readonly P[], find: (path: P) => Promise<T>): Promise<T> {
  let missing: unknown;
  for (const path of paths) {
    try {
      return await find(path);
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'NOT_FOUND') throw error;
      missing ??= error;
    }
  }
  throw missing;
}
