import { blockBytes, isTar } from '../archive/tar-header.ts';
import { isZip } from '../archive/zip-directory.ts';
import type { Trace } from '../stats/trace.ts';
import type { Archive } from './archive.ts';
import type { ByteSource } from './byte-source.ts';
import { isManifest } from './manifest.ts';
import { loadZip } from './zip.ts';

export type Identity = { format: 'file' | 'manifest' | 'tar' } | { format: 'zip'; archive: Archive };

/** Reads the bytes by which `identify` knows most formats. */
export function readStart(file: ByteSource, signal?: AbortSignal, trace?: Trace): Promise<Uint8Array> {
  return file.read(0, Math.min(blockBytes, file.size), signal, trace);
}

/**
 * Finds out the format of a file. Readers and inventories both use it, so that they agree. Of a ZIP it reads the
 * directory, because a document in the form of a ZIP is a file.
 * @param start the result of `readStart`.
 */
export async function identify(file: ByteSource, start: Uint8Array, signal?: AbortSignal): Promise<Identity> {
  if (isManifest(start)) return { format: 'manifest' };
  if (isTar(start)) return { format: 'tar' };
  const archive = isZip(start) ? await loadZip(file, signal) : undefined;
  return archive ? { format: 'zip', archive } : { format: 'file' };
}

/** The kind of content. A manifest counts as a file here: its entries decide, and only if no other manifest names it. */
export function kindOf({ format }: Identity): 'file' | 'archive' {
  return format === 'tar' || format === 'zip' ? 'archive' : 'file';
}
