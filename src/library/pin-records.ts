import { entries, promisifyRequest, type UseStore } from 'idb-keyval';
import { Address } from '../address.ts';
import { completed } from '../chunks/indexed-db.ts';
import type { PinRecord } from './pin.ts';

/** The pin records in the database, which all workers share. */
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
   * @param change gets the stored record; returns undefined if there shall be no record.
   * @returns the new record.
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
