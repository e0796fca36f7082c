import { LRUCache } from 'lru-cache';
import type { Address } from '../address.ts';
import type { Chunks } from '../chunks/chunks.ts';
import { SingleFlight } from '../chunks/single-flight.ts';
import type { VerifiedChunk } from '../chunks/verified-chunk.ts';
import { decodeDataMap } from '../self-encryption/data-map.ts';
import { unshrink } from '../self-encryption/file.ts';
import type { Archive } from './archive.ts';
import { type ByteSource, memorySource } from './byte-source.ts';
import { ContentFile } from './file.ts';
import { isTar, openTarchive } from './tarchive.ts';

/** What an address stands for. */
export type Content =
  | { kind: 'file'; source: ByteSource }
  | { kind: 'archive'; archive: Archive; source: ByteSource }
  /** A record that is not a data map: its own bytes are the content. */
  | { kind: 'record'; source: ByteSource };

/** Parsed maps and indexes kept in memory, so that a page's hundred requests parse them once. */
const remembered = 32;

/** Finds out what an address stands for. */
export class Resolver {
  readonly #chunks: Chunks;
  readonly #known = new LRUCache<string, Content>({ max: remembered });
  readonly #resolving = new SingleFlight<Content>();

  constructor(chunks: Chunks) {
    this.#chunks = chunks;
  }

  /**
   * Costs the record, the records of nested maps, a file's first chunk (is it a tar?) and an archive's last.
   * @throws AntwayError `UNSUPPORTED` for an unknown map version, `TOO_LARGE`, `CORRUPT`, or as `Chunks.record`.
   */
  async resolve(address: Address, signal?: AbortSignal): Promise<Content> {
    const known = this.#known.get(address.hex);
    if (known) return known;
    return this.#resolving.run(address.hex, signal, async (shared) => {
      const content = await this.#resolve(address, shared);
      this.#known.set(address.hex, content);
      return content;
    });
  }

  /** The record's own bytes, unopened. */
  record(address: Address, signal?: AbortSignal): Promise<VerifiedChunk> {
    return this.#chunks.record(address, signal);
  }

  async #resolve(address: Address, signal: AbortSignal): Promise<Content> {
    const { bytes } = await this.#chunks.record(address, signal);
    const map = decodeDataMap(bytes);
    if (!map) return { kind: 'record', source: memorySource(bytes) };
    const root = await unshrink(map, (level, index) => this.#chunks.open(level, index, signal));
    const file = new ContentFile(address, root, this.#chunks);
    if (!(await isTar(file, signal))) return { kind: 'file', source: file };
    return { kind: 'archive', archive: await openTarchive(file, signal), source: file };
  }
}
