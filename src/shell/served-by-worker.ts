const storageKey = 'antway.viewer-reloads';
/** More reloads in a row mean that reloads do not help. */
const mostReloads = 2;

/** A worker that takes over a page later has not served it. So this is read while the document loads. */
const isServed = globalThis.navigator?.serviceWorker?.controller != null;

/**
 * Whether the worker has served this document, and not the host. The viewer relies on the worker's headers: they let a
 * frame show content, and they separate this window from windows that the content opens.
 */
export function isServedByWorker(): boolean {
  return isServed;
}

/** Loads this document again, through the worker. @returns false if that has not helped. */
export function reloadThroughWorker(): boolean {
  try {
    const reloads = Number(sessionStorage.getItem(storageKey));
    if (reloads >= mostReloads) return false;
    sessionStorage.setItem(storageKey, String(reloads + 1));
  } catch {
    return false; // storage is blocked, so a loop could not be noticed
  }
  location.reload();
  return true;
}

/** Call this when the worker has served this document. */
export function forgetReloads(): void {
  try {
    sessionStorage.removeItem(storageKey);
  } catch {
    // Storage is blocked, so nothing is stored.
  }
}
