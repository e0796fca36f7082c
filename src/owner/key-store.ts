import { clear, createStore, del, entries, get, promisifyRequest, type UseStore, update } from 'idb-keyval';
import { Address, equalBytes, fromHex, toHex } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { DeviceKey, deviceEntry } from './device-key.ts';
import { checkPassphrase } from './key-file.ts';
import { OwnerKey } from './owner-key.ts';
import {
  type ConfirmedPasskey,
  type Passkey,
  type PasskeyWrapping,
  unwrapByPasskey,
  wrapByPasskey,
} from './passkey-wrapping.ts';
import { type PassphraseWrapping, unwrapByPassphrase, wrapByPassphrase } from './passphrase-wrapping.ts';
import { unlockProblem } from './unlock-problem.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** A new passphrase or a passkey, which encrypts a key. */
export type Lock = string | ConfirmedPasskey;

/** The passphrase of a key, or the output of its passkey's PRF as a key of HKDF. It decrypts the key. */
export type Unlock = string | CryptoKey;

/** The ways to unlock a key. None is set if the entry is damaged. */
export interface Locks {
  hasPassphrase: boolean;
  passkey: Passkey | null;
}

/** A key in the database. Each wrapping has the whole seed. An entry of version 1 is a `PassphraseWrapping` itself. */
interface StoredKey {
  version: 2;
  passphrase: PassphraseWrapping | null;
  passkey: PasskeyWrapping | null;
}

type Entry = StoredKey | (PassphraseWrapping & { version?: undefined });

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
 * The keys of pointers in a browser. A seed is encrypted with a passphrase, with a passkey, or with each of them. Both
 * encryptions also need the device key. So a copy of the database is useless without this browser profile, and the
 * profile is useless without the passphrase or the passkey.
 */
export class OwnerKeyStore {
  readonly #store: UseStore;
  readonly #device: DeviceKey;

  /** @param name of the database. */
  constructor(name = 'antway-owner') {
    this.#store = createStore(name, 'keys');
    this.#device = new DeviceKey(this.#store);
  }

  /** The stored keys. @throws AntwayError `UNSUPPORTED` for a key of a newer version. */
  async list(): Promise<({ address: Address } & Locks)[]> {
    const stored = await this.#all();
    return stored.map(([address, { passphrase, passkey }]) => {
      return { address, hasPassphrase: passphrase !== null, passkey };
    });
  }

  /** The pointers whose keys this profile has stored from their seeds, or has used. Nothing proves the other keys. */
  async provenAddresses(): Promise<Address[]> {
    const stored = await this.#all();
    const proven = stored.filter(([, { passphrase, passkey }]) => {
      return passkey !== null || (passphrase !== null && isProven(passphrase));
    });
    return proven.map(([address]) => address);
  }

  /**
   * Stores a key. A stored key of the same pointer gets the new passphrase or passkey, and keeps the other one.
   * @throws AntwayError `BAD_CONFIG` as `createKeyFile`; the errors of the database.
   */
  async add(seed: Uint8Array, lock: Lock): Promise<Address> {
    if (typeof lock === 'string') checkPassphrase(lock);
    const { address } = new OwnerKey(seed);
    const hadDeviceKey = await this.#device.exists();
    await this.#device.ensure();
    const sign = (bytes: Bytes) => this.#device.sign(bytes);
    const wrapping =
      typeof lock === 'string'
        ? { passphrase: await wrapByPassphrase(seed, address, lock, sign) }
        : { passkey: await wrapByPasskey(seed, address, lock, sign) };
    await update<Entry>(
      address.hex,
      (entry) => {
        // With another device key, nothing decrypts the other encryption any more.
        const other = entry && hadDeviceKey ? parse(entry) : { passphrase: null, passkey: null };
        return { version: 2, passphrase: other.passphrase, passkey: other.passkey, ...wrapping };
      },
      this.#store,
    );
    return address;
  }

