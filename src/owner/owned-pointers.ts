import { clear, createStore, del, entries, get, set, type UseStore } from 'idb-keyval';
import { Address } from '../address.ts';
import type { Pointer } from '../content/pointer.ts';
import { AntwayError, asAntwayError } from '../errors.ts';
import { durableStore } from '../util/durable-store.ts';
import { createKeyFile, parseKeyFile } from './key-file.ts';
import { type Lock, type Locks, type MovableKey, OwnerKeyStore, type Unlock } from './key-store.ts';
import {
  askAll,
  findTarget,
  freezeNow,
  type Moved,
  type MoveOptions,
  movePointer,
  type StateSources,
  sendAgain,
} from './move-pointer.ts';
import { OwnerKey } from './owner-key.ts';
import { phraseOf } from './recovery-phrase.ts';
import type { PointerTarget } from './sign-pointer.ts';
import { isTarget, OwnerStates } from './states.ts';

interface LabelledStates {
  address: Address;
  /** The user's name for it. Only this browser knows it. */
  label: string;
  states: OwnerStates;
  /** The URLs of the chosen peers that did not take the newest state, as far as this browser knows. */
  missingAt: readonly string[];
}

/** A pointer whose key this browser stores. */
export interface OwnedPointer extends LabelledStates, Locks {}

/** A pointer and its key, which another browser can take. */
export interface MovablePointer {
  address: Address;
  label: string;
  /** `OwnerStates.toJson`. Null if this browser cannot read them. */
  states: string | null;
  key: MovableKey;
}

/** An entry of the database. */
interface Entry {
  label: string;
  /** `OwnerStates.toJson`. */
  states: string;
  /** Undefined if there is none. */
  missingAt?: readonly string[];
}

/** The peers of a move, and what they need. */
export type Peers = StateSources & Pick<MoveOptions, 'token' | 'signal'>;

export const mostLabelCharacters = 100;

/** The user's own pointers in a browser: their encrypted keys, the known states, and a name for each. */
export class OwnedPointers {
  readonly #keys: OwnerKeyStore;
  readonly #store: UseStore;

  /** @param name of the databases. */
  constructor(name = 'antway-owner') {
    this.#keys = new OwnerKeyStore(name);
    // A state must be on the disk before a peer gets it: after a crash, another one would be signed with its counter.
    this.#store = durableStore(createStore(`${name}-states`, 'states'));
  }

