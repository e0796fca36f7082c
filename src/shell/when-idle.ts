/** How long a busy page can delay the work, in milliseconds. */
const idleLimitMs = 10_000;

/** Runs work when the page is idle. Safari has no idle callbacks: there the work runs at once. */
export function whenIdle(run: () => void): void {
  if ('requestIdleCallback' in window) requestIdleCallback(run, { timeout: idleLimitMs });
  else run();
}
