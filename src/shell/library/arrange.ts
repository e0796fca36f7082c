import type { Site } from '../../library/library.ts';
import { titleOf } from '../site-title.ts';

export type Sort = 'opened' | 'title' | 'size';

/** `mine` is the list of the user's publications, and not a part of the sites. */
export const filters = ['all', 'sites', 'files', 'private', 'mine'] as const;
export type Filter = (typeof filters)[number];

export interface Arrangement {
  filter: Filter;
  query: string;
  sort: Sort;
  pinnedOnly: boolean;
}

/** Every word of the query must occur in the title, the name or the address. Equal sites keep their order. */
export function arrange<T extends Site>(
  sites: readonly T[],
  { query, sort, pinnedOnly, filter }: Arrangement,
): T[] {
  const words = query.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const matches = sites.filter((site) => {
    if (pinnedOnly && !site.pin) return false;
    if (!isOf(filter, site)) return false;
    if (words.length === 0) return true;
    const text = `${titleOf(site)} ${site.name ?? ''} ${site.path} ${site.address}`.toLocaleLowerCase();
    return words.every((word) => text.includes(word));
  });
  switch (sort) {
    case 'opened':
      return matches.sort((a, b) => (b.lastOpened ?? 0) - (a.lastOpened ?? 0));
    case 'title': {
      const { compare } = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });
      return matches.sort((a, b) => compare(titleOf(a), titleOf(b)));
    }
    case 'size':
      return matches.sort((a, b) => b.bytes.stored - a.bytes.stored);
  }
}

function isOf(filter: Filter, { kind, isManifest }: Site): boolean {
  switch (filter) {
    case 'sites':
      return kind === 'archive';
    case 'files':
      return kind !== 'archive';
    case 'private':
      return isManifest;
    default:
      return true;
  }
}

/** Sizes of missing chunks are estimates, so the bytes alone cannot tell that nothing is missing. */
const mostOfIncomplete = 0.99;

/** The share of a site's bytes that is stored, between 0 and 1. Null if the number of chunks is not known. */
export function shareOf({ chunks, bytes }: Pick<Site, 'chunks' | 'bytes'>): number | null {
  if (!chunks.total) return null;
  if (chunks.stored >= chunks.total) return 1;
  const [stored, total] = bytes.total ? [bytes.stored, bytes.total] : [chunks.stored, chunks.total];
  return Math.min(stored / total, mostOfIncomplete);
}
