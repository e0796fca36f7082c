import { LRUCache } from 'lru-cache';
import type { Address } from '../address.ts';
import type { Chunks } from '../chunks/chunks.ts';
import type { VerifiedChunk } from '../chunks/verified-chunk.ts';
import { AntwayError, isAbsentSomewhere } from '../errors.ts';
import { limits } from '../limits.ts';
import type { ChunkPeers } from '../peers/selection/pool.ts';
import type { PrefetchRange } from '../peers/transports/protocol.ts';
import { loadBlake3 } from '../self-encryption/blake3.ts';
import type { DataMap } from '../self-encryption/data-map.ts';
import { unshrink } from '../self-encryption/file.ts';
import type { Trace } from '../stats/trace.ts';
import { AbortGroup } from '../util/abort-group.ts';
import { SingleFlight } from '../util/single-flight.ts';
import { Archive, type Member } from './archive.ts';
import { type ByteSource, memorySource } from './byte-source.ts';
import { DataMaps } from './data-maps.ts';
import { ContentFile } from './file.ts';
import { isManifest, type ManifestSource, parseManifest, soleSource } from './manifest.ts';
import type { Pointer } from './pointer.ts';
import { type PointerMemory, Pointers } from './pointers.ts';
import { Prefetcher, type PrefetchPart } from './prefetcher.ts';
import { blockBytes } from './tar-header.ts';
import { isTar, loadTarchive } from './tarchive.ts';

/** What an address stands for. */
export type Content =
  | { kind: 'file'; source: ByteSource }
  /** `tar` is the archive's own bytes, when it is a tar; a manifest's files lie elsewhere. */
  | { kind: 'archive'; archive: Archive; tar: ByteSource | undefined }
  /** A record that is not a data map: its own bytes are the content. */
  | { kind: 'record'; source: ByteSource };

/** Manifests that this device keeps, by the BLAKE3 of their bytes. They are on no peer. */
export interface LocalManifests {
  get(id: Address): Promise<Uint8Array | undefined>;
}

/** What an address leads to. */
export interface Located {
  content: Content;
  /** Where that content is: the same address, or what a pointer at it says today. */
  address: Address;
  /** Whether the address is a pointer's, so that it may lead elsewhere tomorrow. */
  isMutable: boolean;
}

/** A record's own bytes, and what it says if it is a pointer's. */
export interface LocatedRecord {
  bytes: Uint8Array;
  pointer?: Pointer;
}

export interface ResolverOptions {
  chunks: Chunks;
  /** Asked for pointers, and to prefetch. */
  peers: ChunkPeers;
  /** Shared with others who need data maps; its own if not given. */
  maps?: DataMaps;
  /** What is remembered of pointers; without it, nothing is for longer than this object. */
  pointers?: PointerMemory;
  manifests?: LocalManifests;
  denied?: ReadonlySet<string>;
}

/** What a request tells of what it will read, so that it can be fetched together with the map. */
export interface ReadHint {
  /** The part of a file that was asked for; undefined for the whole. */
  range?: PrefetchRange | undefined;
  /** Whether the URL names something inside the address, as in an archive. */
  isInside: boolean;
  /** Whether no body will be sent. */
  isHead: boolean;
}

/** Memory for what addresses stand for, so that a page's hundred requests parse their index once. Bytes. */
const rememberedBytes = 64 * 1024 * 1024;
/** What an entry of an archive, or anything else with a few fields, takes in memory. An estimate. */
const entryBytes = 400;

function sizeOf(content: Content): number {
  if (content.kind === 'record') return content.source.size + entryBytes;
  return content.kind === 'archive' ? (content.archive.members.size + 1) * entryBytes : entryBytes;
}

/** Whether a peer says that it has no such chunk: then it may be a pointer, which is checked by its signature. */
function mayBePointer(error: unknown): boolean {
  return error instanceof AntwayError && (error.code === 'NOT_FOUND' || isAbsentSomewhere(error));
}

/**
 * What to ask for together with the map: the first chunk (is it a tar?) and what will be read next, which is the part
 * that was asked for, or the beginning, and for what may be in an archive the end, where its index is.
 */
