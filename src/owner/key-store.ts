import {
  clear,
  createStore,
  del,
  entries,
  get,
  keys,
  promisifyRequest,
  set,
  type UseStore,
  update,
} from 'idb-keyval';
import { Address, equalBytes, fromHex, toHex } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { checkPassphrase, iterations } from './key-file.ts';
import { OwnerKey } from './owner-key.ts';

type Bytes = Uint8Array<ArrayBuffer>;

const deviceEntry = 'device';

/** A key in the database. */
interface WrappedKey {
  iterations: number;
  salt: Bytes;
  nonce: Bytes;
  /** The seed, encrypted with AES-256-GCM. */
  wrapped: Bytes;
  /**
   * For a key of another profile: that profile's device secret for this salt, XOR one that only this profile can make.
   */
  mask?: Bytes;
  /** Of a key of another profile: true once the seed gave the key of its pointer. */
  isProven?: true;
}

/** A key that another profile can take. It is still encrypted with its passphrase. All bytes are in hex. */
export interface MovableKey {
  iterations: number;
  /** 16 bytes. */
  salt: string;
  /** 12 bytes. */
  nonce: string;
  /** 48 bytes: the seed, encrypted with AES-256-GCM. */
  wrapped: string;
  /** 32 bytes: HMAC(device key, salt) of the profile that encrypted the seed. It serves this salt only. */
  deviceSecret: string;
}

/**
 * The keys of pointers in a browser. A seed is encrypted with HKDF(PBKDF2(passphrase) ‖ HMAC(device key, salt)). The
 * device key is a key of WebCrypto that no script can export. So a copy of the database is useless without this browser
 * profile, and the profile is useless without the passphrase.
 */
export class OwnerKeyStore {
  readonly #store: UseStore;

  /** @param name of the database. */
  constructor(name = 'antway-owner') {
    this.#store = createStore(name, 'keys');
  }

