/** How long a navigation may wait for its server, in milliseconds. */
const mostMs = 10_000;

/**
 * Knows whether the user is leaving this page. Firefox then ends the page's requests, long before the page itself ends. A
 * page that goes elsewhere because of their errors ends the user's navigation.
 */
export class LeaveWatch {
  #leftAt = Number.NEGATIVE_INFINITY;

  /** @returns ends the watch. Some browsers do not store a page with such a listener for the way back. */
  watch(): () => void {
    const note = () => {
      this.#leftAt = performance.now();
    };
    addEventListener('beforeunload', note);
    return () => removeEventListener('beforeunload', note);
  }

  /** How long this page may not go elsewhere, because the user is leaving it. In milliseconds. */
  get waitMs(): number {
    return Math.max(0, this.#leftAt + mostMs - performance.now());
  }
}
