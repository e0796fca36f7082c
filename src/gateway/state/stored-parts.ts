import type { PinningStore } from '../../chunks/store.ts';
import type { Resolver } from '../../content/resolver.ts';
import type { Library } from '../../library/library.ts';
import type { ContentTarget } from '../http/target.ts';

/** How many chunks are stored on this device. `total` is null if unknown. */
export interface StoredChunks {
  stored: number;
  total: number | null;
}

/** How much of a URL's content is stored on this device. */
export interface StoredParts {
  /** The file in an archive that the URL names. Null if there is none, or if the archive's index is not stored. */
  file: (StoredChunks & { path: string }) | null;
  whole: StoredChunks;
}

/** @param resolver a resolver that sends no requests to peers. */
export async function storedPartsOf(
  { address, path }: ContentTarget,
  { resolver, library, store }: { resolver: Resolver; library: Library; store: PinningStore },
): Promise<StoredParts> {
  const whole = await library.storedChunks(address);
  const file = path === undefined ? null : await storedFile().catch(() => null);
  return { file, whole };

  /** Rejects if the archive's index is not stored, because the location of the file is then unknown. */
  async function storedFile(): Promise<StoredParts['file']> {
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
