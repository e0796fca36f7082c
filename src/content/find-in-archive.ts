import type { Address } from '../address.ts';
import { AntwayError } from '../errors.ts';
import type { Archive } from './archive.ts';
import type { ByteSource } from './byte-source.ts';

export type FoundInArchive =
  | { kind: 'file'; source: ByteSource; path: string }
  /** `folder` is `''` for the root, otherwise with a slash at its end. */
  | { kind: 'folder'; archive: Archive; folder: string };

/**
 * Finds a file or a folder. A folder never becomes its `index.html`, which a browser would show.
 * @throws AntwayError `NOT_FOUND`; the errors of loading.
 */
export async function findInArchive(
  { hex }: Address,
  archive: Archive,
  path: string,
  signal: AbortSignal,
): Promise<FoundInArchive> {
  const folder = path === '' || path.endsWith('/') ? path : `${path}/`;
  if (folder !== path) {
    const found = archive.find(path);
    if (found.kind === 'member' && found.status === undefined) {
      return { kind: 'file', source: await found.member.load(signal), path: found.member.path };
    }
    if (found.kind === 'missing') throw missing(`There is no “${path}” in this archive: ${found.reason}.`);
  }
  // A folder may have another spelling in the archive: Unicode has two forms of many letters.
  const entries = archive.folder(folder);
  if (!entries) throw missing(`There is no “${path}” in this archive.`);
  const [first] = entries;
  const inside = first && (first.kind === 'folder' ? first.path.slice(0, -1) : first.member.path);
  return { kind: 'folder', archive, folder: inside ? inside.slice(0, inside.lastIndexOf('/') + 1) : folder };

  function missing(message: string): AntwayError {
    return new AntwayError('NOT_FOUND', message, { address: hex, path });
  }
}
