import { transferMs } from '../util/watchdog.ts';
import type { Clock } from './clock.ts';
import { FrameReader } from './frames.ts';
import { nodeError } from './node-error.ts';
import { nodeLimits } from './node-limits.ts';

export interface InboxEvents {
  /** May throw: then the connection has failed. */
  onPayload(payload: Uint8Array<ArrayBuffer>): void;
  /** Some bytes of a payload have arrived. */
  onBytes(count: number): void;
  /** Called once. Nothing is taken after it. */
  onFailed(error: unknown): void;
}

/** An answer that the node owes. */
export interface OwedAnswer {
  /**
   * Starts its time: the node has the request. Does nothing if the node has answered before.
   * @param graceMs the time that the node gets in addition to begin with it.
   */
  sent(graceMs?: number): void;
  /** Call this when the node has answered the request. */
  received(): void;
}

/**
 * Takes the payloads that a node owes. It fails if the node sends anything else, sends nothing for some time, or sends
 * a payload slower than the slowest accepted rate.
 */
export class Inbox {
  readonly #clock: Clock;
  readonly #events: InboxEvents;
  readonly #reader = new FrameReader();
  readonly #stopped = new AbortController();
  /** Until when the node may say nothing, for each answer that it owes. Undefined while the request is sent. */
  readonly #owed = new Map<OwedAnswer, number | undefined>();
  /** When the node got a request or sent bytes. */
  #activeAt = 0;
  /** When the node has to have sent all of the payload. */
  #completeAt = Number.POSITIVE_INFINITY;
  #isWatching = false;

  constructor(clock: Clock, events: InboxEvents) {
    this.#clock = clock;
    this.#events = events;
  }

  /** Announces that the node owes one more payload, of at most `limit` bytes. */
  expect(limit: number): OwedAnswer {
    this.#reader.expect(limit);
    const answer: OwedAnswer = {
      sent: (graceMs = 0) => {
        if (!this.#owed.has(answer)) return;
        this.#activeAt = this.#clock.now();
        this.#owed.set(answer, this.#activeAt + nodeLimits.stallMs + graceMs);
      },
      received: () => this.#owed.delete(answer),
    };
    this.#owed.set(answer, undefined);
    if (!this.#isWatching) void this.#watch();
    return answer;
  }

  take(message: Uint8Array): void {
    if (this.#stopped.signal.aborted) return;
    const { isReceiving: wasReceiving, length: lengthBefore } = this.#reader;
    try {
      const payload = this.#reader.take(message);
      const now = this.#clock.now();
      this.#activeAt = now;
      if (!wasReceiving) this.#completeAt = now + nodeLimits.stallMs;
      this.#events.onBytes(message.length);
      if (payload) {
        this.#completeAt = Number.POSITIVE_INFINITY;
        this.#events.onPayload(payload);
      } else if (lengthBefore === undefined && this.#reader.length !== undefined) {
        this.#completeAt = now + nodeLimits.stallMs + transferMs(this.#reader.length);
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #watch(): Promise<void> {
    this.#isWatching = true;
    while (this.#owed.size > 0 && !this.#stopped.signal.aborted) {
      const now = this.#clock.now();
      const waitMs = Math.min(this.#stallAt(now), this.#completeAt) - now;
      if (waitMs <= 0) return this.#fail(nodeError('timeout', 'A node does not send its answer.'));
      try {
        // The node may answer the request for which it needs most time, and not the others.
        await this.#clock.delay(Math.min(waitMs, nodeLimits.stallMs), this.#stopped.signal);
      } catch {
        return;
      }
    }
    this.#isWatching = false;
  }

  /** When the node has to have sent its next bytes. */
  #stallAt(now: number): number {
    const stallAt = this.#activeAt + nodeLimits.stallMs;
    if (this.#reader.isReceiving) return stallAt;
    const patientUntil = [...this.#owed.values()].filter((until) => until !== undefined);
    // The node need not answer a request before it has it.
    if (patientUntil.length === 0) return now + nodeLimits.stallMs;
    return Math.max(stallAt, ...patientUntil);
  }

  #fail(error: unknown): void {
    if (this.#stopped.signal.aborted) return;
    this.#stopped.abort();
    this.#events.onFailed(error);
  }
}
