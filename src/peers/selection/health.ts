import { limits } from '../../limits.ts';
import { Histogram } from '../../stats/histogram.ts';
import { CircuitBreaker, type CircuitState, type Permit } from './circuit-breaker.ts';

/** How much the newest measurement counts against all before it. */
const smoothing = 0.2;
/** From this many answers on, a peer's own latencies say what is slow for it. */
const enoughAnswers = 10;
/** After this many, older ones weigh half. */
const decayAfter = 500;

/** What is known of a peer from using it: how fast, how reliable, and whether to use it at all. */
export class PeerHealth {
  readonly #circuit = new CircuitBreaker(limits.peerCircuit);
  readonly #firstByte = new Histogram();
  readonly #total = new Histogram();
  #success = 1;
  #firstByteMs: number | undefined;
  #leastFirstByteMs: number | undefined;
  #msPerMebibyte: number | undefined;
  #bannedUntil = 0;
  #bans = 0;

  /** It sent bytes that do not match their address: left out for a while, longer each time. */
  ban(request?: Permit): void {
    this.#circuit.abandoned(request);
    this.#bannedUntil = Date.now() + limits.wrongChunkBanMs * 2 ** Math.min(this.#bans++, 6);
  }

  get isBanned(): boolean {
    return Date.now() < this.#bannedUntil;
  }

  get circuit(): CircuitState {
    return this.#circuit.state;
  }

  /** @returns what names the request in what is told of it later. */
  started(): Permit {
    return this.#circuit.started();
  }

  /** @param firstByteMs until the answer began. @param totalMs until it was complete. */
  succeeded(firstByteMs: number, totalMs: number, bytes: number): void {
    this.began(firstByteMs);
    this.#total.record(totalMs);
    this.#total.decayBeyond(decayAfter);
    this.received(totalMs - firstByteMs, bytes);
  }

  /** An answer has begun, of however many chunks. */
  began(firstByteMs: number): void {
    this.answered();
    this.#firstByte.record(firstByteMs);
    this.#firstByte.decayBeyond(decayAfter);
    this.#firstByteMs = smoothed(this.#firstByteMs, firstByteMs);
    this.#leastFirstByteMs = Math.min(this.#leastFirstByteMs ?? firstByteMs, firstByteMs);
  }

  /** @param milliseconds that it took to receive so many bytes, once they came. */
  received(milliseconds: number, bytes: number): void {
    const mebibytes = bytes / 2 ** 20;
    // A few bytes arrive with the first one and tell nothing of the rate.
    if (mebibytes > 0.05) this.#msPerMebibyte = smoothed(this.#msPerMebibyte, milliseconds / mebibytes);
  }

  /** It is there, whatever it said. */
  answered(): void {
    this.#circuit.succeeded();
    this.#success = smoothed(this.#success, 1);
  }

  /** It is there, but could not serve. */
  failed(request: Permit): void {
    this.#circuit.failed(request);
    this.#success = smoothed(this.#success, 0);
  }

  /** It cannot be reached at all: not asked before the others until it has had some time. */
  unreachable(request: Permit): void {
    this.#circuit.trip(request);
    this.#success = smoothed(this.#success, 0);
  }

  /** What kept it from being reached has passed: it is asked in its turn again. */
  wake(): void {
    this.#circuit.reset();
  }

  /** A request to it was cancelled before it told anything. */
  abandoned(request: Permit): void {
    this.#circuit.abandoned(request);
  }

  /**
   * Another peer answered first, after `elapsedMs`: it would have taken at least that long, which must be known
   * of it, or the slowest peer would never be measured.
   */
  lostHedge(elapsedMs: number, hadFirstByte: boolean, request?: Permit): void {
    this.#circuit.abandoned(request);
    if (!hadFirstByte) this.#firstByteMs = smoothed(this.#firstByteMs, elapsedMs);
    else this.#msPerMebibyte = smoothed(this.#msPerMebibyte, elapsedMs);
  }

  /**
   * Its share of the addresses, in rendezvous ranking: less for what is slow, much less for what fails. A peer that
   * was never asked counts as a fast one, so that it will be.
   */
  get weight(): number {
    const costMs = 20 + (this.#firstByteMs ?? 0) + (this.#msPerMebibyte ?? 0);
    return Math.max(this.#success, 0.01) ** 2 / costMs;
  }

  /** The shortest time in which an answer began, when nothing was queued; undefined before the first one. */
  get leastFirstByteMs(): number | undefined {
    return this.#leastFirstByteMs;
  }

  /** How long to wait for it before another is asked as well. */
  get hedgeDelayMs(): { firstByte: number; rest: number } {
    const { firstPatienceMs: first, leastPatienceMs: least } = limits;
    const knows = (histogram: Histogram) => histogram.count >= enoughAnswers;
    return {
      firstByte: knows(this.#firstByte)
        ? Math.max(this.#firstByte.quantile(0.95)!, least.firstByte)
        : first.firstByte,
      rest: knows(this.#total) ? Math.max(2 * this.#total.quantile(0.95)!, least.rest) : first.rest,
    };
  }
}

function smoothed(before: number | undefined, value: number): number {
  return before === undefined ? value : before + smoothing * (value - before);
}
