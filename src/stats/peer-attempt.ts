import type { AntwayError } from '../errors.ts';

export type TransportName = 'webtransport' | 'http';

/** `overtaken`: another peer was faster. `cancelled`: the caller aborted. `busy`: the peer is asked again later. */
export type AttemptOutcome = 'success' | 'overtaken' | 'cancelled' | 'busy' | AntwayError;

/** Learns from attempts. Health, circuit breakers, counters and the details of errors are observers. */
export interface AttemptObserver {
  /** A chunk was verified. @param milliseconds time from its first to its last byte. */
  chunkReceived?(attempt: PeerAttempt, bytes: number, milliseconds: number): void;
  /** @param isFinal false if another request to the same peer replaces this attempt. */
  attemptEnded(attempt: PeerAttempt, outcome: AttemptOutcome, isFinal: boolean): void;
}

export interface AttemptRequest {
  /** The peer's `PeerUrl.id`. */
  peer: string;
  transport: TransportName;
  /** OPEN requests several chunks, GET one. */
  operation: 'get' | 'open' | 'pointer';
  /** Whether the request was sent because another peer is slow. */
  isHedge?: boolean;
  /** Identifies the request for a circuit breaker. */
  permit?: object;
}

/** One request to one peer by one transport. All times are milliseconds. */
export class PeerAttempt {
  readonly #startedAt = performance.now();
  readonly #observers: readonly AttemptObserver[];
  #sinceMs = 0;
  /** Time from the request to the answer's first byte; undefined before. */
  firstByteMs: number | undefined;
  /** Time from the request to the last chunk that arrived. */
  totalMs = 0;
  /** Number of verified chunks. */
  chunks = 0;
  stage: 'receive' | 'verify' = 'receive';

  constructor(
    readonly request: AttemptRequest,
    observers: readonly AttemptObserver[],
  ) {
    this.#observers = observers;
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** Time since the request, the first byte, or the last verified chunk: whichever came last. */
  get waitedMs(): number {
    return this.elapsedMs - this.#sinceMs;
  }

  began(): void {
    this.firstByteMs ??= this.#sinceMs = this.elapsedMs;
  }

  /** Call this when all bytes of a chunk have arrived. Counts the chunk if `verify` accepts it. */
  async accept<T>(
    bytes: Uint8Array<ArrayBuffer>,
    verify: (bytes: Uint8Array<ArrayBuffer>) => T | Promise<T>,
  ): Promise<T> {
    const milliseconds = this.waitedMs;
    this.totalMs = this.elapsedMs;
    this.stage = 'verify';
    const value = await verify(bytes);
    this.stage = 'receive';
    this.chunks++;
    for (const observer of this.#observers) observer.chunkReceived?.(this, bytes.length, milliseconds);
    this.#sinceMs = this.elapsedMs;
    return value;
  }

  end(outcome: AttemptOutcome, isFinal = true): void {
    for (const observer of this.#observers) observer.attemptEnded(this, outcome, isFinal);
  }
}
