import { Address } from '../address.ts';
import { createTar } from '../archive/create-tar.ts';
import { ForwardAccess } from '../archive/forward-access.ts';
import { DamagedTar, type TarMember, tarMembers } from '../archive/tar-members.ts';
import type { Chunks } from '../chunks/chunks.ts';
import type { PinningStore } from '../chunks/store.ts';
import { VerifiedChunk } from '../chunks/verified-chunk.ts';
import { type ByteSource, randomAccessSource } from '../content/byte-source.ts';
import { addressesOf, type Inventory } from '../content/inventory.ts';
import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import { loadBlake3 } from '../self-encryption/blake3.ts';
import { bufferAccess, type RandomAccess } from '../util/random-access.ts';
import { tally } from './inventory-store.ts';
import {
  describeSite,
  descriptionName,
  firstMember,
  iconName,
  isIcon,
  parseDescription,
  readDescription,
  type SiteLabel,
} from './site-file-head.ts';

/** An import of a file with more wrong members ends. */
const mostRefused = 1_000;
/** Name of the member that contains the site's manifest, if the address is a manifest that no peer has. */
const manifestName = 'manifest.ant';
/** Limits of a batch of chunks that is stored together. */
const batch = { chunks: 64, bytes: 16 * 1024 * 1024 };

export interface ExportOptions {
  store: Pick<PinningStore, 'sizes'>;
  chunks: Pick<Chunks, 'record'>;
  manifests: Pick<ManifestStorage, 'get'>;
}

export interface ImportOptions {
  store: Pick<PinningStore, 'addPinReferences' | 'sizes' | 'put' | 'written'>;
  manifests: Pick<ManifestStorage, 'add'>;
}

/** Manifests that this device stores, by the BLAKE3 of their bytes. */
export interface ManifestStorage {
  has(id: Address): Promise<boolean>;
  get(id: Address): Promise<Uint8Array | undefined>;
  /** @throws AntwayError if the bytes are not a manifest. */
  add(bytes: Uint8Array<ArrayBuffer>): Promise<{ id: string }>;
  list(): Promise<{ id: string; name: string | null }[]>;
}

export interface Imported {
  address: string;
  /** Only valid chunks count. */
  chunks: number;
  bytes: number;
  refused: { name: string; reason: string }[];
}

/**
 * Exports a site as one file: a tar of a description, an icon and all its encrypted chunks, named by their addresses.
 * Each chunk is verified when it is read. The tar is composed while it is read, and is the same for the same label.
 * @param labelOf reads from the content, so it is called only if all of the content is stored.
 * @throws AntwayError `NOT_FOUND` if not all chunks of the site are stored.
 */
export async function exportSite(
  address: Address,
  inventory: Inventory | undefined,
  labelOf: () => Promise<SiteLabel>,
  { store, chunks, manifests }: ExportOptions,
): Promise<ByteSource> {
  const sizes = await store.sizes();
  const known = inventory && (await tally(inventory, sizes));
  if (!known || known.chunks.stored < known.chunks.total) {
    const share = known ? `${known.chunks.stored} of its ${known.chunks.total} chunks are` : 'it is not all';
    throw new AntwayError(
      'NOT_FOUND',
      `This cannot be exported yet: ${share} stored here. Pin it, and wait until the pin is complete.`,
      { address: address.hex },
    );
  }
  const manifest = await manifests.get(address);
  const stored = { kind: inventory.kind, chunks: known.chunks.total, bytes: known.bytes.stored };
  const label = await labelOf();
  const { icon } = label;
  const entries = [
    { path: descriptionName, source: textAccess(describeSite(address, stored, label)) },
    ...(icon && isIcon(icon) ? [{ path: iconName, source: bufferAccess(icon) }] : []),
    ...(manifest ? [{ path: manifestName, source: bufferAccess(manifest) }] : []),
    ...Array.from(addressesOf(inventory), (chunk) => ({
      path: chunk.hex,
      source: chunkAccess(chunk, sizes.get(chunk.hex)!, chunks),
    })),
  ];
  return randomAccessSource(createTar(entries));
}

function textAccess(text: string): RandomAccess {
  return bufferAccess(new TextEncoder().encode(text));
}

/** A chunk is read in pieces but verified once, as a whole. */
function chunkAccess(address: Address, size: number, chunks: ExportOptions['chunks']): RandomAccess {
  let current: Promise<VerifiedChunk> | undefined;
  return {
    size,
    async read(start, end) {
      current ??= chunks.record(address);
      const reading = current;
      // Release the chunk. Otherwise all of a large site would be in memory at the end.
      if (end === size) current = undefined;
      return (await reading).bytes.subarray(start, end);
    },
  };
}

/**
 * Imports a file from `exportSite`. Every chunk is hashed. Wrong chunks are refused by name, and the other chunks are
 * stored. Only one batch of chunks is in memory at a time.
 * @param begin called with the site's address before any chunk is stored.
 * @throws AntwayError `UNSUPPORTED` for another kind of file or version, `CORRUPT` if the file ends early, `TOO_LARGE`
 *   if there is no room, `INTERNAL` if the storage fails, `NOT_FOUND` if the site is unpinned in the meantime. Except
 *   in that case, the chunks stored so far remain, and another import continues with them.
 */
