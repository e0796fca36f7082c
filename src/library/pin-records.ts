import { entries, promisifyRequest, type UseStore } from 'idb-keyval';
import { Address } from '../address.ts';
import { completed } from '../chunks/indexed-db.ts';
import type { PinRecord } from './pin.ts';

/** What was asked for, as it is in the database, whichever worker wrote it. */
export class PinRecords {
  readonly #store: () => UseStore;

  constructor(store: () => UseStore) {
    this.#store = store;
  }

  async all(): Promise<[Address, PinRecord][]> {
    const records = await entries<ArrayBuffer, PinRecord>(this.#store());
    return records.map(([key, record]) => [Address.fromBytes(new Uint8Array(key)), record]);
  }

  /**
   * Changes a record in one transaction.
   * @param change what becomes of it; undefined when it is, or shall be, none.
   * @returns what became of it.
   */
  change(
    { bytes }: Address,
    change: (known: PinRecord | undefined) => PinRecord | undefined,
  ): Promise<PinRecord | undefined> {
    return this.#store()('readwrite', async (store) => {
      const known = await promisifyRequest<PinRecord | undefined>(store.get(bytes));
      const record = change(known);
      if (record) store.put(record, bytes);
      else store.delete(bytes);
      await completed(store.transaction);
      return record;
    });
  }
}
