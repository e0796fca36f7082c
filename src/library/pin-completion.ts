import { type Address, equalBytes } from '../address.ts';
import type { Chunks } from '../chunks/chunks.ts';
import type { PinningStore } from '../chunks/store.ts';
import type { DataMaps } from '../content/data-maps.ts';
import type { DecryptedChunks } from '../content/decrypted-chunks.ts';
import { addressesOf, type Inventory, takeInventory } from '../content/inventory.ts';
import type { LocalManifests } from '../content/resolver.ts';
import { type AntwayError, asAntwayError, isAbsentSomewhere } from '../errors.ts';
import { limits } from '../limits.ts';
import { loadBlake3 } from '../self-encryption/blake3.ts';
import type { Stats } from '../stats/stats.ts';
import { type InventoryStore, pause, tally } from './inventory-store.ts';
import type { Pin } from './pin.ts';
import { isForAll, notPinned, unstored } from './pin-problem.ts';
import type { PinRegistry } from './pin-registry.ts';

export interface CompletionOptions {
  store: PinningStore;
  inventories: InventoryStore;
  chunks: Chunks;
  decrypted: DecryptedChunks;
  maps: DataMaps;
  manifests: LocalManifests;
  /** Addresses (hex) that are never read. */
  denied: ReadonlySet<string>;
  stats: Stats;
  onChange(): void;
}

interface Missing {
  address: Address;
  /** Approximate size in bytes; 0 if unknown. */
  expected: number;
}

/** Checked chunks between two records of the progress. */
const notedEvery = 64;

const unreachable = new Set(['PEERS_UNREACHABLE', 'OFFLINE']);

export class PinCompletion {
  readonly #options: CompletionOptions;
  readonly #pins: PinRegistry;

  constructor(options: CompletionOptions, pins: PinRegistry) {
    this.#options = options;
    this.#pins = pins;
  }

  /**
   * Continues from the stored chunks. Resolves when all chunks are stored.
   * @throws AntwayError as `Chunks.record`, or `unstored`; the signal's reason when aborted.
   */
  async complete(pin: Pin, signal: AbortSignal): Promise<void> {
    const inventory = pin.inventory ?? (await this.#takeInventory(pin, signal));
    await this.#referenceInventory(pin, inventory, signal);
    if (pin.record.verified !== undefined) await this.#verify(pin, inventory, signal);
    pin.enter('fetching');
    await this.#fetchMissing(pin, inventory, signal);
  }

  /** Adds references to the chunks before they are fetched. */
  async #takeInventory(pin: Pin, signal: AbortSignal): Promise<Inventory> {
    const { store, inventories, decrypted, maps, manifests, denied } = this.#options;
    const sizes = await store.sizes();
    const found = { chunks: { stored: 0, total: 0 }, bytes: { stored: 0, total: 0 } };
    pin.tally = found;
    const addReferences = this.#referencesFor(pin, signal);
    const inventory = await takeInventory(pin.address, {
      maps,
      manifests,
      denied,
      blake3: await loadBlake3(),
      record: async (address) => maps.decode(address, await this.#obtain(pin, address, 0, signal)),
      read: async (map, index) => {
        await this.#obtain(pin, map.address(index), 0, signal);
        return decrypted.read(map, index, signal);
      },
      onFound: async (addresses) => {
        for (const { hex } of addresses) {
          found.chunks.total++;
          const size = sizes.get(hex);
          if (size !== undefined) pin.stored(size, 0, false);
        }
        await addReferences(addresses);
      },
    });
    signal.throwIfAborted();
    await inventories.set(pin.address, inventory);
    pin.inventory = inventory;
    pin.tally = await tally(inventory, sizes);
    this.#options.onChange();
    return inventory;
  }

  /** Adds references in batches of chunks that are found at the same moment. */
  #referencesFor(pin: Pin, signal: AbortSignal): (found: readonly Address[]) => Promise<void> {
    let waiting: Address[] = [];
    let adding: Promise<void> | undefined;
    return (found) => {
      waiting.push(...found);
      adding ??= pause().then(() => {
        const chunks = waiting;
        waiting = [];
        adding = undefined;
        return this.#addReferences(pin, chunks, signal);
      });
      return adding;
    };
  }

