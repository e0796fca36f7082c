import { encodePath } from '../../gateway/http/target.ts';
import type { EncryptedContent } from './messages.ts';
import type { Picked } from './pick.ts';

interface Links {
  /** Opens the content through this gateway. */
  gateway: string;
  /** Opens the content through any gateway. */
  ant: string;
}

/** The link of a private file contains the manifest in its fragment, which browsers never send to a server. */
export function linksOf(
  { address, manifest }: EncryptedContent,
  { name, isFolder }: Picked,
  origin: string,
): Links {
  // The file name in the URL is not part of the address. It sets the media type and the name of a download.
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
