import { del, delMany, get, getMany, keys, set } from 'idb-keyval';
import { Address } from '../address.ts';
import { parseManifest } from '../content/manifest.ts';
import type { LocalManifests } from '../content/resolver.ts';
import type { Blake3 } from '../self-encryption/blake3.ts';
import { settings } from './settings.ts';

export interface KeptManifest {
  /** BLAKE3 of the manifest's bytes, hex: opened as `/<id>/`. */
  id: string;
  name: string | null;
  entries: number;
}

const keyName = 'manifest-key';
const nonceBytes = 12;
const recordPrefix = 'manifest:';
const recordKey = (id: Address) => recordPrefix + id.hex;

/** AES-GCM ciphertext with its nonce. */
interface Sealed {
  nonce: Uint8Array<ArrayBuffer>;
  ciphertext: ArrayBuffer;
}

/**
 * The manifests that a person opened here. They may hold the only keys to private files, so they are kept
 * encrypted, names and all, under a key that the browser uses for us but never gives out.
 */
export class ManifestStore implements LocalManifests {
  readonly #blake3: () => Promise<Blake3>;
  #key: Promise<CryptoKey> | undefined;

  constructor(blake3: () => Promise<Blake3>) {
    this.#blake3 = blake3;
  }

  /** @throws AntwayError as `parseManifest`: only what can be opened is kept. */
  async add(bytes: Uint8Array<ArrayBuffer>): Promise<KeptManifest> {
    const blake3 = await this.#blake3();
    const { name, entries } = parseManifest(bytes, blake3);
    const id = Address.fromBytes(blake3(bytes));
    const kept: KeptManifest = { id: id.hex, name: name ?? null, entries: entries.length };
    const summary = await this.#seal(new TextEncoder().encode(JSON.stringify(kept)));
    await set(recordKey(id), { summary, manifest: await this.#seal(bytes) } satisfies KeptRecord, settings);
    return kept;
  }

  async get(id: Address): Promise<Uint8Array<ArrayBuffer> | undefined> {
    // Without storage nothing is kept.
    const record = await get<KeptRecord>(recordKey(id), settings).catch(() => undefined);
    return record && this.#open(record.manifest);
  }

  async list(): Promise<KeptManifest[]> {
    const records = await getMany<KeptRecord>(await recordKeys(), settings);
    const summaries = records
      .filter((record) => record !== undefined)
      .map(({ summary }) => this.#open(summary));
    return (await Promise.all(summaries)).map((summary) => JSON.parse(new TextDecoder().decode(summary)));
  }

  async remove(id: Address): Promise<void> {
    await del(recordKey(id), settings);
  }

  /** Forgets all of them, and the key that they were encrypted with. */
  async clear(): Promise<void> {
    await delMany([...(await recordKeys()), keyName], settings);
    this.#key = undefined;
  }

  async #seal(bytes: Uint8Array<ArrayBuffer>): Promise<Sealed> {
    const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes));
    const key = await this.#useKey();
    return { nonce, ciphertext: await crypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce }, key, bytes) };
  }

  async #open({ nonce, ciphertext }: Sealed): Promise<Uint8Array<ArrayBuffer>> {
    const key = await this.#useKey();
    return new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv: nonce }, key, ciphertext));
  }

  #useKey(): Promise<CryptoKey> {
    this.#key ??= loadKey().catch((error) => {
      this.#key = undefined;
      throw error;
    });
    return this.#key;
  }
}

interface KeptRecord {
  /** A `KeptManifest` as JSON. */
  summary: Sealed;
  manifest: Sealed;
}

async function recordKeys(): Promise<string[]> {
  return (await keys<string>(settings)).filter((name) => name.startsWith(recordPrefix));
}

async function loadKey(): Promise<CryptoKey> {
  const known = await get<CryptoKey>(keyName, settings);
  if (known) return known;
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, [
    'encrypt',
    'decrypt',
  ]);
  await set(keyName, key, settings);
  return key;
}
