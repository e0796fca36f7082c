import { encodePath } from '../../gateway/http/target.ts';
import { base64Url } from '../../util/base64-url.ts';
import { gatewayLink } from '../share/share-links.ts';
import type { EncryptedContent } from './messages.ts';
import type { Picked } from './pick.ts';

/** The path of published content below its address. The name of a single file sets its media type. */
export function pathOf({ name, isFolder }: Pick<Picked, 'name' | 'isFolder'>): string {
  return isFolder ? '/' : `/${encodePath(name)}`;
}

/** The link that opens the content through the gateway at an origin. A manifest is in the fragment, which browsers never send. */
export function openLink(
  { address, manifest }: Pick<EncryptedContent, 'address' | 'manifest'>,
  picked: Pick<Picked, 'name' | 'isFolder'>,
  origin: string,
): string {
  const text = manifest && base64Url(manifest);
  return gatewayLink({ address, path: pathOf(picked), manifest: text }, origin);
}