  /**
   * By label. A key without an entry has no label: the browser ended between the two.
   * @throws the errors of the database.
   */
  async list(): Promise<OwnedPointer[]> {
    const stored = new Map(await entries<string, Entry>(this.#store));
    const listed = (await this.#keys.list()).map(({ address, ...locks }) => {
      const entry = stored.get(address.hex);
      try {
        return { ...locks, ...read(address, entry) };
      } catch {
        // The actions report the damage.
        return { ...locks, ...read(address, undefined), label: entry!.label };
      }
    });
    return listed.sort((a, b) => a.label.localeCompare(b.label) || (a.address.hex < b.address.hex ? -1 : 1));
  }

  /** Stores a key. A stored key gets the lock and the label. @throws as `OwnerKeyStore.add`. */
  async add(seed: Uint8Array, lock: Lock, label: string): Promise<Address> {
    const address = await this.#keys.add(seed, lock);
    await this.#locked(address, async () => {
      const found = await this.#find(address);
      await this.#save({ ...found, label: label.trim().slice(0, mostLabelCharacters) });
    });
    return address;
  }

  /**
   * Leads a pointer to content. Other tabs wait, because two of them could sign one counter.
   * @param target the content, or the address of content of an unknown kind.
   * @throws AntwayError as `OwnerKeyStore.seed`, `findTarget` and `movePointer`.
   */
  move(address: Address, unlock: Unlock, target: PointerTarget | Address, at: Peers): Promise<Moved> {
    return this.#signing(address, unlock, at.signal, async (key, saved) => {
      const found = target instanceof Address ? await findTarget(target, at.peers, at.signal) : target;
      return movePointer(key, found, { ...saved, ...at });
    });
  }

  /**
   * Freezes a pointer at its target.
   * @param seen the target that the user has seen. Nothing can undo a freeze, so it never takes another one.
   * @throws AntwayError `REFUSED` if a peer has a newer state with another target, which is then stored; as
   *   `OwnerKeyStore.seed` and `freezeNow`.
   */
  freeze(address: Address, unlock: Unlock, seen: PointerTarget, at: Peers): Promise<Moved> {
    return this.#signing(address, unlock, at.signal, (key, saved) => {
      const confirm = async (pointer: Pointer) => {
        if (isTarget(pointer, seen)) return;
        await saved.save(saved.states.withPointers([pointer]));
        const message = `Nothing is frozen: a peer has a newer state, which leads to ${pointer.target.hex}.`;
        throw new AntwayError('REFUSED', message, { address: address.hex });
      };
      return freezeNow(key, { ...saved, ...at, confirm });
    });
  }

  /**
   * Sends the newest state to all peers again, such as after an interruption. This needs no key.
   * @throws AntwayError as `sendAgain`.
   */
  store(address: Address, at: Peers): Promise<Moved> {
    return this.#locked(
      address,
      async () => {
        const owned = await this.#find(address);
        return this.#sending(owned, (saved) => sendAgain(address, { ...saved, ...at }));
      },
      at.signal,
    );
  }

  /** Asks the peers for newer states, such as those that another device signed. @throws AntwayError as `askAll`. */
  async refresh(address: Address, at: Peers): Promise<void> {
    await this.#locked(address, async () => {
      const owned = await this.#find(address);
      const { states } = await askAll(address, { ...at, states: owned.states });
      await this.#save(withStates(owned, states));
    });
  }

  /**
   * The seed of a key, to sign other things than states. The caller overwrites it after use.
   * @throws AntwayError as `OwnerKeyStore.seed`.
   */
  async seed(address: Address, unlock: Unlock): Promise<Uint8Array<ArrayBuffer>> {
    return this.#keys.seed(address, unlock);
  }

  /** The label of each pointer whose key is proven to be the user's, by address. */
  async provenLabels(): Promise<Map<string, string>> {
    const [proven, owned] = await Promise.all([this.#keys.provenAddresses(), this.list()]);
    const labels = new Map(owned.map(({ address, label }) => [address.hex, label]));
    return new Map(proven.map(({ hex }) => [hex, labels.get(hex) ?? '']));
  }

  /**
   * The text of a key file, as the command reads it.
   * @param passphrase of the file.
   * @throws AntwayError as `OwnerKeyStore.seed` and `createKeyFile`.
   */
  keyFile(address: Address, unlock: Unlock, passphrase: string): Promise<string> {
    return this.#unlocked(address, unlock, (seed) => createKeyFile(seed, passphrase));
  }

  /** The recovery phrase. @throws AntwayError as `OwnerKeyStore.seed`. */
  phrase(address: Address, unlock: Unlock): Promise<string> {
    return this.#unlocked(address, unlock, async (seed) => phraseOf(seed));
  }

  /**
   * Gives a key a passphrase or a passkey. A passphrase or a passkey that it has is replaced.
   * @param makeLock called once the key is decrypted.
   * @param signal ends it while the key is decrypted.
   * @throws AntwayError as `OwnerKeyStore.seed` and `OwnerKeyStore.add`, and the errors of `makeLock`; the reason of the
   *   signal.
   */
  async addLock(
    address: Address,
    unlock: Unlock,
    makeLock: () => Promise<Lock>,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#unlocked(address, unlock, async (seed) => {
      signal.throwIfAborted();
      await this.#keys.add(seed, await makeLock());
    });
  }

  /**
   * Removes one of two ways to unlock a key.
   * @param unlock the other one. It has to work before the first is removed.
   * @param signal ends it while the key is decrypted.
   * @throws AntwayError as `OwnerKeyStore.seed` and `OwnerKeyStore.removeLock`; the reason of the signal.
   */
  async removeLock(address: Address, unlock: Unlock, signal: AbortSignal): Promise<void> {
    await this.#unlocked(address, unlock, async () => {
      signal.throwIfAborted();
      await this.#keys.removeLock(address, typeof unlock === 'string' ? 'passkey' : 'passphrase');
    });
  }

  /**
   * The pointers, for another browser.
   * @returns also the number of keys that cannot leave this browser, because no passphrase unlocks them.
   * @throws the errors of the database.
   */
  async movable(): Promise<{ pointers: MovablePointer[]; bound: number }> {
    const pointers = await Promise.all(
      (await this.list()).map(async ({ address, label }) => {
        const key = await this.#keys.movable(address).catch((error) => {
          if (error instanceof AntwayError) return null;
          throw error;
        });
        const states = await this.#find(address).then(
          (found) => found.states.toJson(),
          () => null,
        );
        return key && { address, label, states, key };
      }),
    );
    const movable = pointers.filter((pointer) => pointer !== null);
    return { pointers: movable, bound: pointers.length - movable.length };
  }

  /**
   * Adds a pointer of another browser. The passphrase of its key stays.
   * @returns false if its key is here already. Then nothing changes.
   * @throws AntwayError `BAD_CONFIG` as `OwnerStates.fromJson`.
   */
  async addMovable({ address, label, states, key }: MovablePointer): Promise<boolean> {
    const known = states === null ? OwnerStates.empty(address) : OwnerStates.fromJson(states, address);
    return this.#locked(address, async () => {
      const isHere = (await this.#keys.list()).some((stored) => stored.address.hex === address.hex);
      if (isHere) return false;
      // The states come first: a key without them could sign one counter twice.
      await this.#save({ address, label, states: known, missingAt: [] });
      return this.#keys.addMovable(address, key);
    });
  }

  /**
   * Removes the key, its states and its label from this browser. The pointer keeps its target. Another tab may have an
   * action with the pointer, which can take as long as its user thinks about a price.
   * @throws the signal's reason when aborted meanwhile.
   */
  async remove(address: Address, signal: AbortSignal): Promise<void> {
    await this.#locked(
      address,
      async () => {
        await this.#keys.remove(address);
        await del(address.hex, this.#store);
      },
      signal,
    );
  }

  /** Removes all keys, states and labels. */
  async clear(): Promise<void> {
    await this.#keys.clear();
    await clear(this.#store);
  }

  #signing(
    address: Address,
    unlock: Unlock,
    signal: AbortSignal,
    sign: (key: OwnerKey, saved: Pick<MoveOptions, 'states' | 'save'>) => Promise<Moved>,
  ): Promise<Moved> {
    return this.#locked(
      address,
      async () => {
        const key = await this.#unlocked(address, unlock, async (seed) => new OwnerKey(seed));
        // Read after the lock: another tab may have signed a state.
        const owned = await this.#find(address);
        return this.#sending(owned, (saved) => sign(key, saved));
      },
      signal,
    );
  }

  /** Remembers which peers did not take a state. A state counts as missing at each peer that did not answer yet. */
  async #sending(
    owned: LabelledStates,
    send: (saved: Pick<MoveOptions, 'states' | 'save'>) => Promise<Moved>,
  ): Promise<Moved> {
    let last = owned;
    const save = (states: OwnerStates, sendingTo?: readonly string[]) => {
      last = sendingTo ? { ...owned, states, missingAt: sendingTo } : withStates(last, states);
      return this.#save(last);
    };
    try {
      const moved = await send({ states: owned.states, save });
      await this.#save({ ...last, missingAt: [] });
      return moved;
    } catch (error) {
      const { refusedBy } = asAntwayError(error).details;
      if (refusedBy) await this.#save({ ...last, missingAt: refusedBy });
      throw error;
    }
  }

  /** @param work gets the seed, which is overwritten when it is done. */
  async #unlocked<T>(address: Address, unlock: Unlock, work: (seed: Uint8Array) => Promise<T>): Promise<T> {
    const seed = await this.#keys.seed(address, unlock);
    try {
      return await work(seed);
    } finally {
      seed.fill(0);
    }
  }

  #locked<T>(address: Address, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const name = `antway-pointer-${address.hex}`;
    return navigator.locks.request(name, signal ? { signal } : {}, work) as Promise<T>;
  }

  async #find(address: Address): Promise<LabelledStates> {
    return read(address, await get<Entry>(address.hex, this.#store));
  }

  async #save({ address, label, states, missingAt }: LabelledStates): Promise<void> {
    const entry: Entry = { label, states: states.toJson(), ...(missingAt.length > 0 ? { missingAt } : {}) };
    await set(address.hex, entry, this.#store);
  }
}

/**
 * The seed in a key file.
 * @throws AntwayError as `parseKeyFile` and `KeyFile.seed`; `CORRUPT` if the file has another key than it says.
 */
export async function seedOfKeyFile(text: string, passphrase: string): Promise<Uint8Array<ArrayBuffer>> {
  const file = parseKeyFile(text);
  const seed = await file.seed(passphrase);
  if (new OwnerKey(seed).address.hex === file.address.hex) return seed;
  throw new AntwayError('CORRUPT', 'The key file has another key than it says.');
}

function read(address: Address, entry: Entry | undefined): LabelledStates {
  if (!entry) return { address, label: '', states: OwnerStates.empty(address), missingAt: [] };
  const { label, states, missingAt = [] } = entry;
  return { address, label, states: OwnerStates.fromJson(states, address), missingAt };
}

/** The pointer with learnt states. Nothing is missing of a newer state, which another device stored. */
function withStates(owned: LabelledStates, states: OwnerStates): LabelledStates {
  const isNewer = states.newest?.counter !== owned.states.newest?.counter;
  return { ...owned, states, missingAt: isNewer ? [] : owned.missingAt };
}
