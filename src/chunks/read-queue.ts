import { promisifyRequest, type UseStore } from 'idb-keyval';
import type { Address } from '../address.ts';

/** Two, so that the browser reads while the worker takes the values of the transaction before. */
const mostTransactions = 2;
/** Reads per transaction, so that none waits long for the others. */
const mostReads = 64;
/** A transaction may never end: Safari drops connections without an event. After so many milliseconds others may start. */
const mostMs = 5_000;

interface Waiting<T> {
  address: Address;
  resolve(value: T | undefined): void;
  reject(error: unknown): void;
}

/** Reads from an object store. Waiting reads share a transaction, which costs more than a read of a few bytes. */
export class ReadQueue<T> {
  readonly #store: UseStore;
  #waiting: Waiting<T>[] = [];
  #transactions = 0;
  #isScheduled = false;

  constructor(store: UseStore) {
    this.#store = store;
  }

  /** @throws DOMException if the database does not open, or cannot read. */
  get(address: Address): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ address, resolve, reject });
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      // Reads of the same moment share a transaction.
      queueMicrotask(() => {
        this.#isScheduled = false;
        this.#startNext();
      });
    });
  }

  #startNext(): void {
    if (this.#waiting.length === 0 || this.#transactions === mostTransactions) return;
    this.#transactions++;
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      this.#transactions--;
      this.#startNext();
    };
    const timer = setTimeout(end, mostMs);
    void this.#read(this.#waiting.splice(0, mostReads)).finally(end);
    this.#startNext();
  }

  async #read(batch: readonly Waiting<T>[]): Promise<void> {
    try {
      await this.#store('readonly', (store) =>
        Promise.all(
          batch.map((waiting) => {
            const { address, resolve, reject } = waiting;
            // One value that cannot be read ends the transaction, also for the others.
            const failed = (error: unknown) => (batch.length > 1 ? this.#read([waiting]) : reject(error));
            return promisifyRequest<T | undefined>(store.get(address.bytes)).then(resolve, failed);
          }),
        ),
      );
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
