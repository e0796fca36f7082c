import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { createTarchive } from '../archive/create-tar.ts';
import { AntwayError } from '../errors.ts';
import { type Published, publishFile } from '../publish/publish.ts';
import type { ChunkSink } from '../publish/upload.ts';
import { Codec } from '../self-encryption/codec.ts';
import { withEncrypter } from '../self-encryption/encrypter.ts';
import type { RandomAccess } from '../util/random-access.ts';
import { fileError, openDiskFile } from './disk-file.ts';
import { encryptWorkers } from './encrypt-workers.ts';
import { type FolderListing, listFolder } from './folder.ts';
import type { Output } from './output.ts';
import { nodePlatform } from './platform.ts';
import { showPublication } from './progress.ts';

/** Beside the script of the command. */
const workers = encryptWorkers(new URL('antway-encrypt.js', import.meta.url));

/** A file or folder that can be published. */
export type LocalPublication =
  | { kind: 'folder'; listing: FolderListing }
  | { kind: 'file'; source: RandomAccess; filename: string };

/**
 * Reads what is at a path, without the content of files. Reports what is left out.
 * @param ignore patterns in `.gitignore` syntax.
 * @throws AntwayError `UNSUPPORTED` for a folder without files; as `listFolder` and `fileError`.
 */
export async function publicationAt(
  path: string,
  ignore: readonly string[],
  output: Output,
): Promise<LocalPublication> {
  const kind = await stat(path).catch((error) => {
    throw fileError(error, path);
  });
  if (!kind.isDirectory()) {
    return { kind: 'file', source: await openDiskFile(path), filename: basename(resolve(path)) };
  }
  const listing = await listFolder(path, ignore);
  for (const { path, why } of listing.leftOut) output.note(`Left out: ${path} (${why})`);
  if (listing.entries.length === 0) {
    throw new AntwayError('UNSUPPORTED', `“${path}” has no files to publish.`, { path });
  }
  return { kind: 'folder', listing };
}

/** Encrypts a publication into a sink, with progress on a terminal. @throws as `publishFile` and `createTarchive`. */
export async function publishTo(
  sink: ChunkSink,
  publication: LocalPublication,
  output: Output,
  signal: AbortSignal,
): Promise<Published> {
  const display = showPublication(output);
  try {
    const source =
      publication.kind === 'folder' ? createTarchive(publication.listing.entries) : publication.source;
    const settings = { sink, progress: display.update, signal };
    return await withEncrypter(new Codec(nodePlatform), source.size, workers, (codec) =>
      publishFile(source, { ...settings, codec }),
    );
  } finally {
    display.stop();
  }
}

/** The number of files, and the parts of a folder that are left out. */
export function summaryOf(publication: LocalPublication): Pick<FolderListing, 'leftOut'> & { files: number } {
  if (publication.kind === 'file') return { files: 1, leftOut: [] };
  const { entries, leftOut } = publication.listing;
  return { files: entries.length, leftOut };
}

/** The path at a gateway. The name of a single file is not a part of its address; it sets the media type. */
export function urlPathOf({ hex }: { hex: string }, publication: LocalPublication): string {
  return `/${hex}/${publication.kind === 'file' ? encodeURIComponent(publication.filename) : ''}`;
}
