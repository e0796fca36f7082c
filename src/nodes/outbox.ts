import { raceAbort, transferMs } from '../util/watchdog.ts';
import type { NodeChannel } from './channel.ts';
import { type Clock, withTimeout } from './clock.ts';
import { frameMessages } from './frames.ts';
import { nodeError } from './node-error.ts';
import { nodeLimits } from './node-limits.ts';

/** Sends payloads one after the other: the messages of two frames must not mix. */
export class Outbox {
  readonly #channel: NodeChannel;
  readonly #clock: Clock;
  readonly #end: AbortSignal;
  #sending: Promise<void> = Promise.resolve();

  /** @param end fires when the connection ends. */
  constructor(channel: NodeChannel, clock: Clock, end: AbortSignal) {
    this.#channel = channel;
    this.#clock = clock;
    this.#end = end;
  }

  /**
   * @throws AntwayError `PEERS_UNREACHABLE` if the link is slower than the slowest accepted rate; the reason for which the
   *   connection ended.
   */
  send(payload: Uint8Array): Promise<void> {
    const totalMs = nodeLimits.stallMs + transferMs(payload.length);
    const late = () => nodeError('timeout', 'A node does not take a request in time.');
    this.#sending = this.#sending.then(() =>
      withTimeout(this.#clock, totalMs, this.#end, late, async (ended) => {
        for (const message of frameMessages(payload)) await raceAbort(this.#channel.send(message), ended);
      }),
    );
    return this.#sending;
  }
}
