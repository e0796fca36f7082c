import { del, get, set } from 'idb-keyval';
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
const recordKey = (id: Address) => `manifest:${id.hex}`;

/**
 * The manifests that a person opened here. They may hold the only keys to private files, so they are kept
 * encrypted, under a key that the browser uses for us but never gives out.
 */
export class ManifestStore implements LocalManifests {
  readonly #blake3: () => Promise<Blake3>;

  constructor(blake3: () => Promise<Blake3>) {
    this.#blake3 = blake3;
  }

  /** @throws AntwayError as `parseManifest`: only what can be opened is kept. */
  async add(bytes: Uint8Array<ArrayBuffer>): Promise<KeptManifest> {
    const blake3 = await this.#blake3();
    const { name, entries } = parseManifest(bytes, blake3);
    const id = Address.fromBytes(blake3(bytes));
    const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes));
    const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce }, await this.#key(), bytes);
    await set(recordKey(id), { nonce, sealed }, settings);
    return { id: id.hex, name: name ?? null, entries: entries.length };
  }

  async get(id: Address): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const kept = await get<{ nonce: Uint8Array<ArrayBuffer>; sealed: ArrayBuffer }>(
      recordKey(id),
      settings,
    ).catch(
      () => undefined, // without storage nothing is kept
    );
    if (!kept) return undefined;
    const key = await this.#key();
    return new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv: kept.nonce }, key, kept.sealed));
  }

  async remove(id: Address): Promise<void> {
    await del(recordKey(id), settings);
  }

  async #key(): Promise<CryptoKey> {
    const known = await get<CryptoKey>(keyName, settings);
    if (known) return known;
    const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, [
      'encrypt',
      'decrypt',
    ]);
    await set(keyName, key, settings);
    return key;
  }
}