export async function importSite(
  file: ReadableStream<Uint8Array>,
  begin: (address: Address) => Promise<void>,
  options: ImportOptions,
): Promise<Imported> {
  const tar = new ForwardAccess(file);
  try {
    return await importTar(tar, begin, options);
  } catch (error) {
    throw error instanceof DamagedTar ? damagedFile(error) : error;
  } finally {
    tar.cancel();
  }
}

async function importTar(
  tar: ForwardAccess,
  begin: (address: Address) => Promise<void>,
  options: ImportOptions,
): Promise<Imported> {
  // A site can have more chunks than the headers that are read to list a tar. Only one batch is in memory.
  const members = tarMembers(tar, { maxHeaders: Number.POSITIVE_INFINITY });
  const first = await firstMember(async () => (await members.next()).value ?? null);
  const { address } = parseDescription(first.path, await readDescription(tar, first));
  await begin(address);
  const imported: Imported = { address: address.hex, chunks: 0, bytes: 0, refused: [] };
  const blake3 = await loadBlake3();
  let waiting: VerifiedChunk[] = [];
  let waitingBytes = 0;
  const storeWaiting = async () => {
    await storeChunks(address, waiting, options.store);
    waiting = [];
    waitingBytes = 0;
  };
  for await (const member of members) {
    const { path: name } = member;
    try {
      if (name === manifestName) {
        await takeManifest(address, await bytesOf(tar, member, limits.manifestBytes), options);
        continue;
      }
      if (name === iconName) continue;
      if (!/^[0-9a-f]{64}$/.test(name)) throw new AntwayError('CORRUPT', 'Its name is not that of a chunk.');
      const bytes = await bytesOf(tar, member, limits.chunkBytes);
      const chunk = VerifiedChunk.verify(Address.fromHex(name), bytes, blake3);
      imported.chunks++;
      imported.bytes += bytes.length;
      waiting.push(chunk);
      waitingBytes += bytes.length;
    } catch (error) {
      // Refuse a wrong member. In a damaged file, no further member can be read.
      if (error instanceof DamagedTar || !(error instanceof AntwayError)) throw error;
      imported.refused.push({ name: name.slice(0, 200), reason: error.message });
      if (imported.refused.length > mostRefused)
        throw new DamagedTar(`more than ${mostRefused} parts are wrong`);
    }
    if (waiting.length === batch.chunks || waitingBytes >= batch.bytes) await storeWaiting();
  }
  await storeWaiting();
  return imported;
}

/**
 * Adds references before the chunks are stored, so that no chunk is evicted for the next one.
 * @throws AntwayError `TOO_LARGE`, `INTERNAL`, `NOT_FOUND` as `importSite`.
 */
async function storeChunks(
  owner: Address,
  chunks: readonly VerifiedChunk[],
  store: ImportOptions['store'],
): Promise<void> {
  const addresses = chunks.map(({ address }) => address);
  if (!(await store.addPinReferences(owner, addresses))) {
    throw new AntwayError('NOT_FOUND', 'This site was unpinned while it was imported.', {
      address: owner.hex,
    });
  }
  const sizes = await store.sizes();
  const fresh = chunks.filter(({ address }) => !sizes.has(address.hex));
  for (const chunk of fresh) await store.put(chunk);
  const outcomes = await Promise.all(fresh.map(({ address }) => store.written(address)));
  if (outcomes.includes('ceiling') || outcomes.includes('quota')) {
    throw new AntwayError(
      'TOO_LARGE',
      'There is no room for all of this site. The parts imported so far are stored.',
    );
  }
  if (outcomes.includes('failed')) {
    throw new AntwayError(
      'INTERNAL',
      'The browser’s storage failed before all of this site was stored. The parts imported so far are stored.',
    );
  }
}

async function takeManifest(
  address: Address,
  bytes: Uint8Array<ArrayBuffer>,
  { manifests }: ImportOptions,
): Promise<void> {
  const blake3 = await loadBlake3();
  const id = Address.fromBytes(blake3(bytes));
  if (!id.equals(address)) throw new AntwayError('CORRUPT', `It is the manifest of ${id}, another site.`);
  await manifests.add(bytes);
}

/** @throws AntwayError `TOO_LARGE` if there are more than `most` bytes. */
async function bytesOf(
  tar: ForwardAccess,
  { offset, size }: TarMember,
  most: number,
): Promise<Uint8Array<ArrayBuffer>> {
  if (size > most) throw new AntwayError('TOO_LARGE', `It has ${size} bytes; at most ${most} can be.`);
  return tar.read(offset, offset + size);
}

function damagedFile(cause: DamagedTar): AntwayError {
  return new AntwayError(
    'CORRUPT',
    'The file is damaged, or ends early. The parts before the damage are stored. Import the site again, from a good copy.',
    {},
    { cause },
  );
}
