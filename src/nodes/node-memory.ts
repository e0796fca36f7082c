import { createStore, get, set, type UseStore } from 'idb-keyval';
import * as v from 'valibot';
import * as s from '../schema.ts';
import { formatNodeAddress, type NodeAddress, parseNodeAddress } from './node-address.ts';
import { nodeLimits } from './node-limits.ts';

/** Remembers nodes that answered, for the next start. */
export interface NodeMemory {
  /** @returns the remembered nodes, best first; none if they cannot be read. */
  load(): Promise<NodeAddress[]>;
  save(nodes: readonly NodeAddress[]): Promise<void>;
}

/** Remembers nothing. */
export const noMemory: NodeMemory = { load: async () => [], save: async () => undefined };

const key = 'nodes';
const stored = s.list(v.string(), nodeLimits.remembered);

/** The database that all pages of an origin share. */
export const openNodeStore = (): UseStore => createStore('antway-nodes', 'nodes');

/** Stores the nodes in IndexedDB. Other pages of the origin can write there, so `load` checks the nodes. */
export class IndexedDbMemory implements NodeMemory {
  readonly #store: UseStore;

  constructor(store: UseStore) {
    this.#store = store;
  }

  async load(): Promise<NodeAddress[]> {
    const value = await get<unknown>(key, this.#store).catch(() => undefined);
    const parsed = v.safeParse(stored, value);
    return parsed.success ? parsed.output.flatMap((text) => parseNodeAddress(text) ?? []) : [];
  }

  async save(nodes: readonly NodeAddress[]): Promise<void> {
    const texts = nodes.slice(0, nodeLimits.remembered).map(formatNodeAddress);
    await set(key, texts, this.#store);
  }
}
