/** The last navigation that this page made to its own URL, so that the worker answers it. */
export interface Reopening {
  url: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** A second shell document for the same URL within this time is the answer to the first one's navigation. */
const guardMs = 30_000;

/**
 * Whether a shell document that was loaded for `url` may navigate to it once more.
 *
 * @param isReload the user reloaded: a hard reload goes past the worker by design, so it counts afresh.
 *   Navigations of our own are never reloads.
 */
export function mayReopen(url: string, isReload: boolean, last: Reopening | null, now: number): boolean {
  return isReload || last === null || last.url !== url || Math.abs(now - last.at) > guardMs;
}
