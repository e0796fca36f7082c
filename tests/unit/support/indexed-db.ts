import 'fake-indexeddb/auto';
import { vi } from 'vitest';

/** An origin without databases. */
export function freshIndexedDb(): void {
  vi.stubGlobal('indexedDB', new IDBFactory());
}

/** A request as the fake makes it: what throws in `operation` fires at the request, and bubbles to its transaction. */
interface FakeTransaction {
  _execRequestAsync(request: { operation(): never; source: IDBObjectStore }): IDBRequest<IDBValidKey>;
}

/**
 * The next writes to an object store fail as they do on a full disk in Firefox: by an event at the request, while the
 * transaction has no error yet.
 * @param fails asked for each write, by what was to be stored.
 */
export function failPuts(storeName: string, errorName: string, fails: (value: unknown) => boolean): void {
  const { put } = IDBObjectStore.prototype;
  vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (
    this: IDBObjectStore,
    value: unknown,
    key?: IDBValidKey,
  ) {
    if (this.name !== storeName || !fails(value)) return put.call(this, value, key);
    return (this.transaction as unknown as FakeTransaction)._execRequestAsync({
      operation() {
        throw new DOMException('There is no room.', errorName);
      },
      source: this,
    });
  });
}
