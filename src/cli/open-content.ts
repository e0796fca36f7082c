import type { Address } from '../address.ts';
import { Chunks } from '../chunks/chunks.ts';
import { type ChunkStore, noStore } from '../chunks/store.ts';
import type { Archive } from '../content/archive.ts';
import type { ByteSource } from '../content/byte-source.ts';
import { DataMaps } from '../content/data-maps.ts';
import { DecryptedChunks } from '../content/decrypted-chunks.ts';
import { findInArchive } from '../content/find-in-archive.ts';
import { type LocalManifests, Resolver } from '../content/resolver.ts';
import { AntwayError } from '../errors.ts';
import type { ChunkPeers } from '../peers/chunk-peers.ts';
import { PeerPool } from '../peers/selection/pool.ts';
import { Codec } from '../self-encryption/codec.ts';
import { Stats } from '../stats/stats.ts';
import { chunkFolderSource } from './chunk-folder.ts';
import { nodePlatform } from './platform.ts';
import { reportLatePeers } from './silent-peers.ts';
import type { CliTarget } from './target.ts';

/** Size of the cache for decrypted chunks. The index and the first chunk of an archive are read repeatedly. */
const memoryBytes = 64 * 1024 ** 2;

export interface ReaderOptions {
  /** A folder with chunks, which is read instead of the peers. */
  from: string | undefined;
  /** Chunks that need not be fetched, and where fetched chunks go. Default: none. */
  store?: ChunkStore;
  /** Whether late peers are not reported. */
  isSilent: boolean;
  signal: AbortSignal;
}

/** A connection to the peers, or a folder, that have the content of one target. */
export class ContentReader {
  readonly codec = new Codec(nodePlatform);
  readonly maps = new DataMaps();
  readonly chunks: Chunks;
  readonly decrypted: DecryptedChunks;
  readonly peers: ChunkPeers;
  readonly manifests: LocalManifests;
  readonly target: CliTarget;
  readonly #resolver: Resolver;
  readonly #pool: PeerPool | undefined;
  readonly #ended = new AbortController();
  readonly #signal: AbortSignal;

  constructor(target: CliTarget, { from, store = noStore, isSilent, signal }: ReaderOptions) {
    const stats = new Stats();
    this.target = target;
    this.#signal = signal;
    this.#pool = from === undefined ? new PeerPool(target.peers, stats) : undefined;
    this.peers = this.#pool ?? chunkFolderSource(from!);
    this.manifests = {
      get: async (id) => (id.equals(target.address) ? target.manifest : undefined),
    };
    const { codec, peers, maps, manifests } = this;
    this.chunks = new Chunks({ codec, store, peers, stats });
    this.decrypted = new DecryptedChunks({ chunks: this.chunks, codec, peers, stats, memoryBytes });
    const { chunks, decrypted } = this;
    this.#resolver = new Resolver({ chunks, decrypted, peers, maps, manifests });
    const either = AbortSignal.any([signal, this.#ended.signal]);
    if (this.#pool) void reportLatePeers(target.peers, either, isSilent);
  }

  /**
   * Resolves the target, and finds its path in an archive.
   * @throws AntwayError `NOT_FOUND`, and the errors of the content and chunk layers.
   */
  async open(): Promise<Opened> {
    const { address, paths } = this.target;
    const located = await this.#resolver.locate(address, this.#signal);
    const { content } = located;
    if (content.kind !== 'archive') {
      return { kind: 'file', address: located.address, source: content.source, path: paths[0] ?? '' };
    }
    const { archive, tar, zip } = content;
    let missing: AntwayError | undefined;
    for (const path of paths) {
      const found = await findInArchive(address, archive, path, this.#signal).catch((error) => {
        if (!(error instanceof AntwayError) || error.code !== 'NOT_FOUND') throw error;
        missing ??= error;
        return undefined;
      });
      if (!found) continue;
      const isWhole = 'folder' in found && found.folder === '';
      return { ...found, address: located.address, ...(tar && { tar }), ...(isWhole && zip && { zip }) };
    }
    throw missing;
  }

  close(): void {
    this.#ended.abort();
    this.#pool?.close();
  }
}

export interface OpenedFile {
  kind: 'file';
  /** The current target, if the address is a pointer’s. */
  address: Address;
  source: ByteSource;
  /** The path in the archive, or the path that the user gave with the address of a single file. */
  path: string;
  /** As of `OpenedFolder`. */
  tar?: ByteSource;
}

export interface OpenedFolder {
  kind: 'folder';
  address: Address;
  archive: Archive;
  /** `''` for the root, otherwise with a slash at its end. */
  folder: string;
  /** The bytes of the archive, if it is a tar. */
  tar?: ByteSource;
  /** The bytes of the archive, if it is a ZIP and the folder is its root. */
  zip?: ByteSource;
}

export type Opened = OpenedFile | OpenedFolder;
