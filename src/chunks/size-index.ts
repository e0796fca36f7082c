import { promisifyRequest, type UseStore } from 'idb-keyval';
import type { Address } from '../address.ts';
import { addressOfKey, type Metadata } from './bookkeeping.ts';

/** Metadata that the index reads in one transaction. */
const metadataSlice = 1_000;

/** The size of every stored chunk, in memory. It is read when it is first asked for, and then follows what changes. */
export class SizeIndex {
  readonly #metadata: () => UseStore;
  #sizes: { map: Map<string, number>; loaded: Promise<void> } | undefined;
  #changes = 0;
  #losses = 0;

  constructor(metadata: () => UseStore) {
    this.#metadata = metadata;
  }

  /** Grows with every change. */
  get changes(): number {
    return this.#changes;
  }

  /** Grows when chunks go. */
  get losses(): number {
    return this.#losses;
  }

  /** Bytes of each stored chunk, by hex address. The map follows later changes. */
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

  /** Chunks were stored. */
  added(chunks: readonly { address: Address; bytes: Uint8Array }[]): void {
    for (const { address, bytes } of chunks) this.#sizes?.map.set(address.hex, bytes.length);
    if (chunks.length > 0) this.#changes++;
  }

  /** Chunks were deleted. */
  removed(chunks: readonly { address: Address }[]): void {
    if (chunks.length === 0) return;
    for (const { address } of chunks) this.#sizes?.map.delete(address.hex);
    this.#changes++;
    this.#losses++;
  }

  /** The database was asked about some chunks: another worker may have stored or evicted them. */
  found(addresses: readonly Address[], sizes: readonly (number | undefined)[]): void {
    const map = this.#sizes?.map;
    if (!map) return;
    let [hasChanged, hasLost] = [false, false];
    for (const [i, { hex }] of addresses.entries()) {
      const size = sizes[i];
      if (map.get(hex) === size) continue;
      hasChanged = true;
      if (size !== undefined) {
        map.set(hex, size);
      } else {
        map.delete(hex);
        hasLost = true;
      }
    }
    if (hasChanged) this.#changes++;
    if (hasLost) this.#losses++;
  }

  /** Nothing is known any more of the stored chunks. */
  forget(): void {
    this.#sizes = undefined;
    this.#changes++;
    this.#losses++;
  }

  /** In pieces, so that nothing else has to wait for all of it. What changes meanwhile is changed in the map, too. */
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
