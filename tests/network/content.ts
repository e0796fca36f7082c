import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chunkFolderSink } from '../../src/cli/chunk-folder.ts';
import { publishFile, publishFolder } from '../../src/publish/publish.ts';
import { bufferAccess } from '../../src/util/random-access.ts';
import { codec, noise } from '../support/publish.ts';

/** Something that the network holds. */
export interface Item {
  name: string;
  address: string;
  /** Where on the disk the plain file is, if the network's own code publishes it. */
  path?: string;
  /** Its encrypted chunks by address, its record included. */
  chunks: Map<string, Uint8Array>;
  /** Paths below the address, and the SHA-256 of the expected content. */
  paths: { path: string; size: number; sha256: string }[];
}

/** Small, a middle one of three chunks, and one of so many that its map is nested. */
const fileSizes = { 'small.bin': 10_000, 'photos.bin': 5_000_000, 'film.bin': 30_000_000 };
const siteSizes = {
  'index.html': 4_000,
  'app.js': 60_000,
  'pictures/one.jpg': 900_000,
  'pictures/two.jpg': 700_000,
};

/** Makes files and a tarchive, and encrypts them as `antway publish` does. Nothing is stored yet. */
export async function makeContent(folder: string): Promise<Item[]> {
  const items: Item[] = [];
  for (const [i, [name, size]] of Object.entries(fileSizes).entries()) {
    const bytes = noise(i + 1, size);
    const path = join(folder, name);
    await writeFile(path, bytes);
    const chunks = join(folder, `${name}.chunks`);
    const published = await publishFile(bufferAccess(bytes), { codec, sink: await chunkFolderSink(chunks) });
    items.push({
      name,
      path,
      address: published.address.hex,
      chunks: await readChunks(chunks),
      paths: [{ path: '', size, sha256: sha256(bytes) }],
    });
  }
  const members = Object.entries(siteSizes).map(([path, size], i) => ({ path, bytes: noise(100 + i, size) }));
  const chunks = siteChunksFolder(folder);
  await mkdir(chunks, { recursive: true });
  const published = await publishFolder(
    members.map(({ path, bytes }) => ({ path, source: bufferAccess(bytes) })),
    { codec, sink: await chunkFolderSink(chunks) },
  );
  items.push({
    name: 'a tarchive',
    address: published.address.hex,
    chunks: await readChunks(chunks),
    paths: members.map(({ path, bytes }) => ({
      path: `/${path}`,
      size: bytes.length,
      sha256: sha256(bytes),
    })),
  });
  return items;
}

/** Where the tarchive's chunks are, which are stored as they are. */
export function siteChunksFolder(folder: string): string {
  return join(folder, 'site.chunks');
}

async function readChunks(folder: string): Promise<Map<string, Uint8Array>> {
  const names = await readdir(folder);
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)),
  );
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