  /** The pointers whose keys are stored. */
  async addresses(): Promise<Address[]> {
    const names = (await keys<string>(this.#store)).filter((name) => name !== deviceEntry);
    return names.map((hex) => Address.fromHex(hex));
  }

  /** The pointers whose keys this profile has stored from their seeds, or has used. Nothing proves the other keys. */
  async provenAddresses(): Promise<Address[]> {
    const stored = await entries<string, WrappedKey>(this.#store);
    const isProven = ({ mask, isProven }: WrappedKey) => !mask || isProven === true;
    const proven = stored.filter(([name, key]) => name !== deviceEntry && isProven(key));
    return proven.map(([hex]) => Address.fromHex(hex));
  }

  /**
   * Stores a key. A stored key of the same pointer gets the new passphrase.
   * @throws AntwayError `BAD_CONFIG` as `createKeyFile`; the errors of the database.
   */
  async add(seed: Uint8Array, passphrase: string): Promise<Address> {
    checkPassphrase(passphrase);
    const { address } = new OwnerKey(seed);
    const salt = crypto.getRandomValues(new Uint8Array(16));
    const nonce = crypto.getRandomValues(new Uint8Array(12));
    const head = { iterations: iterations.made, salt, nonce };
    const key = await this.#wrappingKey(address, passphrase, head);
    const cipher = { name: 'AES-GCM', iv: nonce };
    const wrapped = new Uint8Array(await crypto.subtle.encrypt(cipher, key, Uint8Array.from(seed)));
    await set(address.hex, { ...head, wrapped } satisfies WrappedKey, this.#store);
    return address;
  }

  /**
   * The seed of a stored key.
   * @throws AntwayError `NOT_FOUND` if there is no such key, `REFUSED` if the passphrase is wrong, or if the entry is
   *   of another browser; `CORRUPT` if another profile gave a key that is not the pointer's.
   */
  async seed(address: Address, passphrase: string): Promise<Bytes> {
    const entry = await this.#entry(address);
    const key = await this.#wrappingKey(address, passphrase, entry);
    const cipher = { name: 'AES-GCM', iv: entry.nonce };
    const seed = await crypto.subtle.decrypt(cipher, key, entry.wrapped).catch((cause) => {
      const message = 'The passphrase is wrong, or the key was stored by another browser.';
      throw new AntwayError('REFUSED', message, { address: address.hex }, { cause });
    });
    if (entry.mask && !entry.isProven) await this.#prove(address, new Uint8Array(seed), entry);
    return new Uint8Array(seed);
  }

  /** @throws AntwayError `CORRUPT` if the key is not the pointer's. */
  async #prove(address: Address, seed: Bytes, { salt }: WrappedKey): Promise<void> {
    if (!new OwnerKey(seed).address.equals(address)) {
      const message = 'The stored key belongs to another pointer.';
      throw new AntwayError('CORRUPT', message, { address: address.hex });
    }
    await this.#store('readwrite', (store) => {
      const reading: IDBRequest<WrappedKey | undefined> = store.get(address.hex);
      reading.onsuccess = () => {
        const stored = reading.result;
        // Another tab may have replaced or removed the key.
        if (!stored || !equalBytes(stored.salt, salt)) return;
        store.put({ ...stored, isProven: true } satisfies WrappedKey, address.hex);
      };
      return promisifyRequest(store.transaction);
    });
  }

  /** A stored key for another profile, which needs no passphrase until it is used. @throws AntwayError `NOT_FOUND`. */
  async movable(address: Address): Promise<MovableKey> {
    const entry = await this.#entry(address);
    return {
      iterations: entry.iterations,
      salt: toHex(entry.salt),
      nonce: toHex(entry.nonce),
      wrapped: toHex(entry.wrapped),
      deviceSecret: toHex(await this.#deviceSecret(entry)),
    };
  }

  /**
   * Stores a key of another profile, which keeps its passphrase. Nothing proves that it is the pointer's key before it is
   * used.
   * @returns false if this profile has a key of the pointer, which stays.
   */
  async addMovable(address: Address, key: MovableKey): Promise<boolean> {
    const salt = fromHex(key.salt);
    const head = {
      iterations: key.iterations,
      salt,
      nonce: fromHex(key.nonce),
      wrapped: fromHex(key.wrapped),
    };
    const mask = xor(fromHex(key.deviceSecret), await this.#maskSecret(salt));
    let isAdded = false;
    await update<WrappedKey>(
      address.hex,
      (stored) => {
        isAdded = !stored;
        return stored ?? { ...head, mask };
      },
      this.#store,
    );
    return isAdded;
  }

  /** Removes a key. Only its recovery phrase or a key file brings it back. */
  async remove(address: Address): Promise<void> {
    await del(address.hex, this.#store);
  }

  /** Removes all keys, and the device key. */
  async clear(): Promise<void> {
    await clear(this.#store);
  }

  async #entry(address: Address): Promise<WrappedKey> {
    const entry = await get<WrappedKey>(address.hex, this.#store);
    if (entry) return entry;
    const message = 'This browser has no key of the pointer.';
    throw new AntwayError('NOT_FOUND', message, { address: address.hex });
  }

  async #wrappingKey(
    address: Address,
    passphrase: string,
    head: Omit<WrappedKey, 'wrapped'>,
  ): Promise<CryptoKey> {
    const { subtle } = crypto;
    const { salt, iterations: rounds } = head;
    const text = new TextEncoder().encode(passphrase.normalize('NFKC'));
    const password = await subtle.importKey('raw', text, 'PBKDF2', false, ['deriveBits']);
    const derivation = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: rounds };
    const secrets = await Promise.all([
      subtle.deriveBits(derivation, password, 256),
      this.#deviceSecret(head),
    ]);
    const both = Uint8Array.from(secrets.flatMap((secret) => [...new Uint8Array(secret)]));
    const master = await subtle.importKey('raw', both, 'HKDF', false, ['deriveKey']);
    const info = new TextEncoder().encode(`antway owner key 1 ${address.hex}`);
    const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info };
    const use: KeyUsage[] = ['encrypt', 'decrypt'];
    return subtle.deriveKey(hkdf, master, { name: 'AES-GCM', length: 256 }, false, use);
  }

  /** The bytes that the profile of a seed adds to its passphrase. */
  async #deviceSecret({ salt, mask }: Pick<WrappedKey, 'salt' | 'mask'>): Promise<Bytes> {
    return mask ? xor(mask, await this.#maskSecret(salt)) : this.#sign(salt);
  }

  /** Hides the device secret of another profile in the database. Its input is longer than a salt. */
  #maskSecret(salt: Bytes): Promise<Bytes> {
    return this.#sign(Uint8Array.from([...new TextEncoder().encode('antway moved key 1 '), ...salt]));
  }

  async #sign(bytes: Bytes): Promise<Bytes> {
    return new Uint8Array(await crypto.subtle.sign('HMAC', await this.#deviceKey(), bytes));
  }

  /** The device key of this browser profile. Several pages that make it at once agree on one. */
  async #deviceKey(): Promise<CryptoKey> {
    const stored = await get<CryptoKey>(deviceEntry, this.#store);
    if (stored) return stored;
    const made = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    await update<CryptoKey>(deviceEntry, (existing) => existing ?? made, this.#store);
    return (await get<CryptoKey>(deviceEntry, this.#store))!;
  }
}

function xor(one: Bytes, two: Bytes): Bytes {
  return one.map((byte, i) => byte ^ two[i]!);
}
