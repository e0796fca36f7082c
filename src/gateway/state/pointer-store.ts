import { get, promisifyRequest, type UseStore, update } from 'idb-keyval';
import type { Address } from '../../address.ts';
import type { PointerMemory } from '../../content/pointers.ts';
import { limits } from '../../limits.ts';

const prefix = 'pointer:';
const keyOf = (hex: string) => prefix + hex;
const range = () => IDBKeyRange.bound(prefix, `${prefix}\uffff`);

/** Where it is noted when each was last used, so that finding the one to go reads no record. */
const usesKey = 'pointers-used';

/** Milliseconds since 1970, by hex address. What was kept before it was noted is not in it. */
type Uses = Record<string, number>;

/**
 * The newest record of each pointer that was followed in this browser, as far as there is room: those that were not used
 * for longest go. Where storage is blocked none is kept.
 */
export class PointerStore implements PointerMemory {
  readonly #state: UseStore;

  constructor(state: UseStore) {
    this.#state = state;
  }

  async get({ hex }: Address): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const record = await get<Uint8Array<ArrayBuffer>>(keyOf(hex), this.#state).catch(() => undefined);
    // Nobody waits for the note.
    if (record)
      update<Uses>(usesKey, (uses = {}) => ({ ...uses, [hex]: Date.now() }), this.#state).catch(warn);
    return record;
  }

  async put({ hex }: Address, record: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#state('readwrite', async (store) => {
      const [before, keys] = await Promise.all([
        promisifyRequest<Uses | undefined>(store.get(usesKey)),
        promisifyRequest(store.getAllKeys(range())),
      ]);
      const uses: Uses = { ...before, [hex]: Date.now() };
      const addresses = new Set(keys.map((key) => String(key).slice(prefix.length))).add(hex);
      const excess = Math.max(addresses.size - limits.keptPointers, 0);
      const useOf = (address: string) => uses[address] ?? 0;
      for (const address of [...addresses].sort((a, b) => useOf(a) - useOf(b)).slice(0, excess)) {
        store.delete(keyOf(address));
        delete uses[address];
      }
      store.put(record, keyOf(hex));
      store.put(uses, usesKey);
      await promisifyRequest(store.transaction);
    }).catch(warn);
  }

  async clear(): Promise<void> {
    await this.#state('readwrite', (store) => {
      store.delete(range());
      store.delete(usesKey);
      return promisifyRequest(store.transaction);
    });
  }
}

function warn(error: unknown): void {
  console.warn('antway: the pointer was not kept', error);
}
