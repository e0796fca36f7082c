import { type ContentTarget, encodePath } from '../http/target.ts';
import { siteOfHost } from './site-host.ts';

/**
 * The URL at which the app shows a folder. The app is at the gateway's own origin. The browser sends the fragment to no
 * server.
 * @param path not encoded, with a slash at its end, or empty.
 * @param origin of the gateway, or of the site.
 */
export function appUrlOf(
  { root, address }: Pick<ContentTarget, 'root' | 'address'>,
  path: string,
  origin: string,
): string {
  const { protocol, host } = new URL(origin);
  const site = siteOfHost(host);
  const app = site ? `${protocol}//${site.rootHost}` : '';
  return `${app}/#read=${root.slice(1) || address.hex}/${encodePath(path)}`;
}
