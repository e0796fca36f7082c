import { get, promisifyRequest, type UseStore, update } from 'idb-keyval';
import type { Address } from '../../address.ts';
import type { PointerMemory } from '../../content/pointers.ts';
import { limits } from '../../limits.ts';

const prefix = 'pointer:';
const keyOf = (hex: string) => prefix + hex;
const range = () => IDBKeyRange.bound(prefix, `${prefix}\uffff`);

/** The times of last use have one record, so that finding the oldest pointer reads no pointer records. */
const usesKey = 'pointers-used';

/** Milliseconds since 1970, by hex address. */
type Uses = Record<string, number>;

/** The newest record of each opened pointer. Deletes the least recently used. If storage is blocked, stores nothing. */
export class PointerStore implements PointerMemory {
  readonly #state: UseStore;

  constructor(state: UseStore) {
    this.#state = state;
  }

  async get({ hex }: Address): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const record = await get<Uint8Array<ArrayBuffer>>(keyOf(hex), this.#state).catch(() => undefined);
    // The caller does not wait for this write.
    if (record)
      update<Uses>(usesKey, (uses = {}) => ({ ...uses, [hex]: Date.now() }), this.#state).catch(warn);
    return record;
  }

  async put({ hex }: Address, record: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#state('readwrite', async (store) => {
      const before = await promisifyRequest<Uses | undefined>(store.get(usesKey));
      const newestFirst = Object.entries({ ...before, [hex]: Date.now() }).sort(([, a], [, b]) => b - a);
      for (const [address] of newestFirst.splice(limits.storedPointers)) store.delete(keyOf(address));
      store.put(record, keyOf(hex));
      store.put(Object.fromEntries(newestFirst) satisfies Uses, usesKey);
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
  console.warn('antway: the pointer was not stored', error);
}
