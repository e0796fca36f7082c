import { siteOfHost } from '../gateway/origins/site-host.ts';
import { loadOwnUrl } from '../util/own-url.ts';
import { BootError } from './boot-error.ts';
import { mayReopen, type Reopening } from './reopen-guard.ts';
import { texts } from './texts/texts.ts';
import { registerWorker, untilActive } from './worker.ts';

const storageKey = 'antway.reopened';

/** The worker uses the same rule. Every other path is content, as is every path on a site's own origin. */
export function isShellPath({ host, pathname }: Location): boolean {
  return (pathname === '/' || pathname === '/index.html') && siteOfHost(host) === undefined;
}

/** Returns the URL of the start page. On a site's own origin, `/` belongs to the site. */
export function homeOf({ host, protocol }: Location): string {
  const site = siteOfHost(host);
  return site ? `${protocol}//${site.rootHost}/` : '/';
}

/**
 * Opens this page's URL through the worker. A host answers a deep link with the shell document if no worker intercepts
 * the request: on the first visit, and on every hard reload. Resolves when the navigation has started. It replaces this
 * page, except when the answer is a download.
 * @throws BootError when there is no worker, or when a navigation through the worker has loaded this page again.
 */
export async function openThroughWorker(): Promise<void> {
  const url = location.href;
  const wasControlled = navigator.serviceWorker?.controller != null;
  const registration = await registerWorker();
  await untilActive(registration);
  if (!mayReopen(url, isReload(), readReopening(), Date.now())) throw notAnswered(wasControlled);
  writeReopening({ url, at: Date.now() });
  // Not a reload, because `mayReopen` tells the two apart.
  loadOwnUrl();
}

function isReload(): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation?.type === 'reload';
}

function readReopening(): Reopening | null {
  try {
    const [at, url] = sessionStorage.getItem(storageKey)?.split(' ') ?? [];
    return at && url ? { url, at: Number(at) } : null;
  } catch (error) {
    throw storageBlocked(error);
  }
}

function writeReopening({ url, at }: Reopening): void {
  try {
    sessionStorage.setItem(storageKey, `${at} ${url}`);
  } catch (error) {
    throw storageBlocked(error);
  }
}

/** Without session storage, the page cannot remember its navigation, and could reload itself forever. */
function storageBlocked(cause: unknown): BootError {
  return new BootError('STORAGE_BLOCKED', texts.boot.storageBlocked, { cause });
}

function notAnswered(wasControlled: boolean): BootError {
  return wasControlled
    ? new BootError('NOTHING_HERE', texts.boot.nothingAt(location.pathname))
    : new BootError('NOT_ANSWERED', texts.boot.notAnswered);
}
