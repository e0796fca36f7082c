import { get, type UseStore, update } from 'idb-keyval';
import { unlockProblem } from './unlock-problem.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** The name of the key in the store. All other names are addresses. */
export const deviceEntry = 'device';

/** The key of a browser profile: HMAC-SHA-256, in the database of this origin. No script can export it. */
export class DeviceKey {
  readonly #store: UseStore;

  constructor(store: UseStore) {
    this.#store = store;
  }

  async exists(): Promise<boolean> {
    return (await this.#stored()) !== undefined;
  }

  /** Makes the key if there is none. Several pages that make it at once agree on one. */
  async ensure(): Promise<void> {
    if (await this.exists()) return;
    const made = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    await update<CryptoKey>(deviceEntry, (existing) => existing ?? made, this.#store);
  }

  /** @returns 32 bytes. @throws AntwayError `REFUSED` with the fault `lost` if there is no key. */
  async sign(bytes: Bytes): Promise<Bytes> {
    const key = await this.#stored();
    if (!key) throw unlockProblem('lost');
    return new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes));
  }

  #stored(): Promise<CryptoKey | undefined> {
    return get<CryptoKey>(deviceEntry, this.#store);
  }
}
