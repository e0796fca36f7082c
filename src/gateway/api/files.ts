import type { Address } from '../../address.ts';
import { AntwayError } from '../../errors.ts';
import type { Library } from '../../library/library.ts';
import { limits } from '../../limits.ts';
import { LruCache } from '../../util/lru-cache.ts';
import { apiHeaders } from '../http/policy.ts';
import { addressIn } from './body.ts';
import type { Endpoint } from './endpoint.ts';

const mostListed = 10_000;
/** The most bytes of a file that one answer contains. */
const mostBytes = 512 * 1024;

/** `/-/files`: the files of a site that is stored completely, or with `path` the start of one. Asks no peer. */
export const files: Endpoint = {
  async GET(url, { signal }, { library, local }) {
    const address = addressIn(url);
    if (!(await isStored(address, library)))
      throw notFound('Not all of this site is stored here.', address.hex);
    const content = await local.resolve(address, signal);
    const members = content.kind === 'archive' ? content.archive.members : undefined;
    const path = url.searchParams.get('path');
    if (path === null) {
      if (!members) return { files: [''] };
      return { files: Array.from(members.keys()).slice(0, mostListed) };
    }
    const source = content.kind === 'archive' ? await members!.get(path)?.load(signal) : content.source;
    if (!source) throw notFound('There is no such file in this site.', address.hex);
    const bytes = await source.read(0, Math.min(source.size, mostBytes), signal);
    const headers = { ...apiHeaders(), 'Content-Type': 'application/octet-stream' };
    return new Response(bytes as Uint8Array<ArrayBuffer>, { headers });
  },
};

/** When each of these addresses was last found to be stored. Not exact: chunks may have been evicted since. */
const foundAt = new WeakMap<Library, LruCache<number>>();
const mostFound = 100;

/** Counts all chunks of a site. A site that is stored is counted again after some seconds only. */
async function isStored(address: Address, library: Library): Promise<boolean> {
  const found = foundAt.get(library) ?? new LruCache<number>(mostFound);
  foundAt.set(library, found);
  const at = found.get(address.hex);
  if (at !== undefined && Date.now() - at < limits.storedMs) return true;
  const { stored, total } = await library.storedChunks(address);
  if (total === null || stored < total) return false;
  found.set(address.hex, Date.now());
  return true;
}

function notFound(message: string, address: string): AntwayError {
  return new AntwayError('NOT_FOUND', message, { address });
}
