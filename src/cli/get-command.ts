import { once } from 'node:events';
import type { Address } from '../address.ts';
import { Chunks } from '../chunks/chunks.ts';
import { noStore } from '../chunks/store.ts';
import type { Archive, FolderEntry } from '../content/archive.ts';
import type { ByteSource } from '../content/byte-source.ts';
import { Resolver } from '../content/resolver.ts';
import { AntwayError } from '../errors.ts';
import { listingJson } from '../gateway/pages/listing.ts';
import { PeerPool } from '../peers/selection/pool.ts';
import { Codec } from '../self-encryption/codec.ts';
import { Stats } from '../stats/stats.ts';
import type { GetArguments } from './arguments.ts';
import { writeAtomically } from './atomic-file.ts';
import { chunkFolderSource } from './chunk-folder.ts';
import { printable, printableJson } from './format.ts';
import { nodePlatform } from './platform.ts';

/** Size of the cache for decrypted chunks. The index and the first chunk of an archive are read repeatedly. */
const memoryBytes = 64 * 1024 ** 2;

/**
 * `antway get`: writes a file, or lists a folder.
 * @throws AntwayError `NOT_FOUND` for a path that is not in the archive, and the errors of the content and chunk
 *   layers.
 */
export async function getCommand(options: GetArguments, signal: AbortSignal): Promise<void> {
  const { address, from, out, json } = options;
  const stats = new Stats();
  const pool = from === undefined ? new PeerPool(options.peers, stats) : undefined;
  const peers = pool ?? chunkFolderSource(from!);
  const chunks = new Chunks({
    codec: new Codec(nodePlatform),
    store: noStore,
    peers,
    stats,
    memoryBytes,
  });
  try {
    const { content } = await new Resolver({ chunks, peers }).locate(address, signal);
    const path = options.path ?? '';
    const found =
      content.kind === 'archive'
        ? await findInArchive(address, content.archive, path, signal)
        : { source: content.source, path };
    if ('folder' in found) {
      const text = json ? `${printableJson(listingJson(found.folder))}\n` : formatListing(found.folder);
      await write(out, [new TextEncoder().encode(text)]);
      return;
    }
    const { source } = found;
    await write(out, source.stream(0, source.size, signal));
    if (json && out !== undefined) {
      const summary = { address: address.hex, path: found.path, size: source.size, out };
      process.stdout.write(`${printableJson(JSON.stringify(summary))}\n`);
    }
  } finally {
    pool?.close();
  }
}

/** Finds a file or a folder. A folder is always listed: a browser would show its `index.html` instead. */
async function findInArchive(
  address: Address,
  archive: Archive,
  path: string,
  signal: AbortSignal,
): Promise<{ source: ByteSource; path: string } | { folder: FolderEntry[] }> {
  if (path !== '' && !path.endsWith('/')) {
    const found = archive.find(path);
    if (found.kind === 'member') {
      return { source: await found.member.load(signal), path: found.member.path };
    }
    if (found.kind === 'missing') {
      throw new AntwayError('NOT_FOUND', `There is no “${path}” in this archive: ${found.reason}.`, {
        address: address.hex,
        path,
      });
    }
  }
  const folder = listFolder(archive, path === '' || path.endsWith('/') ? path : `${path}/`);
  if (folder.length === 0) {
    throw new AntwayError('NOT_FOUND', `There is no folder “${path}” in this archive.`, {
      address: address.hex,
      path,
    });
  }
  return { folder };
}

function listFolder(archive: Archive, folder: string): FolderEntry[] {
  const entries = new Map<string, FolderEntry>();
  for (const member of archive.members.values()) {
    if (!member.path.startsWith(folder)) continue;
    const below = member.path.slice(folder.length);
    const slash = below.indexOf('/');
    const name = slash < 0 ? below : below.slice(0, slash);
    if (slash < 0) entries.set(name, { kind: 'file', name, member });
    else entries.set(name, { kind: 'folder', name, path: `${folder}${name}/` });
  }
  return [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** `antway get` accepts the paths of this list, unless they have escaped control characters. */
function formatListing(entries: readonly FolderEntry[]): string {
  const lines = entries.map((entry) =>
    entry.kind === 'file'
      ? { size: String(entry.member.size ?? '?'), path: entry.member.path }
      : { size: '-', path: entry.path },
  );
  const width = Math.max(...lines.map(({ size }) => size.length));
  return lines.map(({ size, path }) => `${size.padStart(width)}  ${printable(path)}\n`).join('');
}

async function write(
  out: string | undefined,
  pieces: Iterable<Uint8Array> | ReadableStream<Uint8Array>,
): Promise<void> {
  if (out !== undefined) return writeAtomically(out, pieces);
  for await (const piece of pieces) {
    // Wait for the reader: a reader that is slower than the peers must not fill this process's memory.
    if (!process.stdout.write(piece)) await once(process.stdout, 'drain');
  }
}
