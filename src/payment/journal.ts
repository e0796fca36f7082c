import type { Offer } from './quotes.ts';

/** The state of one record. */
export interface RecordEntry {
  offer: Offer;
  /** The confirmed transaction that paid for it. */
  transaction?: string;
  /** Whether a relay said that the network has it. */
  isStored?: boolean;
}

/** A payment that may or may not have reached the chain. */
export interface PendingTransaction {
  hash: string;
  raw: string;
  account: string;
  /** The chain executes at most one transaction of an account for each number. */
  nonce: number;
  /** The records that it pays for. Empty for an approval. */
  addresses: string[];
}

/** Values by key that survive a crash: when `put` or `delete` resolves, the change is durable. */
export interface JournalStore {
  get(key: string): Promise<unknown>;
  put(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /** All keys that begin with this text. */
  keys(prefix: string): Promise<string[]>;
}

const recordPrefix = 'record-';
const transactionPrefix = 'transaction-';

/**
 * Keeps prices, payments and stored records, so that no interruption costs anything. Each entry is written before the step that
 * it is about. The record of a pointer's state has its own entry for each state.
 */
export class PaymentJournal {
  readonly #store: JournalStore;

  constructor(store: JournalStore) {
    this.#store = store;
  }

  async record(name: string): Promise<RecordEntry | undefined> {
    return (await this.#store.get(recordPrefix + name)) as RecordEntry | undefined;
  }

  putRecord(entry: RecordEntry): Promise<void> {
    return this.#store.put(recordPrefix + nameOf(entry.offer), entry);
  }

  async pending(): Promise<PendingTransaction[]> {
    const keys = await this.#store.keys(transactionPrefix);
    return (await Promise.all(keys.map((key) => this.#store.get(key)))) as PendingTransaction[];
  }

  putPending(transaction: PendingTransaction): Promise<void> {
    return this.#store.put(transactionPrefix + transaction.hash, transaction);
  }

  removePending({ hash }: PendingTransaction): Promise<void> {
    return this.#store.delete(transactionPrefix + hash);
  }
}

/** The name of an offer in the journal: the chunk's address, or the pointer's state. */
export function nameOf({ plan }: Offer): string {
  return plan.stateId ?? plan.address;
}
