import type { Batch } from './batch.ts';
import { batchLifetimeSeconds } from './batch-lifetime.ts';
import type { Offer } from './quotes.ts';
import type { PaidPool } from './vault.ts';

/** The state of one record. */
export type RecordEntry = SingleEntry | BatchedEntry;

interface EntryState {
  /** The confirmed transaction that paid for it, or `unknownTransaction`. */
  transaction?: string;
  /** Whether a relay said that the network has it. */
  isStored?: boolean;
}

/** A record with a payment of its own. */
export interface SingleEntry extends EntryState {
  offer: Offer;
}

/** A chunk of a batch. The journal keeps the payment of the batch once. */
export interface BatchedEntry extends EntryState {
  address: string;
  /** The root of the batch. */
  batch: string;
  /** Of a batch that was paid for: when nodes stop accepting the payment, in seconds since 1970. Not stored. */
  expiresAt?: number;
}

/** The payment for a batch. */
export interface BatchPayment {
  /** As of a record. */
  transaction: string;
  /** The pool that the vault has chosen. */
  pool: number;
  /** The amount that the vault took, in atto. */
  amount: string;
  /** As of the batch. */
  timestamp: number;
}

/** A transaction that may or may not have reached the chain. */
export interface SentTransaction {
  /** Different for each transaction. */
  id: string;
  account: string;
  /** `0x` and 64 hex digits. A wallet tells it only after it has sent the transaction. */
  hash?: string;
  /**
   * The signed transaction, which may be sent any number of times: the chain executes at most one transaction of an
   * account for each nonce. Wallets do not tell it.
   */
  raw?: string;
  nonce?: number;
}

export interface PendingTransaction extends SentTransaction {
  /** The records that it pays for. Empty for an approval. */
  addresses: string[];
  /** The root of the batch that it pays for. */
  batch?: string;
}

/** A transaction whose payment the chain has confirmed, and whose records are not all stored. */
export interface SettledTransaction extends PendingTransaction {
  /** As of the records. */
  hash: string;
  /** Not before the time of the block, in seconds since 1970. */
  settledAt: number;
  /** Whether nodes do not see the payment for one of its records. */
  isUnseen?: boolean;
}

/** An upload that was paid for. It is removed when everything is stored. */
export interface UnfinishedUpload {
  /** 64 hex digits: the content's address. */
  address: string;
  /** The user's name for the content. Empty for private content, whose names are on no disk. */
  name: string;
  /** The names of its records in the journal. */
  records: string[];
}

/** Values by key that survive a crash: when `put` or `delete` resolves, the change is durable. */
export interface JournalStore {
  get(key: string): Promise<unknown>;
  put(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /** All keys that begin with this text. */
  keys(prefix: string): Promise<string[]>;
}

/** In place of the hash of a payment that the chain has, and whose hash a wallet did not tell. Nodes do not need it. */
export const unknownTransaction = `0x${'0'.repeat(64)}`;

const recordPrefix = 'record-';
const transactionPrefix = 'transaction-';
const settledPrefix = 'settled-';
const batchPrefix = 'batch-';
const batchPaymentPrefix = 'paid-batch-';
export const uploadPrefix = 'upload-';

/**
 * Keeps prices, payments and stored records, so that no interruption costs anything. Each entry is written before the step that
 * it is about. The record of a pointer's state has its own entry for each state.
 */
export class PaymentJournal {
  readonly #store: JournalStore;
  #lastBatch: Batch | undefined;

  constructor(store: JournalStore) {
    this.#store = store;
  }

