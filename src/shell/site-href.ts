import type { Site } from '../library/library.ts';

/** Where a site opens again: in the reader that showed it last, or as a page. */
export function hrefOfSite({ path, reader }: Pick<Site, 'path' | 'reader'>): string {
  return reader === undefined ? path : `/#read=${path.slice(1)}${reader}`;
}
