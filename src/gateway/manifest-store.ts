import { delMany, get, getMany, keys, set, setMany } from 'idb-keyval';
import { Address } from '../address.ts';
import { parseManifest } from '../content/manifest.ts';
import type { LocalManifests } from '../content/resolver.ts';
import type { Blake3 } from '../self-encryption/blake3.ts';
import { settings } from './settings.ts';

export interface KeptManifest {
  /** BLAKE3 of the manifest's bytes, hex: opened as `/<id>/`. */
  id: string;
  /** Its own, or that of its only file. */
  name: string | null;
  entries: number;
}

const keyName = 'manifest-key';
const nonceBytes = 12;
/** Apart from the manifests, which may be large, so that they can be listed. Each is a `KeptManifest` as JSON. */
const summaryPrefix = 'manifest-summary:';
const keysOf = ({ hex }: Address) => ({ manifest: `manifest:${hex}`, summary: summaryPrefix + hex });

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
    const fileName = entries.length === 1 ? entries[0]!.path?.split('/').pop() : undefined;
    const kept: KeptManifest = { id: id.hex, name: name || fileName || null, entries: entries.length };
    const summary = await this.#seal(new TextEncoder().encode(JSON.stringify(kept)));
    const at = keysOf(id);
    const records: [string, Sealed][] = [
      [at.manifest, await this.#seal(bytes)],
      [at.summary, summary],
    ];
    await setMany(records, settings);
    return kept;
  }

  async get(id: Address): Promise<Uint8Array<ArrayBuffer> | undefined> {
    // Without storage nothing is kept.
    const record = await get<Sealed>(keysOf(id).manifest, settings).catch(() => undefined);
    return record && this.#open(record);
  }

  async list(): Promise<KeptManifest[]> {
    const records = await getMany<Sealed>(await keysFrom(summaryPrefix), settings);
    const summaries = records.filter((record) => record !== undefined).map((record) => this.#open(record));
    return (await Promise.all(summaries)).map((summary) => JSON.parse(new TextDecoder().decode(summary)));
  }

  async remove(id: Address): Promise<void> {
    await delMany(Object.values(keysOf(id)), settings);
  }

  /** Forgets all of them, and the key that they were encrypted with. */
  async clear(): Promise<void> {
    await delMany([...(await keysFrom('manifest')), keyName], settings);
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

async function keysFrom(prefix: string): Promise<string[]> {
  return (await keys<string>(settings)).filter((name) => name.startsWith(prefix));
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
