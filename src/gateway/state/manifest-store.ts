import { delMany, get, getMany, keys, promisifyRequest, type UseStore } from 'idb-keyval';
import { Address } from '../../address.ts';
import { parseManifest } from '../../content/manifest.ts';
import type { LocalManifests } from '../../content/resolver.ts';
import { AntwayError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Blake3 } from '../../self-encryption/blake3.ts';
import {
  type EncryptedRecord,
  EncryptedRecords,
  manifestKeyName,
  publicationPrefix,
} from './encrypted-records.ts';

export interface StoredManifest {
  /** BLAKE3 of the manifest's bytes, in hex: the manifest opens as `/<id>/`. */
  id: string;
  /** The manifest's own name, or the name of its only file. */
  name: string | null;
  entries: number;
  /** False if storage is blocked. Then the manifest opens only while this worker lives. */
  isStored: boolean;
}

/**
 * Manifests can be large, so each has a separate summary for the list: a `StoredManifest` as JSON, without `isStored`.
 */
const summaryPrefix = 'manifest-summary:';
const keysOf = ({ hex }: Address) => ({ manifest: `manifest:${hex}`, summary: summaryPrefix + hex });

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
  readonly #records: EncryptedRecords;

  constructor(blake3: () => Promise<Blake3>, state: UseStore) {
    this.#blake3 = blake3;
    this.#state = state;
    this.#records = new EncryptedRecords(state);
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
      return record && (await this.#records.decrypt(record));
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
      records.filter((record) => record !== undefined).map((record) => this.#records.decrypt(record)),
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

  /** Deletes all manifests and their encryption key, and the publications, which only this key decrypts. */
  async clear(): Promise<void> {
    this.#unstored.clear();
    const encrypted = [...(await this.#keysFrom('manifest')), ...(await this.#keysFrom(publicationPrefix))];
    await delMany([...encrypted, manifestKeyName], this.#state);
    this.#records.forgetKey();
  }

  async #keysFrom(prefix: string): Promise<string[]> {
    return (await keys<string>(this.#state)).filter((name) => name.startsWith(prefix));
  }

  async #summarize(bytes: Uint8Array) {
    const blake3 = await this.#blake3();
    const { name, entries } = parseManifest(bytes, blake3);
    const id = Address.fromBytes(blake3(bytes));
    const fileName = entries.length === 1 ? entries[0]!.path?.split('/').pop() : undefined;
    const title = (name || fileName)?.slice(0, limits.titleCharacters) || null;
    return { id, summary: { id: id.hex, name: title, entries: entries.length } };
  }

  async #store(id: Address, bytes: Uint8Array<ArrayBuffer>, summary: object): Promise<void> {
    const names = keysOf(id);
    await this.#records.put([
      [names.manifest, bytes],
      [names.summary, new TextEncoder().encode(JSON.stringify(summary))],
    ]);
  }
}

function isBlocked(error: unknown): boolean {
  return error instanceof AntwayError && error.details.isBlocked === true;
}
