import { delMany, get, getMany, keys, promisifyRequest, type UseStore } from 'idb-keyval';
import { Address } from '../../address.ts';
import { completed } from '../../chunks/indexed-db.ts';
import { parseManifest } from '../../content/manifest.ts';
import type { LocalManifests } from '../../content/resolver.ts';
import { AntwayError } from '../../errors.ts';
import type { Blake3 } from '../../self-encryption/blake3.ts';

export interface StoredManifest {
  /** BLAKE3 of the manifest's bytes, in hex: the manifest opens as `/<id>/`. */
  id: string;
  /** The manifest's own name, or the name of its only file. */
  name: string | null;
  entries: number;
  /** False if storage is blocked. Then the manifest opens only while this worker lives. */
  isStored: boolean;
}

const keyName = 'manifest-key';
const nonceBytes = 12;
/**
 * Manifests can be large, so each has a separate summary for the list: a `StoredManifest` as JSON, without `isStored`.
 */
const summaryPrefix = 'manifest-summary:';
const keysOf = ({ hex }: Address) => ({ manifest: `manifest:${hex}`, summary: summaryPrefix + hex });

interface EncryptedRecord {
  nonce: Uint8Array<ArrayBuffer>;
  ciphertext: ArrayBuffer;
}

/**
 * The manifests that the user opened here. They may contain the only keys to private files, so they are stored
 * encrypted, including their names. The browser uses the key for us but never reveals it. If storage is blocked, the
 * manifests are in memory only.
 */
export class ManifestStore implements LocalManifests {
  readonly #blake3: () => Promise<Blake3>;
  readonly #state: UseStore;
  /** Manifests that could not be stored, by id. */
  readonly #unstored = new Map<string, { bytes: Uint8Array<ArrayBuffer>; summary: StoredManifest }>();
  #key: Promise<CryptoKey> | undefined;

  constructor(blake3: () => Promise<Blake3>, state: UseStore) {
    this.#blake3 = blake3;
    this.#state = state;
  }

  /** Describes a manifest, and whether it is stored here. Stores nothing. @throws AntwayError as `parseManifest`. */
  async describe(bytes: Uint8Array<ArrayBuffer>): Promise<StoredManifest> {
    const { id, summary } = await this.#summarize(bytes);
    return { ...summary, isStored: await this.has(id) };
  }

  /** @throws AntwayError as `parseManifest`, so an invalid manifest is never stored. */
  async add(bytes: Uint8Array<ArrayBuffer>): Promise<StoredManifest> {
    const { id, summary } = await this.#summarize(bytes);
    try {
      await this.#store(id, bytes, summary);
    } catch (error) {
      if (!isBlocked(error)) throw error;
      this.#unstored.set(id.hex, { bytes, summary: { ...summary, isStored: false } });
      return { ...summary, isStored: false };
    }
    this.#unstored.delete(id.hex);
    return { ...summary, isStored: true };
  }

  async has(id: Address): Promise<boolean> {
    if (this.#unstored.has(id.hex)) return true;
    const { manifest } = keysOf(id);
    // If storage is blocked, nothing is stored.
    return (
      (await this.#state('readonly', (store) => promisifyRequest(store.count(manifest))).catch(() => 0)) > 0
    );
  }

  /** @throws AntwayError `CORRUPT` if the manifest is stored but the browser cannot decrypt it any more. */
  async get(id: Address): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const known = this.#unstored.get(id.hex);
    if (known) return known.bytes;
    const record = await get<EncryptedRecord>(keysOf(id).manifest, this.#state).catch(() => undefined);
    try {
      return record && (await this.#decrypt(record));
    } catch (cause) {
      throw new AntwayError(
        'CORRUPT',
        'This manifest is stored here, but the browser can no longer decrypt it. Open its file or link again.',
        { address: id.hex },
        { cause },
      );
    }
  }

  /** Leaves out manifests that the browser cannot decrypt any more, until the user opens their file or link again. */
  async list(): Promise<StoredManifest[]> {
    const listed = Array.from(this.#unstored.values(), ({ summary }) => summary);
    let records: (EncryptedRecord | undefined)[];
    try {
      records = await getMany<EncryptedRecord | undefined>(await this.#keysFrom(summaryPrefix), this.#state);
    } catch (error) {
      if (!isBlocked(error)) throw error;
      return listed;
    }
    const summaries = await Promise.allSettled(
      records.filter((record) => record !== undefined).map((record) => this.#decrypt(record)),
    );
    for (const summary of summaries) {
      if (summary.status === 'rejected') continue;
      listed.push({ ...JSON.parse(new TextDecoder().decode(summary.value)), isStored: true });
    }
    const lost = summaries.filter(({ status }) => status === 'rejected').length;
    if (lost > 0) console.warn(`antway: ${lost} of the manifests stored here cannot be decrypted any more`);
    return listed;
  }

  async remove(id: Address): Promise<void> {
    if (this.#unstored.delete(id.hex)) return;
    await delMany(Object.values(keysOf(id)), this.#state);
  }

  /** Deletes all manifests and their encryption key. */
  async clear(): Promise<void> {
    this.#unstored.clear();
    await delMany([...(await this.#keysFrom('manifest')), keyName], this.#state);
    this.#key = undefined;
  }

  async #keysFrom(prefix: string): Promise<string[]> {
    return (await keys<string>(this.#state)).filter((name) => name.startsWith(prefix));
  }

  async #summarize(bytes: Uint8Array) {
    const blake3 = await this.#blake3();
    const { name, entries } = parseManifest(bytes, blake3);
    const id = Address.fromBytes(blake3(bytes));
    const fileName = entries.length === 1 ? entries[0]!.path?.split('/').pop() : undefined;
    return { id, summary: { id: id.hex, name: name || fileName || null, entries: entries.length } };
  }

  async #store(id: Address, bytes: Uint8Array<ArrayBuffer>, summary: object): Promise<void> {
    // Another worker may have deleted the key since the last read.
    this.#key = undefined;
    const key = await this.#useKey();
    const names = keysOf(id);
    const records: [string, EncryptedRecord][] = [
      [names.manifest, await encrypt(key, bytes)],
      [names.summary, await encrypt(key, new TextEncoder().encode(JSON.stringify(summary)))],
    ];
    await this.#state('readwrite', async (store) => {
      // Another worker may also have deleted it just now. Without the key the records could never be decrypted.
      const known = await promisifyRequest<CryptoKey | undefined>(store.get(keyName));
      if (!known) store.put(key, keyName);
      for (const [name, record] of records) store.put(record, name);
      await completed(store.transaction);
    });
  }

  async #decrypt(record: EncryptedRecord): Promise<Uint8Array<ArrayBuffer>> {
    try {
      return await decrypt(await this.#useKey(), record);
    } catch {
      // Another worker may have deleted the cached key and created a new one.
      this.#key = undefined;
      return decrypt(await this.#useKey(), record);
    }
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

function isBlocked(error: unknown): boolean {
  return error instanceof AntwayError && error.details.isBlocked === true;
}

/** If two workers create the key at the same time, both get the same key. */
async function loadKey(state: UseStore): Promise<CryptoKey> {
  const known = await get<CryptoKey>(keyName, state);
  if (known) return known;
  const made = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, [
    'encrypt',
    'decrypt',
  ]);
  return state('readwrite', async (store) => {
    const first = await promisifyRequest<CryptoKey | undefined>(store.get(keyName));
    if (!first) store.put(made, keyName);
    await completed(store.transaction);
    return first ?? made;
  });
}
