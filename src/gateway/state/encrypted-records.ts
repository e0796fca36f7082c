import { get, promisifyRequest, type UseStore } from 'idb-keyval';
import { completed } from '../../chunks/indexed-db.ts';

/** Name of the row with the key. */
export const manifestKeyName = 'manifest-key';
/** Prefix of the names of the user's publications, which `Publications` stores. */
export const publicationPrefix = 'publication:';
const nonceBytes = 12;

export interface EncryptedRecord {
  nonce: Uint8Array<ArrayBuffer>;
  ciphertext: ArrayBuffer;
}

/** Rows of the state store, encrypted with one key. The browser uses the key for us but never reveals it. */
export class EncryptedRecords {
  readonly #state: UseStore;
  #key: Promise<CryptoKey> | undefined;

  constructor(state: UseStore) {
    this.#state = state;
  }

  /** Stores all rows in one transaction. */
  async put(rows: readonly (readonly [name: string, bytes: Uint8Array<ArrayBuffer>])[]): Promise<void> {
    // Another worker may have deleted the key since the last read.
    this.#key = undefined;
    const key = await this.#useKey();
    const records = await Promise.all(
      rows.map(async ([name, bytes]) => [name, await encrypt(key, bytes)] as const),
    );
    await this.#state('readwrite', async (store) => {
      // Another worker may also have deleted it just now. Without the key the records could never be decrypted.
      const known = await promisifyRequest<CryptoKey | undefined>(store.get(manifestKeyName));
      if (!known) store.put(key, manifestKeyName);
      for (const [name, record] of records) store.put(record, name);
      await completed(store.transaction);
    });
  }

  /** @throws if the key of this record does not exist any more. */
  async decrypt(record: EncryptedRecord): Promise<Uint8Array<ArrayBuffer>> {
    try {
      return await decrypt(await this.#useKey(), record);
    } catch {
      // Another worker may have deleted the cached key and created a new one.
      this.#key = undefined;
      return decrypt(await this.#useKey(), record);
    }
  }

  /** Forgets the key in memory. */
  forgetKey(): void {
    this.#key = undefined;
  }

  #useKey(): Promise<CryptoKey> {
    this.#key ??= loadKey(this.#state).catch((error) => {
      this.#key = undefined;
      throw error;
    });
    return this.#key;
  }
}

async function encrypt(key: CryptoKey, bytes: Uint8Array<ArrayBuffer>): Promise<EncryptedRecord> {
  const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes));
  return { nonce, ciphertext: await crypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce }, key, bytes) };
}

async function decrypt(
  key: CryptoKey,
  { nonce, ciphertext }: EncryptedRecord,
): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv: nonce }, key, ciphertext));
}

/** If two workers create the key at the same time, both get the same key. */
async function loadKey(state: UseStore): Promise<CryptoKey> {
  const known = await get<CryptoKey>(manifestKeyName, state);
  if (known) return known;
  const made = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, [
    'encrypt',
    'decrypt',
  ]);
  return state('readwrite', async (store) => {
    const first = await promisifyRequest<CryptoKey | undefined>(store.get(manifestKeyName));
    if (!first) store.put(made, manifestKeyName);
    await completed(store.transaction);
    return first ?? made;
  });
}
