import { Chunks } from '../../chunks/chunks.ts';
import type { PinningStore } from '../../chunks/store.ts';
import { type LocalManifests, Resolver } from '../../content/resolver.ts';
import { AntwayError } from '../../errors.ts';
import type { Library } from '../../library/library.ts';
import type { ChunkPeers } from '../../peers/selection/pool.ts';
import type { Codec } from '../../self-encryption/codec.ts';
import { Stats } from '../../stats/stats.ts';
import type { ContentTarget } from '../http/target.ts';

/** How much of something is kept on this device, in chunks. `total` is null where it cannot be told. */
export interface StoredShare {
  stored: number;
  total: number | null;
}

/** How much is kept of what a URL names. */
export interface StoredParts {
  /** The one file of an archive that the URL names; null where it names none, or it is not known which. */
  file: (StoredShare & { path: string }) | null;
  /** All that the address stands for. */
  whole: StoredShare;
}

const nobody: ChunkPeers = {
  fetch: async ({ hex }) => {
    throw new AntwayError('NOT_FOUND', 'This is not kept here.', { address: hex });
  },
};

/** A resolver that asks no peer, and whose reads are not counted. */
export function localResolver(options: {
  codec: Codec;
  store: PinningStore;
  manifests: LocalManifests;
  denied: ReadonlySet<string>;
}): Resolver {
  const { codec, store, manifests, denied } = options;
  const chunks = new Chunks({ codec, store, peers: nobody, stats: new Stats(), memoryBytes: 0 });
  return new Resolver({ chunks, peers: nobody, manifests, denied });
}

/**
 * How much is kept of what a URL names, told without asking anybody.
 * @param resolver one that asks no peer.
 */
export async function storedPartsOf(
  { address, path }: ContentTarget,
  { resolver, library, store }: { resolver: Resolver; library: Library; store: PinningStore },
): Promise<StoredParts> {
  const whole = await library.storedShare(address);
  const file = path === undefined ? null : await keptFile().catch(() => null);
  return { file, whole };

  /** Fails when the archive's index is not kept, as it then cannot be known where the file is. */
  async function keptFile(): Promise<StoredParts['file']> {
    const content = await resolver.resolve(address);
    if (content.kind !== 'archive') return null;
    const found = content.archive.find(path!);
    if (found.kind !== 'member') return null;
    const source = await found.member.load();
    const chunks = source.chunks(0, source.size);
    const sizes = await store.sizes();
    const stored = chunks.filter(({ hex }) => sizes.has(hex)).length;
    return { path: found.member.path, stored, total: chunks.length };
  }
}
