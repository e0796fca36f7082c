/** Length of one measurement, in milliseconds. */
const windowMs = 500;
/** A rate seen this long ago counts half: links change, and a quiet minute says nothing about them. */
const halfLifeMs = 20_000;

/** The highest rate at which bytes arrived lately: what a link has shown that it can do. */
export class RateMeter {
  #windowStart = 0;
  #windowBytes = 0;
  #peak = 0;
  #peakAt = 0;

  /** @param now in milliseconds, from any fixed point. */
  record(bytes: number, now: number): void {
    const elapsed = now - this.#windowStart;
    if (elapsed > 2 * windowMs) {
      // Nothing was under way: what comes now begins a new measurement.
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

  /** 0 before anything was measured. */
  bytesPerSecond(now: number): number {
    return this.#peak * 0.5 ** ((now - this.#peakAt) / halfLifeMs);
  }
}
