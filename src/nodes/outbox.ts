import { raceAbort } from '../util/watchdog.ts';
import type { NodeChannel } from './channel.ts';
import { type Clock, withTimeout } from './clock.ts';
import { frameMessages } from './frames.ts';
import { nodeError } from './node-error.ts';
import { nodeLimits } from './node-limits.ts';
import { Semaphore } from './semaphore.ts';

/** A page may see no progress until so many bytes have left. */
const unseenBytes = nodeLimits.reportedBytes + nodeLimits.messageBytes;

/** Sends payloads one after the other: the messages of two frames must not mix. */
export class Outbox {
  readonly #channel: NodeChannel;
  readonly #clock: Clock;
  readonly #end: AbortSignal;
  /** For the payload whose messages the channel gets. */
  readonly #turn = new Semaphore(1);
  /** All bytes that the channel has got. */
  #givenBytes = 0;

  /** @param end fires when the connection ends. */
  constructor(channel: NodeChannel, clock: Clock, end: AbortSignal) {
    this.#channel = channel;
    this.#clock = clock;
    this.#end = end;
  }

  /**
   * Resolves when the connection has taken the last byte. If it throws, nothing can be sent any more: end the connection.
   * @throws AntwayError `PEERS_UNREACHABLE` if nothing gets through for some time, or the link is slower than the slowest
   *   accepted rate; the reason for which the connection ended.
   */
  async send(payload: Uint8Array): Promise<void> {
    const leave = await this.#turn.take(this.#end);
    // Bytes of former payloads may still be before it, and the page may see that it was taken only with bytes of later ones.
    const bytes = this.#channel.unsentBytes + payload.length + unseenBytes;
    await withTimeout(this.#clock, timeoutMs(bytes), this.#end, notTaken, (ended) => {
      const giving = this.#give(payload, ended);
      // After a part of a frame, nothing else may be sent.
      giving.then(leave, () => undefined);
      return this.#untilTaken(giving, ended);
    });
  }

  /** Gives all messages to the channel. @returns the bytes that the channel has got by then. */
  async #give(payload: Uint8Array, ended: AbortSignal): Promise<number> {
    for (const message of frameMessages(payload)) {
      this.#givenBytes += message.length;
      await raceAbort(this.#channel.send(message), ended);
    }
    return this.#givenBytes;
  }

  /** @throws AntwayError `PEERS_UNREACHABLE` if nothing gets through for some time; the error of `giving`. */
  async #untilTaken(giving: Promise<number>, ended: AbortSignal): Promise<void> {
    const given = new AbortController();
    const isNoted = AbortSignal.any([ended, given.signal]);
    let last = Number.POSITIVE_INFINITY;
    const noting = giving.then((bytes) => {
      last = bytes;
      given.abort();
    });
    for (let before = -1, looks = 0; ; looks++) {
      const taken = this.#givenBytes - this.#channel.unsentBytes;
      if (taken >= last) return;
      if (taken > before) looks = 0;
      // Looks are counted, and not the time: the page may have been frozen.
      const isStuck =
        looks * nodeLimits.sendLookMs >= timeoutMs(Math.min(this.#channel.unsentBytes, unseenBytes));
      if (isStuck) throw notTaken();
      before = taken;
      const isGiven = given.signal.aborted;
      // The wait rejects only if it need not go on.
      const look = this.#clock.delay(nodeLimits.sendLookMs, isGiven ? ended : isNoted).catch(() => undefined);
      await (isGiven ? look : Promise.race([noting, look]));
      ended.throwIfAborted();
    }
  }
}

/** The longest time for so many bytes. */
function timeoutMs(bytes: number): number {
  return nodeLimits.stallMs + (1000 * bytes) / nodeLimits.sendBytesPerSecond;
}

function notTaken(): Error {
  return nodeError('timeout', 'A node does not take a request in time.');
}
