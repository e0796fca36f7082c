import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, sep } from 'node:path';
import { lookup } from 'mrmime';
import { noDevices, noPasskeys } from '../gateway/http/policy.ts';
import { matchesEtag } from './access.ts';
import { HttpError } from './http-error.ts';
import { parseHost, type RequestHost } from './request-host.ts';
import { sendPieces } from './send-pieces.ts';
import { gatewayPages, openerPolicyOf, policyOf, siteWorker, worker } from './web-policy.ts';

/** The prefix of the gateway's own paths, which are not part of the shell. */
const gatewayPath = '/-/';
/** Pages that only the root origin has. */
const rootPages: ReadonlySet<string> = new Set(['/-/move', '/-/self-test']);
/** Pages that frames may show. Their policies name the allowed parents. */
const framedPages: ReadonlySet<string> = new Set(['/-/bridge', '/-/root']);
/** A gateway uses this file to check whether the names of sites lead to the same host. */
const probe = /^\/-\/probe-.*\.json$/;
/** The probe, and WebAssembly, which the origins of sites read from the gateway's. */
const readableByOthers = /^\/(-\/probe-.*\.json|assets\/.*\.wasm)$/;
/** No file of the gateway has a longer path. */
const maxPathCharacters = 1_024;
/** A longer list of encodings counts as none. */
const maxEncodingsCharacters = 1_024;
const encodings = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;

export interface WebFilesOptions {
  /** The folder of the built gateway. */
  folder: string;
  /** A file that replaces the folder's `antway.json`. */
  config: string | undefined;
}

interface WebFile {
  /** The path in URLs. It determines the content type and the caching. */
  path: string;
  file: string;
  etag: string;
  size: number;
  encoding: string | undefined;
}

/** Serves the built gateway: its files, and its start page for deep links. */
export class WebFiles {
  readonly #folder: string;
  readonly #config: string | undefined;

  private constructor(folder: string, config: string | undefined) {
    this.#folder = folder;
    this.#config = config;
  }

  /** @throws the errors of `node:fs` if the folder has no start page. */
  static async open({ folder, config }: WebFilesOptions): Promise<WebFiles> {
    const real = await realpath(folder);
    await stat(join(real, 'index.html'));
    return new WebFiles(real, config);
  }

  /** @param path of the URL, still encoded. @throws HttpError; the errors of `node:fs`. */
  async answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    if (path === '/-/share' && request.method === 'POST') {
      // The installed app's worker takes shared data. Without a worker, the start page installs it again.
      response.writeHead(303, { Location: '/', 'Content-Length': 0 }).end();
      return;
    }
    const host = parseHost(request.headers.host);
    setHostHeaders(response, host, path);
    if (host.kind === 'site' && isFrame(request) && !framedPages.has(path)) {
      // The worker of a site answers other sites' frames in the same way.
      throw new HttpError('FORBIDDEN', { message: 'no other page shows this page in a frame' });
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') throw new HttpError('METHOD');
    if (host.kind === 'loopback6' && isPageNavigation(request)) {
      const location = `http://antway.localhost${host.port}${request.url}`;
      response.writeHead(307, { 'Cache-Control': 'no-store', Location: location, 'Content-Length': 0 }).end();
      return;
    }
    const found = await this.#find(request, host, path);
    if (!found) throw new HttpError('NOT_FOUND');
    setHostHeaders(response, host, found.path);
    await send(found, request, response);
  }

  async #find(request: IncomingMessage, host: RequestHost, path: string): Promise<WebFile | undefined> {
    if (path === '/antway.json' && this.#config) return fileAt(this.#config, path);
    const accepted = acceptedEncodings(request);
    const isSite = host.kind === 'site';
    // On the origin of a site, every path belongs to the site, even if the shell has a file with this path.
    if (isSite && !path.startsWith(gatewayPath) && isPageNavigation(request)) {
      const page = await this.#file(gatewayPages.site, accepted);
      if (page) return page;
    }
    if (isSite && rootPages.has(path.replace(/\.html$/, ''))) return undefined;
    // `/sw.js?whole` is the script itself, for a site whose import from the gateway's origin failed.
    if (isSite && request.url === worker) {
      const script = await this.#file(siteWorker, accepted);
      if (script) return script;
    }
    const found = await this.#file(path, accepted);
    if (found) return found;
    // The gateway's own paths have no deep links. Their pages are served without the suffix.
    if (path.startsWith(gatewayPath)) return this.#file(`${path}.html`, accepted);
    return isPageNavigation(request) ? this.#file('/', accepted) : undefined;
  }