  async record(name: string): Promise<RecordEntry | undefined> {
    const entry = (await this.#store.get(recordPrefix + name)) as RecordEntry | undefined;
    if (!entry || 'offer' in entry) return entry;
    const payment = await this.batchPayment(entry.batch);
    if (!payment) return entry;
    const { transaction, timestamp } = payment;
    return { ...entry, transaction, expiresAt: timestamp + batchLifetimeSeconds };
  }

  putRecord(entry: RecordEntry): Promise<void> {
    if ('offer' in entry) return this.#store.put(recordPrefix + nameOf(entry.offer), entry);
    const { transaction: _, expiresAt: __, ...state } = entry;
    return this.#store.put(recordPrefix + entry.address, state);
  }

  /** @returns the same object as the last time, as long as no other batch is asked for. */
  async batch(root: string): Promise<Batch | undefined> {
    if (this.#lastBatch?.root !== root)
      this.#lastBatch = (await this.#store.get(batchPrefix + root)) as Batch | undefined;
    return this.#lastBatch;
  }

  putBatch(batch: Batch): Promise<void> {
    return this.#store.put(batchPrefix + batch.root, batch);
  }

  /** Forgets the nodes of a batch, but not its payment. */
  removeBatch(root: string): Promise<void> {
    return this.#store.delete(batchPrefix + root);
  }

  /** The roots of all batches whose nodes are here. */
  async batches(): Promise<string[]> {
    const keys = await this.#store.keys(batchPrefix);
    return keys.map((key) => key.slice(batchPrefix.length));
  }

  async batchPayment(root: string): Promise<BatchPayment | undefined> {
    return (await this.#store.get(batchPaymentPrefix + root)) as BatchPayment | undefined;
  }

  putBatchPayment(
    { root, timestamp }: Pick<Batch, 'root' | 'timestamp'>,
    { pool, amount }: PaidPool,
    transaction: string,
  ): Promise<void> {
    const payment: BatchPayment = { transaction, pool, amount: `${amount}`, timestamp };
    return this.#store.put(batchPaymentPrefix + root, payment);
  }

  removeBatchPayment(root: string): Promise<void> {
    return this.#store.delete(batchPaymentPrefix + root);
  }

  /** Makes the next upload send a record again: a relay said that it is stored, and it is not. */
  async setMissing(name: string): Promise<void> {
    const entry = await this.record(name);
    if (entry?.isStored) await this.putRecord({ ...entry, isStored: false });
  }

  pending(): Promise<PendingTransaction[]> {
    return this.#all(transactionPrefix);
  }

  /** The transactions that may still pay for some of these records. @param names of the records in the journal. */
  async pendingFor(names: Iterable<string>): Promise<PendingTransaction[]> {
    const wanted = new Set(names);
    return (await this.pending()).filter(({ addresses }) => addresses.some((name) => wanted.has(name)));
  }

  putPending(transaction: PendingTransaction): Promise<void> {
    return this.#store.put(transactionPrefix + transaction.id, transaction);
  }

  removePending({ id }: SentTransaction): Promise<void> {
    return this.#store.delete(transactionPrefix + id);
  }

  settled(): Promise<SettledTransaction[]> {
    return this.#all(settledPrefix);
  }

  putSettled(transaction: SettledTransaction): Promise<void> {
    return this.#store.put(settledPrefix + transaction.id, transaction);
  }

  removeSettled({ id }: SentTransaction): Promise<void> {
    return this.#store.delete(settledPrefix + id);
  }

  /** Notes that nodes do not see the payment for a record: the chain may have lost it. */
  async setUnseen(name: string): Promise<void> {
    for (const settled of await this.settled()) {
      const isOf = settled.addresses.includes(name) && !settled.isUnseen;
      if (isOf) await this.putSettled({ ...settled, isUnseen: true });
    }
  }

  /** The uploads that were paid for, as far as they were noted, and are not complete. */
  uploads(): Promise<UnfinishedUpload[]> {
    return this.#all(uploadPrefix);
  }

  putUpload(upload: UnfinishedUpload): Promise<void> {
    return this.#store.put(uploadPrefix + upload.address, upload);
  }

  removeUpload(address: string): Promise<void> {
    return this.#store.delete(uploadPrefix + address);
  }

  async #all<T>(prefix: string): Promise<T[]> {
    const keys = await this.#store.keys(prefix);
    const values = await Promise.all(keys.map((key) => this.#store.get(key)));
    // Another tab may have removed one meanwhile.
    return values.filter((value) => value !== undefined) as T[];
  }
}

/**
 * Whether a record needs no further payment. Nodes never accept an expired payment for a batch again.
 * @param nowSeconds since 1970.
 */
export function isPaidFor(entry: RecordEntry | undefined, nowSeconds = Date.now() / 1000): boolean {
  if (entry?.transaction === undefined) return false;
  return entry.isStored === true || 'offer' in entry || nowSeconds <= entry.expiresAt!;
}

/** The name of an offer in the journal: the chunk's address, or the pointer's state. */
export function nameOf({ plan }: Offer): string {
  return plan.stateId ?? plan.address;
}