  async #addReferences(pin: Pin, chunks: readonly Address[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (await this.#options.store.addPinReferences(pin.address, chunks, signal)) return;
    await this.#pins.forget(pin);
    throw notPinned(pin.address);
  }

  /** Makes the references match the inventory. An imported file may have referenced other chunks. */
  async #referenceInventory(pin: Pin, inventory: Inventory, signal: AbortSignal): Promise<void> {
    const all = [...addressesOf(inventory)];
    await this.#addReferences(pin, all, signal);
    if (!pin.record.isImported) return;
    await this.#options.store.retainPinReferences(pin.address, new Set(all.map(({ hex }) => hex)));
    signal.throwIfAborted();
    await this.#pins.change(pin, { isImported: false });
  }

  async #verify(pin: Pin, inventory: Inventory, signal: AbortSignal): Promise<void> {
    const { store, stats } = this.#options;
    pin.enter('verifying');
    const blake3 = await loadBlake3();
    const all = [...addressesOf(inventory)];
    for (let i = pin.record.verified ?? 0; i < all.length; i++) {
      signal.throwIfAborted();
      const address = all[i]!;
      const bytes = await store.get(address);
      if (!bytes || !equalBytes(blake3(bytes), address.bytes)) {
        if (bytes) stats.damaged();
        await store.delete(address);
        signal.throwIfAborted();
        await this.#pins.change(pin, { verified: i, completion: 'damaged' });
        this.#options.onChange();
      } else if (i % notedEvery === 0) {
        signal.throwIfAborted();
        await this.#pins.change(pin, { verified: i });
        this.#options.onChange();
      }
    }
    signal.throwIfAborted();
    await this.#pins.change(pin, { verified: undefined });
    pin.tally = await tally(inventory, await store.sizes());
  }

  async #fetchMissing(pin: Pin, inventory: Inventory, signal: AbortSignal): Promise<void> {
    const { store } = this.#options;
    const sizes = await store.sizes();
    pin.tally = await tally(inventory, sizes);
    let index = 0;
    const missing: Missing[] = [];
    for (const address of addressesOf(inventory)) {
      const expected = inventory.sizes[index++]!;
      if (!sizes.has(address.hex)) missing.push({ address, expected });
    }
    const isSmall = ({ expected }: Missing) => expected > 0 && expected <= limits.smallChunkBytes;
    const problems: AntwayError[] = [];
    let unanswered = 0;
    const fetchNext = async (waiting: ArrayIterator<Missing>) => {
      for (const { address, expected } of waiting) {
        // After several unanswered requests in a row, the rest is probably unreachable too.
        if (signal.aborted || unanswered >= limits.parallelPinFetches) return;
        if (problems.some(isForAll)) return;
        try {
          await this.#obtain(pin, address, expected, signal);
          unanswered = 0;
        } catch (error) {
          if (signal.aborted) return;
          const problem = asAntwayError(error);
          problems.push(problem);
          if (unreachable.has(problem.code) && !isAbsentSomewhere(problem)) unanswered++;
        }
      }
    };
    const lanes = (count: number, waiting: ArrayIterator<Missing>) =>
      Array.from({ length: count }, () => fetchNext(waiting));
    await Promise.all([
      ...lanes(limits.parallelPinFetches, missing.filter((chunk) => !isSmall(chunk)).values()),
      ...lanes(limits.parallelSmallPinFetches, missing.filter(isSmall).values()),
    ]);
    signal.throwIfAborted();
    const worst = problems.find(isForAll) ?? problems[0];
    if (worst) throw worst;
  }

  /**
   * Returns a record's bytes once they are on disk. @param expected the size that the tally assumed.
   * @throws AntwayError as `Chunks.record`; `TOO_LARGE` if there is no room, `INTERNAL` if the storage fails.
   */
  async #obtain(pin: Pin, address: Address, expected: number, signal: AbortSignal): Promise<Uint8Array> {
    const { store, chunks, onChange } = this.#options;
    const wasStored = (await store.sizes()).has(address.hex);
    const { bytes } = await chunks.record(address, { signal, expectedBytes: expected || undefined });
    if (wasStored) return bytes;
    const outcome = await store.written(address);
    if (outcome !== 'stored') throw unstored(address, outcome, await store.summary());
    pin.stored(bytes.length, expected, true);
    onChange();
    return bytes;
  }
}
