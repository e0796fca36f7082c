import { delMany, get, keys, set } from 'idb-keyval';
import type { Address } from '../address.ts';
import type { PointerMemory } from '../content/pointers.ts';
import { settings } from './settings.ts';

const prefix = 'pointer:';
const keyOf = ({ hex }: Address) => prefix + hex;

/** The newest record of each pointer that was followed in this browser. Where storage is blocked none is kept. */
export class KeptPointers implements PointerMemory {
  async get(address: Address): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return get<Uint8Array<ArrayBuffer>>(keyOf(address), settings).catch(() => undefined);
  }

  async put(address: Address, record: Uint8Array<ArrayBuffer>): Promise<void> {
    await set(keyOf(address), record, settings).catch((error) =>
      console.warn('antway: the pointer was not kept', error),
    );
  }

  async clear(): Promise<void> {
    const names = (await keys<string>(settings)).filter((name) => name.startsWith(prefix));
    await delMany(names, settings);
  }
}
