import type { Address } from '../address.ts';
import type { Chunks } from '../chunks/chunks.ts';
import type { VerifiedChunk } from '../chunks/verified-chunk.ts';
import { AntwayError, isAbsentSomewhere } from '../errors.ts';
import { limits } from '../limits.ts';
import type { ChunkPeers } from '../peers/chunk-peers.ts';
import { loadBlake3 } from '../self-encryption/blake3.ts';
import type { DataMap } from '../self-encryption/data-map.ts';
import type { Trace } from '../stats/trace.ts';
import { AbortGroup } from '../util/abort-group.ts';
import { LruCache } from '../util/lru-cache.ts';
import { SingleFlight } from '../util/single-flight.ts';
import { Archive, type Member } from './archive.ts';
import { type ByteSource, memorySource } from './byte-source.ts';
import { ContentFile } from './content-file.ts';
import { DataMaps } from './data-maps.ts';
import type { DecryptedChunks } from './decrypted-chunks.ts';
import { refuseDenied } from './deny-list.ts';
import { type Identity, identify, readStart } from './identify.ts';
import { checkManifestSize, type ManifestSource, parseManifest, soleSource } from './manifest.ts';
import type { Pointer } from './pointer.ts';
import { type PointerMemory, Pointers } from './pointers.ts';
import { Prefetcher } from './prefetcher.ts';
import { prefetchParts, type ReadHint } from './read-hint.ts';
import { loadTarchive } from './tarchive.ts';

export type Content =
  | { kind: 'file'; source: ByteSource }
  /** `tar` or `zip` is the archive's own bytes, if it is one. The files of a manifest have separate sources. */
  | { kind: 'archive'; archive: Archive; tar: ByteSource | undefined; zip?: ByteSource }
  /** A record that is not a data map: its own bytes are the content. */
  | { kind: 'record'; source: ByteSource };

/** Manifests that this device stores, by the BLAKE3 of their bytes. No peer has them. */
export interface LocalManifests {
  get(id: Address): Promise<Uint8Array | undefined>;
}

export interface Located {
  content: Content;
  /** The requested address, or the current target of a pointer. */
  address: Address;
  /** True for a pointer: its target may change. */
  isMutable: boolean;
}

export interface LocatedRecord {
  bytes: Uint8Array;
  pointer?: Pointer;
}

export interface ResolverOptions {
  chunks: Chunks;
  decrypted: DecryptedChunks;
  peers: ChunkPeers;
  /** A new cache if not given. */
  maps?: DataMaps;
  /** Without it, pointers are remembered only as long as this object exists. */
  pointers?: PointerMemory;
  manifests?: LocalManifests;
  denied?: ReadonlySet<string>;
}

/** A resolved address. */
interface Resolved {
  content: Content;
  /** The records that `resolve` reads for it, whether from a peer or not: they depend on the content alone. */
  records: readonly Address[];
}

/** Memory for resolved addresses, in bytes, so that a page's hundred requests parse their index once. */
const rememberedBytes = 64 * 1024 * 1024;
/** Estimated memory of an archive's entry, or of any object with a few fields, in bytes. */
const entryBytes = 400;
const recordBytes = 120;

function sizeOf({ content, records }: Resolved): number {
  const isArchive = content.kind === 'archive';
  const source = isArchive ? (content.tar ?? content.zip) : content.source;
  const entries = isArchive ? content.archive.members.size + 1 : 1;
  return entries * entryBytes + records.length * recordBytes + (source?.memoryBytes ?? 0);
}

/** True if a peer answered NOT_FOUND: the address may be a pointer's. Its signature is checked later. */
function mayBePointer(error: unknown): boolean {
  return error instanceof AntwayError && (error.code === 'NOT_FOUND' || isAbsentSomewhere(error));
}

export class Resolver {
  readonly #chunks: Chunks;
  readonly #decrypted: DecryptedChunks;
  readonly #maps: DataMaps;
  readonly #prefetcher: Prefetcher;
  readonly #known = new LruCache<Resolved>(rememberedBytes, sizeOf);
  readonly #resolving = new SingleFlight<Resolved>();
  /** The callers that resolve each address and then read its prefetched chunks. */
  readonly #readers = new Map<string, AbortGroup>();

  readonly #pointers: Pointers;
  readonly #manifests: LocalManifests | undefined;
  readonly #denied: ReadonlySet<string>;

