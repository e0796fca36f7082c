/** The effect of a link on packets, in each direction. */
export interface LinkOptions {
  /** One way, in milliseconds. */
  delayMs: number;
  /** Share of datagrams that are lost at random, 0 to 1. Does not apply to TCP. */
  loss: number;
  /** Capacity in bits per second, headers of IP and UDP or TCP included. */
  bitsPerSecond: number;
  /** Longest time that a packet waits for its turn. The link drops a packet that would wait longer: drop-tail. */
  queueMs: number;
  /** The same seed loses the same datagrams of a sequence. */
  seed: number;
  /**
   * How many bytes a TCP connection may have in flight at first. It doubles in each round trip (slow start). Default: no
   * limit. Does not apply to datagrams.
   */
  tcpWindowBytes?: number;
}

export interface LinkTally {
  /** Datagrams. */
  sent: number;
  lost: number;
  /** Dropped because the queue was full. */
  overflowed: number;
  /** Of datagrams and streams, with their headers, that took up the link. */
  bytes: number;
}

/**
 * One direction of a link, as arithmetic: says when what is sent now arrives. Bytes leave one after the other at the
 * link's rate and then travel for the delay, so nothing overtakes anything.
 */
export class Link {
  readonly tally: LinkTally = { sent: 0, lost: 0, overflowed: 0, bytes: 0 };
  readonly #options: LinkOptions;
  readonly #random: () => number;
  #freeAtMs = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
  }

  /** Sends a datagram. @returns when it arrives, in the unit and from the origin of `nowMs`; undefined: never. */
  datagram(bytes: number, nowMs: number): number | undefined {
    this.tally.sent++;
    if (this.queuedMs(nowMs) > this.#options.queueMs) {
      this.tally.overflowed++;
      return undefined;
    }
    const arrivesAtMs = this.segment(bytes, nowMs);
    // Lost on its way, so it takes its share of the rate.
    if (this.#random() < this.#options.loss) {
      this.tally.lost++;
      return undefined;
    }
    return arrivesAtMs;
  }

  /** Sends a part of a stream, which is never lost. @returns when it arrives. */
  segment(bytes: number, nowMs: number): number {
    const { bitsPerSecond, delayMs } = this.#options;
    this.tally.bytes += bytes;
    this.#freeAtMs = Math.max(this.#freeAtMs, nowMs) + (bytes * 8_000) / bitsPerSecond;
    return this.#freeAtMs + delayMs;
  }

  /** How long something sent now would wait for its turn. */
  queuedMs(nowMs: number): number {
    return Math.max(this.#freeAtMs - nowMs, 0);
  }
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
