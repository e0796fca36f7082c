import { Address } from '../address.ts';
import type { Site } from '../library/library.ts';

/** Where a site opens again: in the reader that showed it last, or as a page. */
export function hrefOfSite({ path, reader }: Pick<Site, 'path' | 'reader'>): string {
  return reader === undefined ? path : `/#read=${path.slice(1)}${reader}`;
}

/**
 * The address that opens a site, as hex digits: for a pointer its own, and not that of its target. A site that was opened
 * by a name of the host has that of its content.
 */
export function addressOfPath({ path, address }: Pick<Site, 'path' | 'address'>): string {
  const [, root = ''] = /^\/([^/?#]*)/.exec(path) ?? [];
  return Address.isHex(root) ? root.toLowerCase() : address;
}