function prefetchParts({ range, isInside, isHead }: ReadHint): PrefetchPart[] {
  const first = { start: 0, length: 1 };
  // Of a member, a range says nothing about where it is in the archive.
  if (isHead || (isInside && range)) return [{ range: first }];
  if (isInside) {
    // A small archive whole; of a large one only the end is needed, and then the member.
    const isSmall = ({ size }: DataMap) => size <= limits.openBytes;
    return [
      { range: { start: 0, length: limits.openBytes }, scope: (file) => (isSmall(file) ? 'all' : 'first') },
      { range: { last: limits.indexTailBytes }, scope: (file) => (isSmall(file) ? 'none' : 'all') },
    ];
  }
  const part = range ?? { start: 0, length: limits.openBytes };
  if ('start' in part && part.start === 0) return [{ range: part }];
  const startIn = ({ size }: DataMap) => ('last' in part ? size - part.last : part.start);
  return [
    { range: part },
    { range: first, scope: (file) => (startIn(file) < file.offsets[1]! ? 'none' : 'all') },
  ];
}

/** Finds out what an address stands for. */
export class Resolver {
  readonly #chunks: Chunks;
  readonly #maps: DataMaps;
  readonly #prefetcher: Prefetcher;
  readonly #known = new LRUCache<string, Content>({
    maxSize: rememberedBytes,
    sizeCalculation: sizeOf,
  });
  readonly #resolving = new SingleFlight<Content>();
  /** For whom addresses are being resolved. They go on to read what comes ahead. */
  readonly #readers = new Map<string, AbortGroup>();

  readonly #pointers: Pointers;
  readonly #manifests: LocalManifests | undefined;
  readonly #denied: ReadonlySet<string>;

  /** @param denied addresses (hex) that are never resolved, whatever names them. */
  constructor({
    chunks,
    peers,
    maps = new DataMaps(),
    manifests,
    pointers,
    denied = new Set(),
  }: ResolverOptions) {
    this.#chunks = chunks;
    this.#maps = maps;
    this.#prefetcher = new Prefetcher({ chunks, peers, maps });
    this.#pointers = new Pointers(peers, pointers);
    this.#manifests = manifests;
    this.#denied = denied;
  }

  /**
   * What an address leads to. Where no peer has a chunk, it may be a pointer's: that is followed.
   * @throws AntwayError as `resolve`; `NOT_FOUND` when a pointer leads to nothing, `TOO_LARGE` when it leads through
   *   too many others.
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

  /** The record's own bytes, unopened: a chunk's, or a pointer's. */
  async locateRecord(address: Address, signal?: AbortSignal, trace?: Trace): Promise<LocatedRecord> {
    const ofPointer = async () => {
      const pointer = await this.#pointers.newest(address, signal);
      return pointer && { bytes: pointer.record, pointer };
    };
    return this.#pointerOr<LocatedRecord>(address, () => this.record(address, signal, trace), ofPointer);
  }

  /** What `ofChunk` gives, or, where a pointer was or is found in place of a chunk, what `ofPointer` does. */
  async #pointerOr<T>(
    address: Address,
    ofChunk: () => Promise<T>,
    ofPointer: () => Promise<T | undefined>,
  ): Promise<T> {
    this.#admit(address);
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

  /** Follows pointers to a chunk. @returns undefined when there is no pointer at `address`. */
  async #follow(address: Address, signal?: AbortSignal): Promise<Address | undefined> {
    let at = address;
    for (let depth = 0; depth < limits.pointerDepth; depth++) {
      const pointer = await this.#pointers.newest(at, signal);
      if (!pointer && depth === 0) return undefined;
      if (!pointer) {
        throw new AntwayError('NOT_FOUND', `The pointer leads to another one, ${at}, which no peer has.`, {
          address: address.hex,
        });
      }
      at = pointer.target;
      this.#admit(at);
      if (pointer.kind === 'chunk') return at;
    }
    throw new AntwayError('TOO_LARGE', `The pointer leads through more than ${limits.pointerDepth} others.`, {
      address: address.hex,
    });
  }

  /**
   * Costs the record, the records of nested maps, a file's first chunk (is it a tar?) and an archive's last.
   * @throws AntwayError `DENIED`, `UNSUPPORTED` for an unknown map version, `TOO_LARGE`, `CORRUPT`, or as `Chunks.record`.
   */
  async resolve(address: Address, signal?: AbortSignal, trace?: Trace, hint?: ReadHint): Promise<Content> {
    this.#admit(address);
    const known = this.#known.get(address.hex);
    if (known) return known;
    signal?.throwIfAborted();
    const readers = this.#join(address, signal);
    return this.#resolving.run(address.hex, signal, async (shared) => {
      try {
        const content = await this.#resolve(address, shared, readers.signal, trace, hint);
        this.#known.set(address.hex, content);
        return content;
      } finally {
        if (this.#readers.get(address.hex) === readers) this.#readers.delete(address.hex);
      }
    });
  }

  /** Joins those who resolve this now, and then read it. */
  #join({ hex }: Address, signal?: AbortSignal): AbortGroup {
    let readers = this.#readers.get(hex);
    if (!readers || readers.signal.aborted) {
      readers = new AbortGroup();
      this.#readers.set(hex, readers);
    }
    readers.join(signal);
    return readers;
  }

  /** The record's own bytes, unopened. */
  record(address: Address, signal?: AbortSignal, trace?: Trace): Promise<VerifiedChunk> {
    this.#admit(address);
    return this.#chunks.record(address, { signal, trace });
  }

  #admit(address: Address): void {
    if (this.#denied.has(address.hex)) {
      throw new AntwayError('DENIED', 'This address is on the deny list of this gateway.', {
        address: address.hex,
      });
    }
  }

  /** Forgets what an address stood for: its local manifest was taken away. */
  forget(address: Address): void {
    this.#known.delete(address.hex);
  }

  /** @param whileRead aborts when nobody reads any more what is fetched together with the record. */
  async #resolve(
    address: Address,
    signal: AbortSignal,
    whileRead: AbortSignal,
    trace?: Trace,
    hint?: ReadHint,
  ): Promise<Content> {
    const manifest = await this.#manifests?.get(address);
    if (manifest) return this.#loadManifest(manifest, signal);
    const onMiss = () => {
      if (hint) this.#prefetcher.start(address, prefetchParts(hint), whileRead);
    };
    const { bytes } = await this.#chunks.record(address, { signal, trace, onMiss });
    const { map } = this.#maps.decode(address, bytes);
    if (!map) return { kind: 'record', source: memorySource(bytes) };
    const file = await this.#loadFile(map, signal, trace);
    const start = await file.read(0, Math.min(blockBytes, file.size), signal, trace);
    if (isTar(start)) return { kind: 'archive', archive: await loadTarchive(file, signal), tar: file };
    if (!isManifest(start)) return { kind: 'file', source: file };
    if (file.size > limits.manifestBytes) {
      throw new AntwayError('TOO_LARGE', `A manifest has at most ${limits.manifestBytes} bytes.`);
    }
    return this.#loadManifest(await file.read(0, file.size, signal, trace), signal);
  }

  async #loadFile(map: DataMap, signal?: AbortSignal, trace?: Trace): Promise<ContentFile> {
    const root = await unshrink(map, (level, index) => this.#chunks.read(level, index, signal, trace));
    return new ContentFile(root, this.#chunks);
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
    const start = await source.read(0, Math.min(blockBytes, source.size), signal);
    if (!(source instanceof ContentFile) || !isTar(start)) return { kind: 'file', source };
    return { kind: 'archive', archive: await loadTarchive(source, signal), tar: source };
  }

  async #loadSource(source: ManifestSource, signal?: AbortSignal): Promise<ByteSource> {
    if (source.kind === 'embedded') return this.#loadFile(source.map, signal);
    this.#admit(source.address);
    const { bytes } = await this.#chunks.record(source.address, { signal });
    const { map } = this.#maps.decode(source.address, bytes);
    return map ? this.#loadFile(map, signal) : memorySource(bytes);
  }
}
