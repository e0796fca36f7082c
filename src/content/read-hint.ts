import { limits } from '../limits.ts';
import type { FileRange } from '../peers/transports/protocol.ts';
import type { DataMap } from '../self-encryption/data-map.ts';
import type { PrefetchPart } from './prefetcher.ts';

/** The bytes that a request will read, so that they can be fetched together with the map. */
export interface ReadHint {
  /** Undefined for the whole file. */
  range?: FileRange | undefined;
  /** Whether the URL names a path inside the address, as in an archive. */
  isInside: boolean;
  isHead: boolean;
}

/**
 * Returns the parts to prefetch with the map: the first chunk (is it a tar?), and the requested range or the beginning
 * of the file. For a path inside an archive the end comes first, because no file can be found without the index.
 */
export function prefetchParts({ range, isInside, isHead }: ReadHint): PrefetchPart[] {
  const first = { start: 0, length: 1 };
  // The range refers to a member, whose position in the archive is not known yet.
  if (isHead || (isInside && range)) return [{ range: first }];
  if (isInside) {
    // Fetch a small archive completely. For a large archive, only the end is needed, and then the member.
    const range = { endFirst: limits.prefetchBytes };
    return [{ range, needed: ({ size }) => (size <= limits.prefetchBytes ? range : { endFirst: 1 }) }];
  }
  const part = range ?? { start: 0, length: limits.prefetchBytes };
  if ('start' in part && part.start === 0) return [{ range: part }];
  const startIn = ({ size }: DataMap) => ('last' in part ? size - part.last : part.start);
  return [
    { range: part },
    { range: first, needed: (file) => (startIn(file) < file.offsets[1]! ? undefined : first) },
  ];
}
