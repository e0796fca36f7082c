import { limits } from '../../limits.ts';
import { Histogram } from '../../stats/histogram.ts';
import type { AttemptObserver, AttemptOutcome, PeerAttempt } from '../../stats/peer-attempt.ts';
import { isAbsence } from '../transports/transport.ts';
import { CircuitBreaker, type Permit } from './circuit-breaker.ts';

/** Weight of the newest measurement in the moving average. */
const smoothing = 0.2;
/** Answers from which on the peer's own latencies determine its hedge delays. */
const enoughAnswers = 10;
/** Answers after which the counts are halved, so that older answers weigh less. */
const decayAfter = 500;

export class PeerHealth implements AttemptObserver {
  /** While the circuit is open, the other peers are asked first. */
  readonly circuit = new CircuitBreaker(limits.peerCircuit);
  readonly #firstByte = new Histogram();
  readonly #total = new Histogram();
  #success = 1;
  #firstByteMs: number | undefined;
  #leastFirstByteMs: number | undefined;
  #msPerMebibyte: number | undefined;
  #bannedUntil = 0;
  #bans = 0;

  get isBanned(): boolean {
    return Date.now() < this.#bannedUntil;
  }

  /** The first byte of an answer measures the delay, the rest of a chunk the rate. */
  chunkReceived({ chunks, firstByteMs }: PeerAttempt, bytes: number, milliseconds: number): void {
    if (chunks === 1 && firstByteMs !== undefined) {
      this.#answered();
      this.#firstByte.record(firstByteMs);
      this.#firstByte.decayBeyond(decayAfter);
      this.#firstByteMs = smoothed(this.#firstByteMs, firstByteMs);
      this.#leastFirstByteMs = Math.min(this.#leastFirstByteMs ?? firstByteMs, firstByteMs);
    }
    const mebibytes = bytes / 2 ** 20;
    // A few bytes arrive together with the first byte and say nothing about the rate.
    if (mebibytes > 0.05) this.#msPerMebibyte = smoothed(this.#msPerMebibyte, milliseconds / mebibytes);
  }

  attemptEnded(attempt: PeerAttempt, outcome: AttemptOutcome, isFinal: boolean): void {
    const { operation, permit } = attempt.request;
    // A failed pointer request is no reason to avoid a peer: peers cannot check the signatures of pointers.
    if (operation === 'pointer') return;
    if (outcome === 'success') {
      // The hedge delay is the time of single chunks.
      if (operation !== 'get') return;
      this.#total.record(attempt.totalMs);
      this.#total.decayBeyond(decayAfter);
    } else if (outcome === 'cancelled') this.circuit.abandoned(permit);
    else if (outcome === 'overtaken') this.#overtaken(attempt);
    // The peer is reachable and is asked again. A peer that is still busy after the time for a lookup has failed.
    else if (outcome === 'busy') this.circuit.succeeded();
    else if (outcome.code === 'CORRUPT') {
      this.circuit.abandoned(permit);
      this.#bannedUntil = Date.now() + limits.wrongChunkBanMs * 2 ** Math.min(this.#bans++, 6);
    } else if (isAbsence(outcome.code)) this.#answered();
    else if (outcome.details.answered) {
      this.circuit.failed(permit);
      this.#success = smoothed(this.#success, 0);
    } else if (isFinal) this.unreachable(permit);
  }

  /** The peer would have taken longer than it was waited for. Otherwise, the slowest peer would never be measured. */
  #overtaken({ request, firstByteMs, waitedMs }: PeerAttempt): void {
    this.circuit.abandoned(request.permit);
    if (firstByteMs === undefined) this.#firstByteMs = smoothed(this.#firstByteMs, waitedMs);
    else this.#msPerMebibyte = smoothed(this.#msPerMebibyte, waitedMs);
  }

  /** Another peer answered while this peer was busy. @param waitedMs time since the first request. */
  lostLookup(waitedMs: number): void {
    this.#success = smoothed(this.#success, 0);
    this.#firstByteMs = smoothed(this.#firstByteMs, waitedMs);
  }

  unreachable(permit?: Permit): void {
    this.circuit.trip(permit);
    this.#success = smoothed(this.#success, 0);
  }

  /** The peer is reachable, even if it does not have the chunk. */
  #answered(): void {
    this.circuit.succeeded();
    this.#success = smoothed(this.#success, 1);
  }

  /** The share in rendezvous ranking. A peer that was never asked counts as fast, so that it will be asked. */
  get weight(): number {
    const costMs = 20 + (this.#firstByteMs ?? 0) + (this.#msPerMebibyte ?? 0);
    return Math.max(this.#success, 0.01) ** 2 / costMs;
  }

  /** Taken as the delay without queues; undefined before the first answer. */
  get leastFirstByteMs(): number | undefined {
    return this.#leastFirstByteMs;
  }

  /** How long the largest chunk takes, in milliseconds. Undefined before a chunk was large enough to measure the rate. */
  get largestChunkMs(): number | undefined {
    if (this.#msPerMebibyte === undefined) return undefined;
    return (this.#firstByteMs ?? 0) + (this.#msPerMebibyte * limits.chunkBytes) / 2 ** 20;
  }

  get hedgeDelayMs(): { firstByte: number; rest: number } {
    const { defaultHedgeDelayMs: unmeasured, minHedgeDelayMs: least } = limits;
    const knows = (histogram: Histogram) => histogram.count >= enoughAnswers;
    return {
      firstByte: knows(this.#firstByte)
        ? Math.max(this.#firstByte.quantile(0.95)!, least.firstByte)
        : unmeasured.firstByte,
      rest: knows(this.#total) ? Math.max(2 * this.#total.quantile(0.95)!, least.rest) : unmeasured.rest,
    };
  }

  /** For each chunk. Delays measured with small answers must not make it too short for a large chunk. */
  get prefetchStallMs(): number {
    const total = ({ firstByte, rest }: { firstByte: number; rest: number }) => firstByte + rest;
    return Math.max(total(this.hedgeDelayMs), total(limits.defaultHedgeDelayMs));
  }
}

function smoothed(before: number | undefined, value: number): number {
  return before === undefined ? value : before + smoothing * (value - before);
}
