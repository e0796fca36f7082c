const name = 'antway-pins';

/**
 * Tells the other workers of this origin that the pin records have changed. These may be a worker that an update
 * replaces, or a worker of another scope or of a site that embeds the gateway. They share one database, and each has
 * the pins in memory.
 */
export class PinChannel {
  #channel: BroadcastChannel | undefined;

  constructor(onChange: () => void) {
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = onChange;
  }

  announce(): void {
    const channel = this.#channel ?? new BroadcastChannel(name);
    channel.postMessage(null);
    if (channel !== this.#channel) channel.close();
  }

  close(): void {
    this.#channel?.close();
    this.#channel = undefined;
  }
}
