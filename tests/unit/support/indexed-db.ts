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
  failRequests('put', storeName, errorName, fails);
}

/** Reads from an object store fail by an event at the request. @param fails asked for each read, by its key. */
export function failGets(storeName: string, errorName: string, fails: (key: unknown) => boolean): void {
  failRequests('get', storeName, errorName, fails);
}

function failRequests(
  method: 'put' | 'get',
  storeName: string,
  errorName: string,
  fails: (argument: unknown) => boolean,
): void {
  const original = IDBObjectStore.prototype[method] as (...args: unknown[]) => IDBRequest;
  vi.spyOn(IDBObjectStore.prototype, method).mockImplementation(function (
    this: IDBObjectStore,
    ...args: unknown[]
  ) {
    if (this.name !== storeName || !fails(args[0])) return original.apply(this, args);
    return (this.transaction as unknown as FakeTransaction)._execRequestAsync({
      operation() {
        throw new DOMException('This failed.', errorName);
      },
      source: this,
    });
  });
}