  async #file(path: string, accepted: readonly string[]): Promise<WebFile | undefined> {
    const segments = segmentsOf(path);
    if (!segments) return undefined;
    if (segments.at(-1) === '') segments.splice(-1, 1, 'index.html');
    const shown = `/${segments.join('/')}`;
    const plain = join(this.#folder, ...segments);
    // Some clients accept no compression, so the uncompressed file must exist.
    if (!(await this.#contains(plain))) return undefined;
    for (const { name, suffix } of encodings) {
      if (!accepted.includes(name) || !(await this.#contains(plain + suffix))) continue;
      return fileAt(plain + suffix, shown, name);
    }
    return fileAt(plain, shown);
  }

  /** Whether this is a file in the folder, also after symbolic links are resolved. */
  async #contains(file: string): Promise<boolean> {
    try {
      const real = await realpath(file);
      return real.startsWith(this.#folder + sep) && (await stat(real)).isFile();
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(code)) return false;
      throw error;
    }
  }
}

function setHostHeaders(response: ServerResponse, host: RequestHost, path: string): void {
  response.setHeader('Content-Security-Policy', policyOf(host, path));
  response.setHeader('Cross-Origin-Opener-Policy', openerPolicyOf(host, path));
  response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
  response.setHeader('Origin-Agent-Cluster', '?1');
  const features = host.kind === 'site' ? `${noPasskeys}, ${noDevices}` : noDevices;
  response.setHeader('Permissions-Policy', features);
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('X-DNS-Prefetch-Control', 'off');
}

async function send(found: WebFile, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (readableByOthers.test(found.path)) response.setHeader('Access-Control-Allow-Origin', '*');
  if (probe.test(found.path)) response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  // The origins of sites import it.
  if (found.path === worker) response.setHeader('Cross-Origin-Resource-Policy', 'same-site');
  response.setHeader('ETag', found.etag);
  response.setHeader('Vary', 'Accept-Encoding');
  response.setHeader('Cache-Control', cachingOf(found.path));
  if (matchesEtag(request, found.etag)) {
    response.writeHead(304).end();
    return;
  }
  response.setHeader('Accept-Ranges', 'bytes');
  const range = request.method === 'GET' ? rangeOf(request, found) : undefined;
  if (range === 'outside') {
    response.removeHeader('ETag');
    response.setHeader('Cache-Control', 'no-store');
    response.writeHead(416, { 'Content-Range': `bytes */${found.size}`, 'Content-Length': 0 }).end();
    return;
  }
  response.setHeader('Content-Type', contentTypeOf(found.path));
  if (found.encoding) response.setHeader('Content-Encoding', found.encoding);
  const { start, end } = range ?? { start: 0, end: found.size };
  if (range) response.setHeader('Content-Range', `bytes ${start}-${end - 1}/${found.size}`);
  response.setHeader('Content-Length', end - start);
  response.writeHead(range ? 206 : 200);
  if (request.method === 'HEAD' || end === start) response.end();
  else await sendPieces(response, createReadStream(found.file, { start, end: end - 1 }), end - start);
}

/** Names in `/assets/` contain a hash of the content. All other files may change. */
function cachingOf(path: string): string {
  if (path.startsWith('/assets/')) return 'public, max-age=31536000, immutable';
  return probe.test(path) ? 'no-store' : 'no-cache';
}

/** The requested range, with an exclusive end. Undefined if the whole file is the right answer. */
function rangeOf(
  { headers }: IncomingMessage,
  { size, etag }: WebFile,
): { start: number; end: number } | 'outside' | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(headers.range ?? '') ?? [];
  const ifRange = headers['if-range'];
  if (first === undefined || last === undefined || first + last === '') return undefined;
  if (ifRange !== undefined && ifRange !== etag) return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return start < end ? { start, end } : 'outside';
}

async function fileAt(file: string, path: string, encoding?: string): Promise<WebFile | undefined> {
  const found = await stat(file, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!found) return undefined;
  // Builds may set the time of modification, but not the time of the last change to the file or its metadata.
  const tag = [found.size, found.ino, found.ctimeNs].map((value) => value.toString(16)).join('-');
  return { path, file, encoding, size: Number(found.size), etag: `"${tag}${encoding ?? ''}"` };
}

/** The decoded segments of a URL's path. Undefined if a segment could leave the folder or names a hidden file. */
function segmentsOf(path: string): string[] | undefined {
  if (path.length > maxPathCharacters) return undefined;
  try {
    const segments = path.slice(1).split('/').map(decodeURIComponent);
    const isSafe = (name: string) =>
      !/[/\\\0]/.test(name) && (!name.startsWith('.') || name === '.well-known');
    const hasOnlyNames = segments.slice(0, -1).every((name) => name !== '');
    return hasOnlyNames && segments.every(isSafe) ? segments : undefined;
  } catch {
    return undefined; // invalid percent-encoding
  }
}

function contentTypeOf(path: string): string {
  const type = lookup(path) ?? 'application/octet-stream';
  return /^text\/|javascript/.test(type) ? `${type}; charset=utf-8` : type;
}

function acceptedEncodings({ headers }: IncomingMessage): string[] {
  const list = String(headers['accept-encoding'] ?? '');
  if (list.length > maxEncodingsCharacters) return [];
  const items = list.split(',');
  const parts = items.map((item) => item.split(';').map((part) => part.trim().toLowerCase()));
  const weightOf = (parameters: readonly string[]) =>
    Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length) ?? 1);
  return parts.filter(([, ...parameters]) => weightOf(parameters) > 0).map(([name]) => name!);
}

function isFrame({ headers }: IncomingMessage): boolean {
  return ['iframe', 'frame', 'object', 'embed', 'fencedframe'].includes(String(headers['sec-fetch-dest']));
}

/**
 * Whether the request is a navigation to a page. Chromium sends requests for `<a download>` links to the host. They are
 * navigations, too, but must not save the start page under another file's name.
 */
function isPageNavigation({ headers }: IncomingMessage): boolean {
  const destination = headers['sec-fetch-dest'];
  if (destination !== undefined) return ['document', 'iframe', 'frame'].includes(String(destination));
  return Boolean(headers.accept?.includes('text/html')) || headers['sec-fetch-mode'] === 'navigate';
}
