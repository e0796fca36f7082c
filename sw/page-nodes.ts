/// <reference lib="webworker" />
import type { Address } from '../src/address.ts';
import { AntwayError } from '../src/errors.ts';
import { NodeBroker } from '../src/nodes/broker.ts';
import { systemClock } from '../src/nodes/clock.ts';
import { isMetered } from '../src/nodes/metered.ts';
import type { NodesStatus } from '../src/nodes/nodes.ts';
import { nodesMessage } from '../src/nodes/port-messages.ts';
import type { FetchOptions, NodeSource, PointerOptions } from '../src/peers/chunk-peers.ts';

declare const self: ServiceWorkerGlobalScope;

/** The network's nodes, through a page: a worker cannot connect to them. */
export class PageNodes implements NodeSource {
  readonly #broker: NodeBroker;

  readonly #findLeader: () => Promise<boolean>;
  /** The page that gave the last port. */
  #page: Client | undefined;
  /** Ports of sites' workers that wait for a page. */
  #waiting: MessagePort[] = [];

  /** @param mayOffer whether a page may give this worker a port. */
  constructor(mayOffer: (client: Client) => boolean) {
    this.#findLeader = async () => {
      const pages = (await self.clients.matchAll({ type: 'window' })).filter(mayOffer);
      for (const page of pages) page.postMessage({ type: nodesMessage });
      return pages.length > 0;
    };
    this.#broker = new NodeBroker({ clock: systemClock, findLeader: this.#findLeader });
  }

  /** Uses the leader at the other end of the port. */
  connect(port: MessagePort, page: Client): void {
    this.#page = page;
    this.#broker.connect(port);
    for (const waiting of this.#waiting.splice(0)) page.postMessage({ type: nodesMessage }, [waiting]);
  }

  /** Passes the port of a site's worker on to the leader. */
  async pass(port: MessagePort): Promise<void> {
    const page = this.#page && (await self.clients.get(this.#page.id));
    if (page) page.postMessage({ type: nodesMessage }, [port]);
    else if (await this.#findLeader()) this.#waiting.push(port);
  }

  /** @throws AntwayError also `PEERS_UNREACHABLE` with `details.problem` `metered` or `offline`. */
  async fetch<T>(address: Address, options: FetchOptions<T> & { onFirstByte?(): void }): Promise<T> {
    const problem = problemNow();
    if (problem) throw problem;
    return this.#broker.fetch(address, options);
  }

  async pointers<T>(address: Address, options: PointerOptions<T>): Promise<T[]> {
    return problemNow() ? [] : this.#broker.pointers(address, options);
  }

  status(): Promise<NodesStatus | undefined> {
    return this.#broker.status();
  }
}

function problemNow(): AntwayError | undefined {
  const { navigator } = self;
  if (!navigator.onLine) {
    return new AntwayError('PEERS_UNREACHABLE', 'The browser is offline.', { problem: 'offline' });
  }
  if (!isMetered(navigator)) return undefined;
  const message = 'The gateway does not connect to nodes over a metered connection.';
  return new AntwayError('PEERS_UNREACHABLE', message, { problem: 'metered' });
}
