const name = 'antway-pins';

/**
 * Tells the other workers of this origin that the pin records have changed. These may be a worker that is about to be
 * replaced by an update, a worker of another scope, or a worker of a site that embeds the gateway. They share one
 * database, and each has the pins in memory.
 */
export class PinChannel {
  #channel: BroadcastChannel | undefined;

  /** @param onChange called when another worker has changed the records. */
  constructor(onChange: () => void) {
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = onChange;
  }

  announce(): void {
    const channel = this.#channel ?? new BroadcastChannel(name);
    channel.postMessage(null);
    if (channel !== this.#channel) channel.close();
  }

  /** Stops listening. */
  close(): void {
    this.#channel?.close();
    this.#channel = undefined;
  }
}
