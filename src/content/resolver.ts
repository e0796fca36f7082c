import { LRUCache } from 'lru-cache';
import type { Address } from '../address.ts';
import type { Chunks } from '../chunks/chunks.ts';
import { SingleFlight } from '../chunks/single-flight.ts';
import type { VerifiedChunk } from '../chunks/verified-chunk.ts';
import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import { type DataMap, decodeDataMap } from '../self-encryption/data-map.ts';
import { unshrink } from '../self-encryption/file.ts';
import type { Trace } from '../stats/trace.ts';
import { Archive, type Member } from './archive.ts';
import { type ByteSource, memorySource } from './byte-source.ts';
import { ContentFile } from './file.ts';
import { isManifest, type ManifestSource, parseManifest } from './manifest.ts';
import { blockBytes } from './tar-header.ts';
import { isTar, openTarchive } from './tarchive.ts';

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

/** Parsed maps and indexes kept in memory, so that a page's hundred requests parse them once. */
const remembered = 32;

/** Finds out what an address stands for. */
export class Resolver {
  readonly #chunks: Chunks;
  readonly #known = new LRUCache<string, Content>({ max: remembered });
  readonly #resolving = new SingleFlight<Content>();

  readonly #manifests: LocalManifests | undefined;

  constructor(chunks: Chunks, manifests?: LocalManifests) {
    this.#chunks = chunks;
    this.#manifests = manifests;
  }

  /**
   * Costs the record, the records of nested maps, a file's first chunk (is it a tar?) and an archive's last.
   * @throws AntwayError `UNSUPPORTED` for an unknown map version, `TOO_LARGE`, `CORRUPT`, or as `Chunks.record`.
   */
  async resolve(address: Address, signal?: AbortSignal, trace?: Trace): Promise<Content> {
    const known = this.#known.get(address.hex);
    if (known) return known;
    return this.#resolving.run(address.hex, signal, async (shared) => {
      const content = await this.#resolve(address, shared, trace);
      this.#known.set(address.hex, content);
      return content;
    });
  }

  /** The record's own bytes, unopened. */
  record(address: Address, signal?: AbortSignal, trace?: Trace): Promise<VerifiedChunk> {
    return this.#chunks.record(address, signal, trace);
  }

  /** Forgets what an address stood for: its local manifest was taken away. */
  forget(address: Address): void {
    this.#known.delete(address.hex);
  }

  async #resolve(address: Address, signal: AbortSignal, trace?: Trace): Promise<Content> {
    const manifest = await this.#manifests?.get(address);
    if (manifest) return this.#openManifest(manifest, signal);
    const { bytes } = await this.#chunks.record(address, signal, trace);
    const map = decodeDataMap(bytes);
    if (!map) return { kind: 'record', source: memorySource(bytes) };
    const file = await this.#openFile(map, signal, trace);
    const start = await file.read(0, Math.min(blockBytes, file.size), signal, trace);
    if (isTar(start)) return { kind: 'archive', archive: await openTarchive(file, signal), tar: file };
    if (!isManifest(start)) return { kind: 'file', source: file };
    if (file.size > limits.manifestBytes) {
      throw new AntwayError('TOO_LARGE', `A manifest has at most ${limits.manifestBytes} bytes.`);
    }
    return this.#openManifest(await file.read(0, file.size, signal, trace), signal);
  }

  async #openFile(map: DataMap, signal?: AbortSignal, trace?: Trace): Promise<ContentFile> {
    const root = await unshrink(map, (level, index) => this.#chunks.open(level, index, signal, trace));
    return new ContentFile(root, this.#chunks);
  }

  async #openManifest(bytes: Uint8Array, signal: AbortSignal): Promise<Content> {
    const { name, entries, refused } = parseManifest(bytes, await this.#chunks.codec.blake3());
    const members = entries.map(
      ({ path, size, source }): Member => ({
        path,
        size,
        modified: 0,
        open: (opening) => this.#openSource(source, opening),
      }),
    );
    return {
      kind: 'archive',
      archive: await Archive.open(members, { name, refused }, signal),
      tar: undefined,
    };
  }

  async #openSource(source: ManifestSource, signal?: AbortSignal): Promise<ByteSource> {
    if (source.kind === 'embedded') return this.#openFile(source.map, signal);
    const { bytes } = await this.#chunks.record(source.address, signal);
    const map = decodeDataMap(bytes);
    return map ? this.#openFile(map, signal) : memorySource(bytes);
  }
}
