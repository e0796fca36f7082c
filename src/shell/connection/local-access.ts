/**
 * Local Network Access: Chromium asks the user before a page may send requests to a more private address space than its
 * own. Browsers without this rule ignore the option of `fetch` and know no such permission.
 * https://wicg.github.io/local-network-access/
 */

import { isLoopback, splitKind } from '../../peer-url.ts';

export type Space = 'loopback' | 'local' | 'public';

/** The address space of a peer's URL or an origin. A name that resolves to a private address counts as public. */
export function spaceOf(url: string): Space {
  const parsed = new URL(splitKind(url).url);
  if (isLoopback(parsed)) return 'loopback';
  const { hostname } = parsed;
  const isLocal =
    /^(10(\.\d+){3}|192\.168(\.\d+){2}|172\.(1[6-9]|2\d|3[01])(\.\d+){2}|169\.254(\.\d+){2})$/.test(
      hostname,
    ) ||
    /^\[f[cd][0-9a-f]{2}:|^\[fe[89ab][0-9a-f]:/.test(hostname) ||
    /\.local$/.test(hostname);
  return isLocal ? 'local' : 'public';
}

const order: readonly Space[] = ['public', 'local', 'loopback'];

/** Whether the user may have to allow requests of this page to a URL. */
export function needsAccess(url: string): boolean {
  return order.indexOf(spaceOf(url)) > order.indexOf(spaceOf(location.origin));
}

/** Whether the browser refuses requests of this page to a URL: by the user's decision, or because of no decision. */
export async function isRefused(url: string): Promise<boolean> {
  const state = needsAccess(url) ? await accessTo(spaceOf(url)) : undefined;
  return state === 'denied' || state === 'prompt';
}

/** Chromium 145 split the permission of Chromium 142 into two. */
const permissions: Record<Exclude<Space, 'public'>, readonly string[]> = {
  loopback: ['loopback-network', 'local-network-access'],
  local: ['local-network', 'local-network-access'],
};

/** The browser's permission to reach a space. Undefined if the browser needs or knows none. */
export async function accessTo(space: Space): Promise<PermissionState | undefined> {
  if (space === 'public') return undefined;
  for (const name of permissions[space]) {
    try {
      return (await navigator.permissions.query({ name: name as PermissionName })).state;
    } catch {
      // The browser does not know this name.
    }
  }
  return undefined;
}

/** The option of `fetch` that names the space. It allows `http://` from an `https://` page, too. */
export function targetOf(url: string): { targetAddressSpace?: Space } {
  const space = spaceOf(url);
  return space === 'public' ? {} : { targetAddressSpace: space };
}

/**
 * Sends a request from this page, so that the browser can ask the user. The answer is not read.
 * @returns whether a server answered.
 */
export async function requestAccess(url: string, signal: AbortSignal): Promise<boolean> {
  const init = {
    mode: 'no-cors',
    cache: 'no-store',
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    signal,
    ...targetOf(url),
  } as const;
  try {
    await fetch(`${new URL(splitKind(url).url).origin}/-/info`, init);
    return true;
  } catch {
    return false;
  }
}