  /**
   * The seed of a stored key. The caller overwrites it after use.
   * @throws AntwayError `NOT_FOUND` if there is no such key, or if the key has no such lock; `REFUSED` if the passphrase
   *   or the passkey is wrong, if the entry is of another browser, or if the device key was deleted; `CORRUPT` if the
   *   entry is damaged, or if it has the key of another pointer.
   */
  async seed(address: Address, unlock: Unlock): Promise<Bytes> {
    const { passphrase, passkey } = await this.#entry(address);
    if (typeof unlock === 'string') {
      if (!passphrase) throw absent(address, 'The key of the pointer has no passphrase.');
      const secret = await this.#deviceSecret(passphrase);
      const seed = await unwrapByPassphrase(passphrase, address, unlock, secret);
      if (!isProven(passphrase)) await this.#prove(address, seed, passphrase);
      return seed;
    }
    if (!passkey) throw absent(address, 'The key of the pointer has no passkey.');
    return unwrapByPasskey(passkey, address, unlock, (bytes) => this.#device.sign(bytes));
  }

  /** Removes one of two ways to unlock a key. @throws AntwayError `NOT_FOUND` if there is no other way. */
  async removeLock(address: Address, which: 'passphrase' | 'passkey'): Promise<void> {
    await update<Entry>(
      address.hex,
      (entry) => {
        const stored = parse(entry ?? notStored(address));
        const other = which === 'passkey' ? stored.passphrase : stored.passkey;
        if (!other) throw absent(address, 'Nothing else unlocks the key of the pointer.');
        return { ...stored, [which]: null };
      },
      this.#store,
    );
  }

  /**
   * A stored key for another profile, which needs no passphrase until it is used.
   * @throws AntwayError `NOT_FOUND` if there is no such key, or if it has no passphrase; `REFUSED` if the device key was
   *   deleted; `CORRUPT` if the entry is damaged.
   */
  async movable(address: Address): Promise<MovableKey> {
    const { passphrase } = await this.#entry(address);
    if (!passphrase) throw absent(address, 'The key of the pointer has no passphrase.');
    return {
      iterations: passphrase.iterations,
      salt: toHex(passphrase.salt),
      nonce: toHex(passphrase.nonce),
      wrapped: toHex(passphrase.wrapped),
      deviceSecret: toHex(await this.#deviceSecret(passphrase)),
    };
  }

  /**
   * Stores a key of another profile, which keeps its passphrase. Nothing proves that it is the pointer's key before it is
   * used.
   * @returns false if this profile has a key of the pointer, which stays.
   */
  async addMovable(address: Address, key: MovableKey): Promise<boolean> {
    await this.#device.ensure();
    const salt = fromHex(key.salt);
    const passphrase: PassphraseWrapping = {
      iterations: key.iterations,
      salt,
      nonce: fromHex(key.nonce),
      wrapped: fromHex(key.wrapped),
      mask: xor(fromHex(key.deviceSecret), await this.#maskSecret(salt)),
    };
    let isAdded = false;
    await update<Entry>(
      address.hex,
      (entry) => {
        isAdded = !entry;
        return entry ?? { version: 2, passphrase, passkey: null };
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

  /** @throws AntwayError `CORRUPT` if the key is not the pointer's. */
  async #prove(address: Address, seed: Bytes, { salt }: PassphraseWrapping): Promise<void> {
    if (!new OwnerKey(seed).address.equals(address)) {
      // The writer of a backup can encrypt any seed for any address.
      seed.fill(0);
      throw unlockProblem('damaged');
    }
    await this.#store('readwrite', (store) => {
      const reading: IDBRequest<Entry | undefined> = store.get(address.hex);
      reading.onsuccess = () => {
        const stored = reading.result && parse(reading.result);
        // Another tab may have replaced or removed the key.
        if (!stored?.passphrase || !equalBytes(stored.passphrase.salt, salt)) return;
        const passphrase: PassphraseWrapping = { ...stored.passphrase, isProven: true };
        store.put({ ...stored, passphrase } satisfies StoredKey, address.hex);
      };
      return promisifyRequest(store.transaction);
    });
  }

  async #all(): Promise<[Address, StoredKey][]> {
    const all = (await entries<string, Entry>(this.#store)).filter(([name]) => name !== deviceEntry);
    return all.map(([hex, entry]) => [Address.fromHex(hex), parse(entry)]);
  }

  async #entry(address: Address): Promise<StoredKey> {
    const entry = await get<Entry>(address.hex, this.#store);
    if (entry === undefined) return notStored(address);
    const stored = parse(entry);
    if (!stored.passphrase && !stored.passkey) throw unlockProblem('damaged');
    return stored;
  }

  /** The bytes that the profile of a seed adds to its passphrase. */
  async #deviceSecret({ salt, mask }: Pick<PassphraseWrapping, 'salt' | 'mask'>): Promise<Bytes> {
    return mask ? xor(mask, await this.#maskSecret(salt)) : this.#device.sign(salt);
  }

  /** Hides the device secret of another profile in the database. Its input is longer than a salt. */
  #maskSecret(salt: Bytes): Promise<Bytes> {
    return this.#device.sign(Uint8Array.from([...new TextEncoder().encode('antway moved key 1 '), ...salt]));
  }
}

/** An encryption that is damaged counts as absent, so that it keeps no other one from use. */
function parse(entry: Entry): StoredKey {
  const version = entry?.version;
  if (version !== undefined && version !== 2) {
    throw new AntwayError('UNSUPPORTED', 'A newer version of Antway stored this key. Update Antway.');
  }
  const { passphrase, passkey } = version === 2 ? entry : { passphrase: entry, passkey: null };
  return {
    version: 2,
    passphrase: hasBytes(passphrase, ['salt', 'nonce', 'wrapped']) ? passphrase : null,
    passkey: hasBytes(passkey, ['credential', 'salt', 'nonce', 'wrapped']) ? passkey : null,
  };
}

function hasBytes<T extends object>(wrapping: T | null, names: (keyof T)[]): wrapping is T {
  return names.every((name) => wrapping?.[name] instanceof Uint8Array);
}

/** Whether the seed has given the key of its pointer. */
function isProven(passphrase: PassphraseWrapping): boolean {
  return !passphrase.mask || passphrase.isProven === true;
}

function notStored(address: Address): never {
  throw absent(address, 'This browser has no key of the pointer.');
}

function absent(address: Address, message: string): AntwayError {
  return new AntwayError('NOT_FOUND', message, { address: address.hex });
}

function xor(one: Bytes, two: Bytes): Bytes {
  return one.map((byte, i) => byte ^ two[i]!);
}
