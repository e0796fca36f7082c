/** The last navigation of this page to its own URL, which the worker should answer. */
export interface Reopening {
  url: string;
  /** Milliseconds since 1970. */
  at: number;
}

/**
 * A second shell document for the same URL within this time, in milliseconds, is the answer to the first navigation.
 */
const guardMs = 30_000;

/**
 * Whether a shell document that was loaded for `url` may navigate to it again.
 *
 * @param isReload whether the user reloaded the page. A hard reload bypasses the worker by design, so it starts a new
 *   count. Navigations of this page are never reloads.
 */
export function mayReopen(url: string, isReload: boolean, last: Reopening | null, now: number): boolean {
  return isReload || last === null || last.url !== url || Math.abs(now - last.at) > guardMs;
}
