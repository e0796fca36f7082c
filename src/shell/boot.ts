import { siteOfHost } from '../gateway/origins/site-host.ts';
import { BootError } from './boot-error.ts';
import { mayReopen, type Reopening } from './reopen-guard.ts';
import { texts } from './texts/texts.ts';
import { registerWorker, untilActive } from './worker.ts';

const storageKey = 'antway.reopened';

/** The shell's own page, as the worker knows it. Every other path is content, and on a site's own origin every path is. */
export function isShellPath({ host, pathname }: Location): boolean {
  return (pathname === '/' || pathname === '/index.html') && siteOfHost(host) === undefined;
}

/** The start page's URL: on a site's own origin `/` is the site's. */
export function homeOf({ host, protocol }: Location): string {
  const site = siteOfHost(host);
  return site ? `${protocol}//${site.rootHost}/` : '/';
}

/**
 * Opens this page's URL through the worker. A host answers a deep link with the shell document as long as no
 * worker stands in between: on the first visit, and on every hard reload.
 *
 * Resolves when the navigation has begun. This page then goes away, except when the answer is a download.
 *
 * @throws BootError when there is no worker, or when it had its turn and this page was loaded all the same.
 */
export async function openThroughWorker(): Promise<void> {
  const url = location.href;
  const wasControlled = navigator.serviceWorker?.controller != null;
  const registration = await registerWorker();
  await untilActive(registration);
  if (!mayReopen(url, isReload(), readReopening(), Date.now())) throw notAnswered(wasControlled);
  writeReopening({ url, at: Date.now() });
  navigateTo(url);
}

/**
 * Loads `url` in place of this page, as a navigation and not as a reload: `mayReopen` tells the two apart.
 * A URL with a fragment that differs in nothing else would only scroll, so the page first steps aside.
 */
function navigateTo(url: string): void {
  if (url.includes('#')) history.replaceState(null, '', '/-/');
  location.replace(url);
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

/** Without a place to remember the navigation, nothing would stop this page from loading itself for ever. */
function storageBlocked(cause: unknown): BootError {
  return new BootError('STORAGE_BLOCKED', texts.boot.storageBlocked, { cause });
}

function notAnswered(wasControlled: boolean): BootError {
  return wasControlled
    ? new BootError('NOTHING_HERE', texts.boot.nothingAt(location.pathname))
    : new BootError('NOT_ANSWERED', texts.boot.notAnswered);
}