  /** @param denied addresses (hex) that are never resolved, also as targets of pointers and manifests. */
  constructor({
    chunks,
    decrypted,
    peers,
    maps = new DataMaps(),
    manifests,
    pointers,
    denied = new Set(),
  }: ResolverOptions) {
    this.#chunks = chunks;
    this.#decrypted = decrypted;
    this.#maps = maps;
    this.#prefetcher = new Prefetcher({ chunks, decrypted, peers, maps });
    this.#pointers = new Pointers(peers, pointers);
    this.#manifests = manifests;
    this.#denied = denied;
  }

  /**
   * Locates the content of an address. If no peer has the chunk, follows a pointer at the address.
   * @throws as `resolve`; `NOT_FOUND` if a pointer's target is missing, `TOO_LARGE` for too long a chain of pointers.
   */
  async locate(address: Address, signal?: AbortSignal, trace?: Trace, hint?: ReadHint): Promise<Located> {
    const read = async (at: Address, isMutable: boolean): Promise<Located> => ({
      content: await this.resolve(at, signal, trace, hint),
      address: at,
      isMutable,
    });
    const ofPointer = async () => {
      const target = await this.#follow(address, signal);
      return target && read(target, true);
    };
    return this.#pointerOr(address, () => read(address, false), ofPointer);
  }

  /** Returns the record's own bytes, not decrypted: a chunk's, or a pointer's. */
  async locateRecord(address: Address, signal?: AbortSignal, trace?: Trace): Promise<LocatedRecord> {
    const ofPointer = async () => {
      const pointer = await this.#pointers.newest(address, signal);
      return pointer && { bytes: pointer.record, pointer };
    };
    return this.#pointerOr<LocatedRecord>(address, () => this.record(address, signal, trace), ofPointer);
  }

