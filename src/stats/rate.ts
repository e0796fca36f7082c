/** Length of one measurement, in milliseconds. */
const windowMs = 500;
/** Age at which a measured rate counts half. Links change, but a quiet minute says nothing about them. */
const halfLifeMs = 20_000;

/** The highest recent rate of arriving bytes, as a measure of what the link can do. */
export class RateMeter {
  #windowStart = 0;
  #windowBytes = 0;
  #peak = 0;
  #peakAt = 0;

  /** @param now in milliseconds, from any fixed point. */
  record(bytes: number, now: number): void {
    const elapsed = now - this.#windowStart;
    if (elapsed > 2 * windowMs) {
      // The link was idle: start a new measurement.
      this.#windowStart = now;
      this.#windowBytes = 0;
    } else if (elapsed >= windowMs) {
      const rate = (this.#windowBytes + bytes) / (elapsed / 1000);
      if (rate >= this.bytesPerSecond(now)) {
        this.#peak = rate;
        this.#peakAt = now;
      }
      this.#windowStart = now;
      this.#windowBytes = 0;
      return;
    }
    this.#windowBytes += bytes;
  }

  /** 0 before the first measurement. */
  bytesPerSecond(now: number): number {
    return this.#peak * 0.5 ** ((now - this.#peakAt) / halfLifeMs);
  }
}
