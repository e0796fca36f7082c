import type { Address } from '../address.ts';
import { AntwayError } from '../errors.ts';
import type { Nodes, NodesStatus } from '../nodes/nodes.ts';
import type { FetchOptions, NodeSource, PointerOptions } from '../peers/chunk-peers.ts';
import type { NodeNetwork } from '../server-config.ts';
import { raceAbort } from '../util/watchdog.ts';

/** The network's nodes, to which this window connects itself. It loads their client for the first read. */
export class DirectNodes implements NodeSource {
  readonly #network: NodeNetwork;
  readonly #remembers: boolean;
  readonly #closed = new AbortController();
  #nodes: Promise<Nodes> | undefined;

  /** @param remembers whether the nodes that answered are stored for the next start. */
  constructor(network: NodeNetwork, remembers: boolean) {
    this.#network = network;
    this.#remembers = remembers;
  }

  async fetch<T>(address: Address, options: FetchOptions<T> & { onFirstByte?(): void }): Promise<T> {
    const { signal, verify, onFirstByte = () => undefined } = options;
    const nodes = await raceAbort(this.#open(), signal);
    return nodes.chunk(address, { signal, onFirstByte, verify: (bytes) => verify(copy(bytes)) });
  }

  /** @returns an empty list if the nodes do not answer, or have no record. */
  async pointers<T>(address: Address, { signal, verify }: PointerOptions<T>): Promise<T[]> {
    try {
      const nodes = await raceAbort(this.#open(), signal);
      return await nodes.pointers(address, { signal, verify: (bytes) => verify(copy(bytes)) });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AntwayError) return [];
      throw error;
    }
  }

  async status(): Promise<NodesStatus | undefined> {
    return (await this.#nodes)?.status;
  }

  /** Ends all connections and reads. */
  close(): void {
    this.#closed.abort(new AntwayError('PEERS_UNREACHABLE', 'The connections to nodes were closed.'));
  }

  /** @throws AntwayError `PEERS_UNREACHABLE` */
  #open(): Promise<Nodes> {
    this.#nodes ??= this.#load().catch((error) => {
      this.#nodes = undefined;
      throw error;
    });
    return this.#nodes;
  }

  async #load(): Promise<Nodes> {
    const { signal } = this.#closed;
    const { openNodes, isLocalNetwork } = await import('../nodes/open-nodes.ts').catch((cause) => {
      const message = 'The client of the nodes cannot be loaded.';
      throw new AntwayError('PEERS_UNREACHABLE', message, {}, { cause });
    });
    signal.throwIfAborted();
    const isLocal = isLocalNetwork(this.#network);
    const nodes = openNodes(this.#network, { isLocal, remembers: this.#remembers });
    signal.addEventListener('abort', () => nodes.close(), { once: true });
    globalThis.addEventListener?.('online', () => nodes.wake(), { signal });
    return nodes;
  }
}

/** A chunk store would write the whole buffer of a part. */
function copy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
