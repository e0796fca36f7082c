import { promisifyRequest, type UseStore } from 'idb-keyval';
import type { Address } from '../address.ts';
import { Emitter } from '../util/emitter.ts';
import { addressOfKey, type Metadata } from './bookkeeping.ts';
import type { StoreChange } from './store.ts';

/** Records per transaction. */
const metadataSlice = 1_000;

/** The size of every stored chunk, in memory. Loaded on first use, and then updated with every change. */
export class SizeIndex {
  readonly #metadata: () => UseStore;
  #sizes: { map: Map<string, number>; loaded: Promise<void> } | undefined;
  readonly changes = new Emitter<StoreChange>();

  constructor(metadata: () => UseStore) {
    this.#metadata = metadata;
  }

  /** In bytes, by hex address. The map follows later changes. */
  async sizes(): Promise<ReadonlyMap<string, number>> {
    if (!this.#sizes) {
      const map = new Map<string, number>();
      this.#sizes = { map, loaded: this.#load(map) };
      this.#sizes.loaded.catch(() => {
        if (this.#sizes?.map === map) this.#sizes = undefined;
      });
    }
    const { map, loaded } = this.#sizes;
    await loaded;
    return map;
  }

  added(chunks: readonly { address: Address; bytes: Uint8Array }[]): void {
    for (const { address, bytes } of chunks) this.#sizes?.map.set(address.hex, bytes.length);
    if (chunks.length > 0) this.changes.emit('stored');
  }

  removed(chunks: readonly { address: Address }[]): void {
    if (chunks.length === 0) return;
    for (const { address } of chunks) this.#sizes?.map.delete(address.hex);
    this.changes.emit('removed');
  }

  /** Takes sizes read from the database: another worker may have stored or evicted these chunks. */
  found(addresses: readonly Address[], sizes: readonly (number | undefined)[]): void {
    const map = this.#sizes?.map;
    if (!map) return;
    let change: StoreChange | undefined;
    for (const [i, { hex }] of addresses.entries()) {
      const size = sizes[i];
      if (map.get(hex) === size) continue;
      if (size !== undefined) {
        map.set(hex, size);
        change ??= 'stored';
      } else {
        map.delete(hex);
        change = 'removed';
      }
    }
    if (change) this.changes.emit(change);
  }

  /** The next use loads the index again. */
  forget(): void {
    this.#sizes = undefined;
    this.changes.emit('removed');
  }

  /** Loads in slices, so that other transactions can run. `map` receives changes in the meantime too. */
  async #load(map: Map<string, number>): Promise<void> {
    let range: IDBKeyRange | null = null;
    for (let isDone = false; !isDone; ) {
      const wanted = range;
      await this.#metadata()('readonly', async (metadata) => {
        const [keys, values] = await Promise.all([
          promisifyRequest(metadata.getAllKeys(wanted, metadataSlice)),
          promisifyRequest<Metadata[]>(metadata.getAll(wanted, metadataSlice)),
        ]);
        for (const [i, key] of keys.entries()) map.set(addressOfKey(key).hex, values[i]!.size);
        isDone = keys.length < metadataSlice;
        if (!isDone) range = IDBKeyRange.lowerBound(keys.at(-1), true);
      });
    }
  }
}
