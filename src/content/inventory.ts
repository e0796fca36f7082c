import { Address } from '../address.ts';
import type { Blake3 } from '../self-encryption/blake3.ts';
import type { DataMap } from '../self-encryption/data-map.ts';
import { type ChunkReader, ContentFile } from './content-file.ts';
import type { DataMaps, DecodedRecord } from './data-maps.ts';
import { refuseDenied } from './deny-list.ts';
import { type Identity, identify, kindOf, readStart } from './identify.ts';
import { checkManifestSize, type ManifestSource, parseManifest, soleSource } from './manifest.ts';
import type { Content, LocalManifests } from './resolver.ts';

/** All chunks of a site or file: its record, the chunks of nested maps, and the chunks of all its files. */
export interface Inventory {
  kind: Content['kind'] | undefined;
  /** 32 bytes each, in the order of discovery, without duplicates. */
  hashes: Uint8Array<ArrayBuffer>;
  /** The known bytes of each chunk: for a record, its own size; for other chunks, the size of the plaintext. */
  sizes: Uint32Array<ArrayBuffer>;
  /** False if a part could not be read, so that chunks may be missing. */
  isWhole: boolean;
}

export interface InventorySource {
  maps: DataMaps;
  /** Resolves to undefined to continue without the record. */
  record(address: Address): Promise<DecodedRecord | undefined>;
  /** Resolves to undefined to continue without the chunk. */
  read(map: DataMap, index: number): Promise<Uint8Array | undefined>;
  manifests: LocalManifests;
  /** Addresses (hex) that are never read. */
  denied: ReadonlySet<string>;
  blake3: Blake3;
  /** Called with chunks before the first of them is read. */
  onFound?(chunks: readonly Address[]): Promise<void>;
}

const parallelEntries = 8;
const missing = new Error('missing');

/**
 * Lists the chunks of a site or file. Reads only the necessary data: records, nested maps, a manifest, and the chunks of
 * the file itself that show whether it is an archive (the first one, those of a ZIP's directory). Entries of a manifest
 * that the host denies are left out.
 * @throws AntwayError as `Resolver.resolve`, and the errors of the source.
 */
export async function takeInventory(address: Address, source: InventorySource): Promise<Inventory> {
  refuseDenied(address, source.denied);
  const walk = new Walk(source);
  const manifest = await source.manifests.get(address);
  return walk.finish(manifest ? await walk.manifest(manifest) : await walk.root(address));
}

class Walk {
  readonly #source: InventorySource;
  /** Throws `missing` for a missing chunk. */
  readonly #reader: ChunkReader;
  readonly #sizes = new Map<string, { address: Address; size: number }>();
  #isWhole = true;

  constructor(source: InventorySource) {
    this.#source = source;
    this.#reader = {
      readAhead: 1,
      read: async (map, index) => {
        const part = await source.read(map, index);
        if (!part) throw missing;
        return part;
      },
    };
  }

  async root(address: Address): Promise<Inventory['kind']> {
    const map = await this.#record(address);
    if (!map) return this.#isWhole ? 'record' : undefined;
    const file = new ContentFile(map, this.#reader);
    const start = await this.#needed(readStart(file));
    if (!start) return undefined;
    const identity = await this.#identify(file, start);
    if (identity?.format !== 'manifest') return identity && kindOf(identity);
    checkManifestSize(file.size);
    const manifest = await this.#needed(file.read(0, file.size));
    return manifest ? this.manifest(manifest) : 'archive';
  }

  async manifest(bytes: Uint8Array): Promise<Inventory['kind']> {
    const { denied, blake3 } = this.#source;
    const manifest = parseManifest(bytes, blake3);
    const sole = soleSource(manifest);
    const sources = manifest.entries
      .map(({ source }) => source)
      .filter((source) => source.kind === 'embedded' || !denied.has(source.address.hex));
    if (sole) return sources.length > 0 ? this.#sole(sole) : 'file';
    await this.#entries(sources);
    return 'archive';
  }

  async #sole(source: ManifestSource): Promise<Inventory['kind']> {
    const map = source.kind === 'embedded' ? await this.#map(source.map) : await this.#record(source.address);
    if (!map) return this.#isWhole ? 'file' : undefined;
    const identity = await this.#identify(new ContentFile(map, this.#reader));
    return identity && kindOf(identity);
  }

  /** These chunks show only the format, so the inventory is whole without them. @returns undefined without them. */
  async #identify(file: ContentFile, start?: Uint8Array): Promise<Identity | undefined> {
    try {
      return await identify(file, start ?? (await readStart(file)));
    } catch {
      return undefined;
    }
  }

  async #entries(sources: readonly ManifestSource[]): Promise<void> {
    await this.#found(
      sources.filter((source) => source.kind === 'public').map(({ address }) => ({ address, size: 0 })),
    );
    const waiting = sources.values();
    let hasFailed = false;
    const look = async () => {
      try {
        for (const source of waiting) {
          if (hasFailed) return;
          if (source.kind === 'embedded') await this.#map(source.map);
          else await this.#record(source.address);
        }
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    };
    // Wait for all lanes, so that none runs on after the result is known.
    const ends = await Promise.allSettled(Array.from({ length: parallelEntries }, look));
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  }

  finish(kind: Inventory['kind']): Inventory {
    const hashes = new Uint8Array(32 * this.#sizes.size);
    const sizes = new Uint32Array(this.#sizes.size);
    let i = 0;
    for (const { address, size } of this.#sizes.values()) {
      hashes.set(address.bytes, 32 * i);
      sizes[i++] = size;
    }
    return { kind, hashes, sizes, isWhole: this.#isWhole };
  }

  /** Without these data, the inventory is not whole. @returns undefined if a chunk is missing. */
  #needed<T>(reading: Promise<T>): Promise<T | undefined> {
    return reading.catch((error) => {
      if (error !== missing) throw error;
      return this.#missing();
    });
  }

  /** @returns the file's own map; undefined for a record that is not a map. */
  async #record(address: Address): Promise<DataMap | undefined> {
    await this.#found([{ address, size: 0 }]);
    const record = await this.#source.record(address);
    if (!record) return this.#missing();
    this.#sizes.get(address.hex)!.size = record.bytes;
    return record.map && this.#map(record.map);
  }

  async #map(map: DataMap): Promise<DataMap | undefined> {
    const onNested = (nested: DataMap) => this.#foundAll(nested);
    const root = await this.#needed(this.#source.maps.fileMap(map, this.#reader, onNested));
    if (root) await this.#foundAll(root);
    return root;
  }

  #missing(): undefined {
    this.#isWhole = false;
  }

  #foundAll(map: DataMap): Promise<void> {
    return this.#found(Array.from(map.sizes, (size, i) => ({ address: map.address(i), size })));
  }

  async #found(chunks: readonly { address: Address; size: number }[]): Promise<void> {
    const fresh = chunks.filter(({ address }) => !this.#sizes.has(address.hex));
    if (fresh.length === 0) return;
    for (const chunk of fresh) this.#sizes.set(chunk.address.hex, chunk);
    await this.#source.onFound?.(fresh.map(({ address }) => address));
  }
}

export function* addressesOf({ hashes, sizes }: Inventory): Generator<Address> {
  for (let i = 0; i < sizes.length; i++) yield Address.fromBytes(hashes.subarray(32 * i, 32 * i + 32));
}
