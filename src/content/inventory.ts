import { Address } from '../address.ts';
import { blockBytes, isTar } from '../archive/tar-header.ts';
import type { Blake3 } from '../self-encryption/blake3.ts';
import type { DataMap } from '../self-encryption/data-map.ts';
import { unshrink } from '../self-encryption/file.ts';
import type { DecodedRecord } from './data-maps.ts';
import { refuseDenied } from './deny-list.ts';
import { checkManifestSize, isManifest, type ManifestSource, parseManifest, soleSource } from './manifest.ts';
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

/**
 * Lists the chunks of a site or file. Reads only the necessary data: records, nested maps, a manifest, and the first
 * chunk of the file itself (is it an archive?). Entries of a manifest that the host denies are left out.
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
  readonly #sizes = new Map<string, { address: Address; size: number }>();
  #isWhole = true;

  constructor(source: InventorySource) {
    this.#source = source;
  }

  async root(address: Address): Promise<Inventory['kind']> {
    const map = await this.#record(address);
    if (!map) return this.#isWhole ? 'record' : undefined;
    const start = await this.#start(map, Math.min(blockBytes, map.size));
    if (!start) return undefined;
    if (isTar(start)) return 'archive';
    if (!isManifest(start)) return 'file';
    checkManifestSize(map.size);
    const manifest = await this.#start(map, map.size);
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

  /** The file may be an archive. Its first chunk tells only that, so the inventory is whole without it. */
  async #sole(source: ManifestSource): Promise<Inventory['kind']> {
    const map = source.kind === 'embedded' ? await this.#map(source.map) : await this.#record(source.address);
    if (!map) return this.#isWhole ? 'file' : undefined;
    const start = await this.#peek(map, Math.min(blockBytes, map.size)).catch(() => undefined);
    return start && (isTar(start) ? 'archive' : 'file');
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

  /** Without the first bytes, the inventory is not whole. */
  async #start(map: DataMap, length: number): Promise<Uint8Array | undefined> {
    return (await this.#peek(map, length)) ?? this.#missing();
  }

  /** @returns undefined if a chunk is missing. */
  async #peek(map: DataMap, length: number): Promise<Uint8Array | undefined> {
    const bytes = new Uint8Array(length);
    for (let i = 0; i < map.count && map.offsets[i]! < length; i++) {
      const part = await this.#source.read(map, i);
      if (!part) return undefined;
      bytes.set(part.subarray(0, length - map.offsets[i]!), map.offsets[i]!);
    }
    return bytes;
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
    await this.#foundAll(map);
    let current = map;
    let isMissing = false;
    const root = await unshrink(map, async (level, index) => {
      if (level !== current) {
        current = level;
        await this.#foundAll(level);
      }
      const part = await this.#source.read(level, index);
      isMissing ||= !part;
      return part ?? new Uint8Array();
    }).catch((error) => {
      if (!isMissing) throw error;
    });
    if (!root) return this.#missing();
    if (root !== map) await this.#foundAll(root);
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
