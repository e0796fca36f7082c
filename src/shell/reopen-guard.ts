/** The last navigation of this page to its own URL, which the worker should answer. */
export interface Reopening {
  url: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** A second shell document for the same URL within this time answers the first navigation. In milliseconds. */
const guardMs = 30_000;

/** A hard reload bypasses the worker by design, so it starts a new count. Own navigations are never reloads. */
export function mayReopen(url: string, isReload: boolean, last: Reopening | null, now: number): boolean {
  return isReload || last === null || last.url !== url || Math.abs(now - last.at) > guardMs;
}
