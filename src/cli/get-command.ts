import { once } from 'node:events';
import type { Address } from '../address.ts';
import { Chunks } from '../chunks/chunks.ts';
import { noStore } from '../chunks/store.ts';
import type { Archive } from '../content/archive.ts';
import type { ByteSource } from '../content/byte-source.ts';
import { Resolver } from '../content/resolver.ts';
import { AntwayError } from '../errors.ts';
import { PeerPool } from '../peers/pool.ts';
import { Codec } from '../self-encryption/codec.ts';
import { Stats } from '../stats/stats.ts';
import type { GetArguments } from './arguments.ts';
import { writeAtomically } from './atomic-file.ts';
import { chunkFolderSource } from './chunk-folder.ts';
import { nodePlatform } from './platform.ts';

/** Opened chunks kept in memory: an archive's index and its first chunk are read more than once. */
const memoryBytes = 64 * 1024 ** 2;

/** AntTP's shape of a listing, which `--json` gives as the gateway does. */
interface PathDetail {
  /** From the archive's root. A folder ends in `/`. */
  path: string;
  /** The last part of the path. */
  display: string;
  /** Seconds since 1970; 0 when unknown. */
  modified: number;
  /** In bytes; 0 for a folder. */
  size: number;
  path_type: 'FILE' | 'DIRECTORY';
}

/**
 * `antway get`: writes a file, or lists a folder.
 * @throws AntwayError `NOT_FOUND` for a path that is not in the archive, and as the content and chunk layers.
 */
export async function getCommand(options: GetArguments, signal: AbortSignal): Promise<void> {
  const { address, from, out, json } = options;
  const stats = new Stats();
  const pool =
    from === undefined
      ? new PeerPool(
          options.peers.map((url) => ({ url, certificateHashes: [] })),
          stats,
        )
      : undefined;
  const chunks = new Chunks({
    codec: new Codec(nodePlatform),
    store: noStore,
    peers: pool ?? chunkFolderSource(from!),
    stats,
    memoryBytes,
  });
  try {
    const content = await new Resolver(chunks).resolve(address, signal);
    const found =
      content.kind === 'archive'
        ? findInArchive(address, content.archive, options.path ?? '')
        : { source: content.source, path: options.path ?? '' };
    if ('listing' in found) {
      const text = json ? `${JSON.stringify(found.listing)}\n` : formatListing(found.listing);
      await write(out, [new TextEncoder().encode(text)]);
      return;
    }
    const { source, path } = found;
    await write(out, source.stream(0, source.size, signal));
    if (json)
      process.stdout.write(`${JSON.stringify({ address: address.hex, path, size: source.size, out })}\n`);
  } finally {
    pool?.close();
  }
}

/** A folder is listed even where a browser would be shown its `index.html`. */
function findInArchive(
  address: Address,
  archive: Archive,
  path: string,
): { source: ByteSource; path: string } | { listing: PathDetail[] } {
  if (path !== '' && !path.endsWith('/')) {
    const found = archive.find(path);
    if (found.kind === 'member') return { source: found.member.open(), path: found.member.path };
    if (found.kind === 'missing') {
      throw new AntwayError('NOT_FOUND', `There is no “${path}” in this archive: ${found.reason}.`, {
        address: address.hex,
        path,
      });
    }
  }
  const folder = path === '' || path.endsWith('/') ? path : `${path}/`;
  const listing = listFolder(archive, folder);
  if (listing.length === 0) {
    throw new AntwayError('NOT_FOUND', `There is no folder “${folder}” in this archive.`, {
      address: address.hex,
      path: folder,
    });
  }
  return { listing };
}

/** What is directly in a folder, in order of names. */
function listFolder(archive: Archive, folder: string): PathDetail[] {
  const details = new Map<string, PathDetail>();
  for (const member of archive.members.values()) {
    if (!member.path.startsWith(folder)) continue;
    const below = member.path.slice(folder.length);
    const slash = below.indexOf('/');
    if (slash < 0) {
      const { path, modified, size } = member;
      details.set(below, { path, display: below, modified, size, path_type: 'FILE' });
    } else {
      const display = below.slice(0, slash);
      const path = `${folder}${display}/`;
      details.set(display, { path, display, modified: 0, size: 0, path_type: 'DIRECTORY' });
    }
  }
  return [...details.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Sizes in bytes and paths, so that each line can be asked for as it stands. */
function formatListing(listing: readonly PathDetail[]): string {
  const width = Math.max(...listing.map(({ size }) => String(size).length));
  const lines = listing.map(({ path, size, path_type }) => {
    return `${(path_type === 'FILE' ? String(size) : '-').padStart(width)}  ${path}\n`;
  });
  return lines.join('');
}

/** @param out undefined for standard output. */
async function write(
  out: string | undefined,
  pieces: Iterable<Uint8Array> | ReadableStream<Uint8Array>,
): Promise<void> {
  if (out !== undefined) return writeAtomically(out, pieces);
  for await (const piece of pieces) {
    // A reader that is slower than the peers must not fill this process's memory.
    if (!process.stdout.write(piece)) await once(process.stdout, 'drain');
  }
}
