import type { ServerResponse } from 'node:http';

/** A queue that serves its clients in turns, so a client with many items does not delay another one. */
export class FairQueue<Item> {
  /** The clients with items, in the order of their turns. */
  readonly #clients = new Map<string, Set<Item>>();

  get isEmpty(): boolean {
    return this.#clients.size === 0;
  }

  add(client: string, item: Item): void {
    const items = this.#clients.get(client);
    if (items) items.add(item);
    else this.#clients.set(client, new Set([item]));
  }

  /** Removes an item that no longer waits. */
  delete(client: string, item: Item): void {
    const items = this.#clients.get(client);
    if (items?.delete(item) && items.size === 0) this.#clients.delete(client);
  }

  /** Removes the first item of the client whose turn it is. Its next turn is after those of all others. */
  next(): Item | undefined {
    for (const [client, items] of this.#clients) {
      const [item] = items;
      this.#clients.delete(client);
      items.delete(item!);
      if (items.size > 0) this.#clients.set(client, items);
      return item;
    }
    return undefined;
  }
}

/** The client of a request. Sites in one browser have the same address, but cannot choose their origin. */
export function clientOf({ req: { socket, headers } }: ServerResponse): string {
  return `${socket.remoteAddress} ${headers.origin}`;
}
