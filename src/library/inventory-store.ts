import { del, get, set, type UseStore } from 'idb-keyval';
import type { Address } from '../address.ts';
import { addressesOf, type Inventory } from '../content/inventory.ts';
import type { PinTally } from './pin-state.ts';

/** Lookups without a pause, so that other tasks do not wait for all of them. */
const lookups = 2_000;

/** The content of an address never changes, so each inventory is taken once. */
export class InventoryStore {
  readonly #store: () => UseStore;

  constructor(store: () => UseStore) {
    this.#store = store;
  }

  get(address: Address): Promise<Inventory | undefined> {
    return get<Inventory>(address.bytes, this.#store());
  }

  set(address: Address, inventory: Inventory): Promise<void> {
    return set(address.bytes, inventory, this.#store());
  }

  delete(address: Address): Promise<void> {
    return del(address.bytes, this.#store());
  }
}

/** Counts the stored part of an inventory. @param sizes of stored chunks, by hex address. */
export async function tally(inventory: Inventory, sizes: ReadonlyMap<string, number>): Promise<PinTally> {
  const chunks = { stored: 0, total: inventory.sizes.length };
  const bytes = { stored: 0, total: 0 };
  let i = 0;
  for (const { hex } of addressesOf(inventory)) {
    const size = sizes.get(hex);
    if (size === undefined) bytes.total += inventory.sizes[i]!;
    else {
      chunks.stored++;
      bytes.stored += size;
      bytes.total += size;
    }
    if (++i % lookups === 0) await pause();
  }
  return { chunks, bytes };
}

/** Lets other tasks of the thread run. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
