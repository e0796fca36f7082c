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

/**
 * Takes the payloads that a node owes. It fails if the node sends anything else, sends nothing for some time, or sends
 * a payload slower than the slowest accepted rate.
 */
export class Inbox {
  readonly #clock: Clock;
  readonly #events: InboxEvents;
  readonly #reader = new FrameReader();
  readonly #stopped = new AbortController();
  #owed = 0;
  /** Requests whose bytes are on their way to the node. It need not answer before it has them. */
  #sending = 0;
  /** When the node has to have sent its next bytes, and when all of the payload. */
  #stallAt = 0;
  /** The node may say nothing until then. */
  #patientUntil = 0;
  #completeAt = Number.POSITIVE_INFINITY;
  #isWatching = false;

  constructor(clock: Clock, events: InboxEvents) {
    this.#clock = clock;
    this.#events = events;
  }

  /** Announces that the node owes one more payload, of at most `limit` bytes. Call `sent` when it has the request. */
  expect(limit: number): void {
    this.#reader.expect(limit);
    if (this.#owed === 0) this.#patientUntil = 0;
    this.#owed++;
    this.#sending++;
    if (!this.#isWatching) void this.#watch();
  }

  /**
   * Starts the time for the answer to a request.
   * @param patienceMs the time that the node gets in addition to begin with it.
   */
  sent(patienceMs = 0): void {
    this.#sending--;
    const stallAt = this.#clock.now() + nodeLimits.stallMs;
    this.#patientUntil = Math.max(this.#patientUntil, stallAt + patienceMs);
    this.#stallAt = Math.max(stallAt, this.#patientUntil);
  }

  take(message: Uint8Array): void {
    if (this.#stopped.signal.aborted) return;
    const { isReceiving: wasReceiving, length: lengthBefore } = this.#reader;
    try {
      const payload = this.#reader.take(message);
      const now = this.#clock.now();
      this.#stallAt = Math.max(now + nodeLimits.stallMs, this.#reader.isReceiving ? 0 : this.#patientUntil);
      if (!wasReceiving) this.#completeAt = now + nodeLimits.stallMs;
      this.#events.onBytes(message.length);
      if (payload) {
        this.#owed--;
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
    while (this.#owed > 0 && !this.#stopped.signal.aborted) {
      const now = this.#clock.now();
      // While a request is sent, only an answer that has begun can be late. No answer is late sooner than `stallMs` from now.
      const stallAt = this.#sending > 0 ? now + nodeLimits.stallMs : this.#stallAt;
      const waitMs = Math.min(stallAt, this.#completeAt) - now;
      if (waitMs <= 0) return this.#fail(nodeError('timeout', 'A node does not send its answer.'));
      try {
        await this.#clock.delay(waitMs, this.#stopped.signal);
      } catch {
        return;
      }
    }
    this.#isWatching = false;
  }

  #fail(error: unknown): void {
    if (this.#stopped.signal.aborted) return;
    this.#stopped.abort();
    this.#events.onFailed(error);
  }
}
