import { encodePath } from '../../gateway/http/target.ts';
import type { Sealed } from './messages.ts';
import type { Picked } from './pick.ts';

export interface Links {
  /** Opens it through this gateway. */
  gateway: string;
  /** Opens it through any. */
  ant: string;
}

/**
 * The links of what was published. A private one carries the manifest in its fragment, which browsers send to
 * nobody.
 *
 * @param origin this gateway's.
 */
export function linksOf({ address, manifest }: Sealed, { name, isFolder }: Picked, origin: string): Links {
  // A file's name in its URL is for people only; it sets the type and the name of a download.
  const path = isFolder ? '/' : `/${encodePath(name)}`;
  if (manifest) {
    const text = base64Url(manifest);
    return { gateway: `${origin}/#manifest/${text}${isFolder ? '' : path}`, ant: `ant://manifest/${text}` };
  }
  return { gateway: `${origin}/${address}${path}`, ant: `ant://${address}${path}` };
}

function base64Url(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}
