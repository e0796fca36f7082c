import { EndpointError } from '../endpoint.ts';
import type { Facts } from './report.ts';

/** Enough to measure a rate, and little for a mobile network. */
const mostBytes = 2 * 1024 * 1024;

/** How many folders of the site to search for the largest file. */
const mostFolders = 16;

/** A file or a folder as a listing describes it. */
interface Listed {
  path: string;
  size: number;
  path_type: 'FILE' | 'DIRECTORY';
}

/**
 * Reads the largest file of a site, or its beginning, through the worker, which fetches, verifies and decrypts its
 * chunks. Leaves no visit, because it opens no page.
 * @throws EndpointError with the code of the worker's error.
 */
export async function readContent(address: string, signal: AbortSignal): Promise<Facts> {
  const listingAt = performance.now();
  const listing = await get(`/${address}/?format=json`, signal);
  const listMs = Math.round(performance.now() - listingAt);
  const path = await largestFile(`/${address}/`, await listing.json(), signal);
  const startedAt = performance.now();
  const response = await get(path, signal, { Range: `bytes=0-${mostBytes - 1}` });
  const reader = response.body!.getReader();
  let bytes = 0;
  let firstByteAt = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    firstByteAt ||= performance.now();
    bytes += next.value.length;
  }
  const endedAt = performance.now();
  return {
    listMs,
    listChunks: chunksOf(listing),
    bytes,
    firstByteMs: Math.round(firstByteAt - startedAt),
    bytesPerSecond: Math.round((bytes * 1000) / Math.max(endedAt - startedAt, 0.1)),
    chunks: chunksOf(response),
  };
}

/** The number of chunks by source, as the worker tells it. */
function chunksOf({ headers }: Response): string | null {
  return /chunks;desc="([^"]*)"/.exec(headers.get('Server-Timing') ?? '')?.[1] ?? null;
}

/** @param root the site's first folder. @returns the path of the file's URL. */
async function largestFile(site: string, root: readonly Listed[], signal: AbortSignal): Promise<string> {
  const urlOf = (path: string) => site + path.split('/').map(encodeURIComponent).join('/');
  const entries = [...root];
  let folders = 1;
  for (const { path, path_type } of entries) {
    if (path_type !== 'DIRECTORY' || folders === mostFolders) continue;
    folders += 1;
    const listing = await get(`${urlOf(path)}?format=json`, signal);
    entries.push(...((await listing.json()) as Listed[]));
  }
  const files = entries.filter(({ path_type }) => path_type === 'FILE');
  const [largest] = files.sort((a, b) => b.size - a.size);
  return urlOf(largest?.path ?? '');
}

async function get(path: string, signal: AbortSignal, headers: HeadersInit = {}): Promise<Response> {
  const response = await fetch(path, { signal, cache: 'no-store', redirect: 'manual', headers });
  if (response.ok) return response;
  const { code, message } = await response.json().catch(() => ({}));
  throw new EndpointError(code ?? 'INTERNAL', message ?? `The worker answered ${response.status}.`);
}
