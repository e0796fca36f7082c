import { shortAddress } from '../address.ts';
import type { Site } from '../library/library.ts';
import { decodePath } from './format.ts';
import { sanitizeLine } from './sanitize-line.ts';

/** A site's name or address from its URL, without the outer slashes and short enough for one line. */
export function placeOf({ path }: Pick<Site, 'path'>): string {
  const place = sanitizeLine(decodePath(path)).replace(/^\/|\/$/g, '');
  // Shorten any address in the path: the address of a pointer differs from the address of its target.
  return place.replace(/^[0-9a-f]{64}/, shortAddress);
}

export function titleOf(site: Pick<Site, 'title' | 'path'>): string {
  return sanitizeLine(site.title ?? '') || placeOf(site);
}
