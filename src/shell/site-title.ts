import type { Site } from '../library/library.ts';
import { decodePath, shortAddress } from './format.ts';

/** A site's name or address as its URL has it, without the slashes around it and short enough for a line. */
export function placeOf({ path }: Pick<Site, 'path'>): string {
  const place = decodePath(path).replace(/^\/|\/$/g, '');
  // A pointer's address is another one than that of what it leads to.
  return place.replace(/^[0-9a-f]{64}/, shortAddress);
}

/** What a site is called: by itself, by a name that it was opened by, or by where it is. */
export function titleOf(site: Pick<Site, 'title' | 'path'>): string {
  return site.title || placeOf(site);
}
