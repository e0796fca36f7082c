import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTarchive } from '../../src/archive/create-tar.ts';
import { chunkFolderSink } from '../../src/cli/chunk-folder.ts';
import { publishFile } from '../../src/publish/publish.ts';
import { bufferAccess } from '../../src/util/random-access.ts';
import { codec, noise } from '../support/publish.ts';

/** A file or a site that the network holds. */
export interface Item {
  name: string;
  address: string;
  /** The path of the plain file, if the network's own code encrypts it. */
  path?: string;
  /** The encrypted chunks by address, with the data map. */
  chunks: Map<string, Uint8Array>;
  /** Paths below the address, and the SHA-256 of the expected content. */
  paths: { path: string; size: number; sha256: string }[];
}

/** One small file, one of three chunks, and one with so many chunks that its data map is nested. */
const fileSizes = { 'small.bin': 10_000, 'photos.bin': 5_000_000, 'film.bin': 100_000_000 };

/** A site with 30 files: a page, its style sheet, and 28 pictures of different sizes. */
const pictures = Array.from({ length: 28 }, (_, i) => ({
  path: `pictures/${String(i + 1).padStart(2, '0')}.jpg`,
  size: 20_000 + ((i * 37) % 28) * 12_000,
}));

/**
 * Makes the files and the site, and encrypts them as `antway publish` does. Writes the chunks of the site to
 * `recordsFolder`. The chunks of the files are left out: the network's own code has to make the same ones.
 */
export async function makeContent(folder: string, recordsFolder: string): Promise<Item[]> {
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
  const members = siteFiles();
  const chunks = join(recordsFolder, 'chunks');
  await mkdir(chunks, { recursive: true });
  const published = await publishFile(
    createTarchive(members.map(({ path, bytes }) => ({ path, source: bufferAccess(bytes) }))),
    { codec, sink: await chunkFolderSink(chunks) },
  );
  items.push({
    name: 'a site',
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

function siteFiles(): { path: string; bytes: Uint8Array }[] {
  const images = pictures.map(({ path }) => `<img src="${path}" alt="">`).join('\n');
  const page = `<!doctype html><html lang="en"><title>A site of 30 files</title>
<link rel="stylesheet" href="style.css"><h1>Pictures</h1>\n${images}\n</html>\n`;
  const style = 'img { width: 10em }\n'.repeat(200);
  return [
    { path: 'index.html', bytes: new TextEncoder().encode(page) },
    { path: 'style.css', bytes: new TextEncoder().encode(style) },
    ...pictures.map(({ path, size }, i) => ({ path, bytes: noise(100 + i, size) })),
  ];
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