  /** Returns the result of `ofPointer` if a pointer was seen or is found at the address, otherwise of `ofChunk`. */
  async #pointerOr<T>(
    address: Address,
    ofChunk: () => Promise<T>,
    ofPointer: () => Promise<T | undefined>,
  ): Promise<T> {
    refuseDenied(address, this.#denied);
    const mayBeChunk = this.#known.has(address.hex) || !(await this.#pointers.isKnown(address));
    if (!mayBeChunk) return (await ofPointer()) ?? ofChunk();
    try {
      return await ofChunk();
    } catch (error) {
      if (!mayBePointer(error)) throw error;
      const followed = await ofPointer();
      if (followed === undefined) throw error;
      return followed;
    }
  }

  /** Follows pointers to a chunk. @returns undefined if there is no pointer at `address`. */
  async #follow(address: Address, signal?: AbortSignal): Promise<Address | undefined> {
    let at = address;
    for (let depth = 0; depth < limits.pointerDepth; depth++) {
      const pointer = await this.#pointers.newest(at, signal);
      if (!pointer && depth === 0) return undefined;
      if (!pointer) {
        throw new AntwayError(
          'NOT_FOUND',
          `The pointer leads to another pointer, ${at}, which no peer has.`,
          { address: address.hex },
        );
      }
      at = pointer.target;
      refuseDenied(at, this.#denied);
      if (pointer.kind === 'chunk') return at;
    }
    throw new AntwayError(
      'TOO_LARGE',
      `The pointer leads through more than ${limits.pointerDepth} other pointers.`,
      { address: address.hex },
    );
  }

  /**
   * Resolves an address. Reads the record, nested maps, a file's first chunk (is it a tar?) and an archive's last.
   * @param trace gets these records, even if they were read before, and those that come with the map in one request.
   * @throws AntwayError `DENIED`, `UNSUPPORTED` (unknown map version), `TOO_LARGE`, `CORRUPT`; as `Chunks.record`.
   */
  async resolve(address: Address, signal?: AbortSignal, trace?: Trace, hint?: ReadHint): Promise<Content> {
    refuseDenied(address, this.#denied);
    const { content, records } =
      this.#known.get(address.hex) ?? (await this.#resolveOnce(address, signal, trace, hint));
    // A record that came from a peer is there with its bytes.
    for (const { hex } of records) if (!trace?.records?.has(hex)) trace?.records?.set(hex, undefined);
    return content;
  }

  async #resolveOnce(
    address: Address,
    signal?: AbortSignal,
    trace?: Trace,
    hint?: ReadHint,
  ): Promise<Resolved> {
    signal?.throwIfAborted();
    const readers = this.#join(address, signal);
    return this.#resolving.run(address.hex, signal, async (shared) => {
      try {
        const onArrival = ({ address: { hex }, bytes }: VerifiedChunk) => trace?.records?.set(hex, bytes);
        const prefetch = () =>
          hint && this.#prefetcher.start(address, prefetchParts(hint), readers.signal, onArrival);
        const resolved = await this.#resolve(address, shared, prefetch, trace);
        this.#known.set(address.hex, resolved);
        return resolved;
      } finally {
        if (this.#readers.get(address.hex) === readers) this.#readers.delete(address.hex);
      }
    });
  }

  #join({ hex }: Address, signal?: AbortSignal): AbortGroup {
    let readers = this.#readers.get(hex);
    if (!readers || readers.signal.aborted) {
      readers = new AbortGroup();
      this.#readers.set(hex, readers);
    }
    readers.join(signal);
    return readers;
  }

  /** Returns the record's own bytes, not decrypted. */
  record(address: Address, signal?: AbortSignal, trace?: Trace): Promise<VerifiedChunk> {
    refuseDenied(address, this.#denied);
    return this.#chunks.record(address, { signal, trace });
  }

  /** Call this when a local manifest was removed. */
  forget(address: Address): void {
    this.#known.delete(address.hex);
  }

  /** @param onMiss called if the record is not stored, before a peer is asked for it. */
  async #resolve(
    address: Address,
    signal: AbortSignal,
    onMiss: () => void,
    trace?: Trace,
  ): Promise<Resolved> {
    const manifest = await this.#manifests?.get(address);
    if (manifest) return { content: await this.#loadManifest(manifest, signal), records: [] };
    const { bytes } = await this.#chunks.record(address, { signal, trace, onMiss });
    const records = [address];
    const { map } = this.#maps.decode(address, bytes);
    if (!map) return { content: { kind: 'record', source: memorySource(bytes) }, records };
    const file = await this.#loadFile(map, signal, trace, records);
    const start = await readStart(file, signal, trace);
    const identity = await identify(file, start, signal);
    if (identity.format === 'manifest') {
      checkManifestSize(file.size);
      const content = await this.#loadManifest(await file.read(0, file.size, signal, trace), signal);
      return { content, records: [...records, ...file.chunks(0, file.size)] };
    }
    const content = await this.#loadContent(file, identity, signal);
    records.push(...file.chunks(0, start.length));
    if (content.kind === 'archive') records.push(...file.chunks(file.size - 1, file.size));
    return { content, records };
  }

  /** @param records gets the addresses of nested maps. */
  async #loadFile(
    map: DataMap,
    signal?: AbortSignal,
    trace?: Trace,
    records: Address[] = [],
  ): Promise<ContentFile> {
    const onNested = (nested: DataMap) => {
      for (let i = 0; i < nested.count; i++) records.push(nested.address(i));
    };
    const root = await this.#maps.fileMap(map, this.#decrypted, onNested, signal, trace);
    return new ContentFile(root, this.#decrypted);
  }

  async #loadManifest(bytes: Uint8Array, signal: AbortSignal): Promise<Content> {
    const manifest = parseManifest(bytes, await loadBlake3());
    const sole = soleSource(manifest);
    if (sole) return this.#loadSingle(await this.#loadSource(sole, signal), signal);
    const { name, entries, refused } = manifest;
    const members = entries.map(
      ({ path, size, source }): Member => ({
        path,
        size,
        modified: 0,
        load: (opening) => this.#loadSource(source, opening),
      }),
    );
    return {
      kind: 'archive',
      archive: await Archive.load(members, { name, refused }, signal),
      tar: undefined,
    };
  }

  async #loadSingle(source: ByteSource, signal: AbortSignal): Promise<Content> {
    if (!(source instanceof ContentFile)) return { kind: 'file', source };
    const identity = await identify(source, await readStart(source, signal), signal);
    return this.#loadContent(source, identity, signal);
  }

  async #loadContent(file: ContentFile, identity: Identity, signal?: AbortSignal): Promise<Content> {
    switch (identity.format) {
      case 'tar':
        return { kind: 'archive', archive: await loadTarchive(file, signal), tar: file };
      case 'zip':
        return { kind: 'archive', archive: identity.archive, tar: undefined, zip: file };
      default:
        return { kind: 'file', source: file };
    }
  }

  async #loadSource(source: ManifestSource, signal?: AbortSignal): Promise<ByteSource> {
    if (source.kind === 'embedded') return this.#loadFile(source.map, signal);
    refuseDenied(source.address, this.#denied);
    const { bytes } = await this.#chunks.record(source.address, { signal });
    const { map } = this.#maps.decode(source.address, bytes);
    return map ? this.#loadFile(map, signal) : memorySource(bytes);
  }
}
