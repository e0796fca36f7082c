const name = 'antway-pins';

/**
 * Tells the other workers of this origin that the records of the pins have changed: one that an update is about to
 * replace, one of another scope, or one of a site that embeds the gateway. All of them share one database, and each has
 * the pins in memory.
 */
export class PinChannel {
  #channel: BroadcastChannel | undefined;

  /** @param onChange called when another worker has changed them. */
  constructor(onChange: () => void) {
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = onChange;
  }

  announce(): void {
    const channel = this.#channel ?? new BroadcastChannel(name);
    channel.postMessage(null);
    if (channel !== this.#channel) channel.close();
  }

  /** Nothing is heard any more. */
  close(): void {
    this.#channel?.close();
    this.#channel = undefined;
  }
}
