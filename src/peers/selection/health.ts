import { limits } from '../../limits.ts';
import { Histogram } from '../../stats/histogram.ts';
import { CircuitBreaker, type CircuitState, type Permit } from './circuit-breaker.ts';

/** Weight of the newest measurement in the moving average. */
const smoothing = 0.2;
/** Number of answers from which on the peer's own latencies determine its hedge delays. */
const enoughAnswers = 10;
/** Number of answers after which the counts are halved, so that older answers weigh less. */
const decayAfter = 500;

/** The measured health of a peer: how fast and how reliable it is, and whether to use it at all. */
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

  /**
   * Call this if the peer sent bytes that do not match their address. The peer is banned for a while, longer each time.
   */
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

  /** @returns the permit to pass when the request ends. */
  started(): Permit {
    return this.#circuit.started();
  }

  /** @param firstByteMs time until the answer began. @param totalMs time until it was complete. */
  succeeded(firstByteMs: number, totalMs: number, bytes: number): void {
    this.began(firstByteMs);
    this.#total.record(totalMs);
    this.#total.decayBeyond(decayAfter);
    this.received(totalMs - firstByteMs, bytes);
  }

  /** Call this when an answer begins, with one chunk or several. */
  began(firstByteMs: number): void {
    this.answered();
    this.#firstByte.record(firstByteMs);
    this.#firstByte.decayBeyond(decayAfter);
    this.#firstByteMs = smoothed(this.#firstByteMs, firstByteMs);
    this.#leastFirstByteMs = Math.min(this.#leastFirstByteMs ?? firstByteMs, firstByteMs);
  }

  /** @param milliseconds time from the first to the last of these bytes. */
  received(milliseconds: number, bytes: number): void {
    const mebibytes = bytes / 2 ** 20;
    // A few bytes arrive together with the first byte and say nothing about the rate.
    if (mebibytes > 0.05) this.#msPerMebibyte = smoothed(this.#msPerMebibyte, milliseconds / mebibytes);
  }

  /** Call this for any answer, even "not found": the peer is reachable. */
  answered(): void {
    this.#circuit.succeeded();
    this.#success = smoothed(this.#success, 1);
  }

  /** Call this if the peer is reachable but could not serve. */
  failed(request: Permit): void {
    this.#circuit.failed(request);
    this.#success = smoothed(this.#success, 0);
  }

  /** Call this if the peer is unreachable. While its circuit is open, the other peers are asked first. */
  unreachable(request: Permit): void {
    this.#circuit.trip(request);
    this.#success = smoothed(this.#success, 0);
  }

  /** Call this when the network is back: the peer returns to its place in the order. */
  wake(): void {
    this.#circuit.reset();
  }

  /** Call this if a request was cancelled before its outcome was known. */
  abandoned(request: Permit): void {
    this.#circuit.abandoned(request);
  }

  /**
   * Call this if another peer answered first, after `elapsedMs`. This peer would have taken at least as long. Without
   * this measurement, the slowest peer would never be measured.
   */
  lostHedge(elapsedMs: number, hadFirstByte: boolean, request?: Permit): void {
    this.#circuit.abandoned(request);
    if (!hadFirstByte) this.#firstByteMs = smoothed(this.#firstByteMs, elapsedMs);
    else this.#msPerMebibyte = smoothed(this.#msPerMebibyte, elapsedMs);
  }

  /**
   * The peer's share of the addresses in rendezvous ranking. A slow peer gets less, a failing peer much less. A peer
   * that was never asked counts as fast, so that it will be asked.
   */
  get weight(): number {
    const costMs = 20 + (this.#firstByteMs ?? 0) + (this.#msPerMebibyte ?? 0);
    return Math.max(this.#success, 0.01) ** 2 / costMs;
  }

  /**
   * The shortest measured time to the first byte, taken as the delay without queues; undefined before the first answer.
   */
  get leastFirstByteMs(): number | undefined {
    return this.#leastFirstByteMs;
  }

  /** How long to wait for this peer before a hedge starts. */
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
