import { clear, createStore, del, get, keys, set, type UseStore } from 'idb-keyval';
import { isTestChain, type PaymentChain } from '../../payment/chain.ts';
import { PaymentJournal, type UnfinishedUpload, uploadPrefix } from '../../payment/journal.ts';
import { prefixedStore } from '../../payment/prefixed-store.ts';
import { durableStore } from '../../util/durable-store.ts';

/** The payments of all chains, in pages and in workers of this origin. A key begins with the chain. */
const database = (): UseStore => durableStore(createStore('antway-payments', 'journal'));

/** In place of a record: which chain it is, where two may have the same id. */
const fingerprintKey = 'chain';

const prefixOf = ({ chainId, vault }: PaymentChain) => `${chainId}-${vault}/`;

/** The journal of a chain. @throws the errors of the database. */
export function openJournal(chain: PaymentChain): PaymentJournal {
  return journalAt(prefixOf(chain));
}

function journalAt(prefix: string): PaymentJournal {
  return new PaymentJournal(prefixedStore(database(), prefix));
}

/**
 * Forgets the payments of a test chain that was started anew, because it has none of them.
 * @param fingerprint `Vault.fingerprint`.
 * @returns whether payments were forgotten.
 */
export async function forgetFormerChain(chain: PaymentChain, fingerprint: string): Promise<boolean> {
  if (!isTestChain(chain)) return false;
  const store = database();
  const prefix = prefixOf(chain);
  const known = await get<string>(prefix + fingerprintKey, store);
  if (known === fingerprint) return false;
  const former = (await keys<string>(store)).filter((key) => key.startsWith(prefix));
  for (const key of former) await del(key, store);
  await set(prefix + fingerprintKey, fingerprint, store);
  return known !== undefined;
}

/** An upload, or a state of a pointer. */
export interface Unfinished extends UnfinishedUpload {
  isPointer: boolean;
}

/** The uploads and states of pointers, on all chains, of which a record was paid for or may still be paid for, and is not stored. */
export async function unfinishedUploads(): Promise<Unfinished[]> {
  const all = await keys<string>(database());
  const prefixes = all
    .filter((key) => key.includes(`/${uploadPrefix}`))
    .map((key) => key.split(uploadPrefix)[0]!);
  const found = [...new Set(prefixes)].map((prefix) => unfinishedIn(journalAt(prefix)));
  return (await Promise.all(found)).flat();
}

async function unfinishedIn(journal: PaymentJournal): Promise<Unfinished[]> {
  const tried = new Set((await journal.pending()).flatMap(({ addresses }) => addresses));
  const unfinished: Unfinished[] = [];
  for (const upload of await journal.uploads()) {
    const entries = await Promise.all(upload.records.map((name) => journal.record(name)));
    const isOpen = entries.some(
      (entry, i) => tried.has(upload.records[i]!) || (entry?.transaction !== undefined && !entry.isStored),
    );
    const isPointer = entries.some(
      (entry) => entry && 'offer' in entry && entry.offer.plan.stateId !== undefined,
    );
    if (isOpen) unfinished.push({ ...upload, isPointer });
  }
  return unfinished;
}

/** Forgets all payments, also those for records that are not stored yet. */
export async function deleteJournals(): Promise<void> {
  await clear(database());
}
