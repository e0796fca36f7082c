import type { UseStore } from 'idb-keyval';
import { Address } from '../address.ts';
import type { Chunks } from '../chunks/chunks.ts';
import type { PinningStore } from '../chunks/store.ts';
import type { ByteSource } from '../content/byte-source.ts';
import type { DataMaps } from '../content/data-maps.ts';
import type { DecryptedChunks } from '../content/decrypted-chunks.ts';
import { addressesOf, type Inventory, takeInventory } from '../content/inventory.ts';
import { AntwayError } from '../errors.ts';
import { loadBlake3 } from '../self-encryption/blake3.ts';
import type { Stats } from '../stats/stats.ts';
import { InventoryStore, tally } from './inventory-store.ts';
import type { PinState, PinTally } from './pin-state.ts';
import { Pins } from './pins.ts';
import { exportSite, type Imported, importSite, type ManifestStorage } from './site-file.ts';
import type { SiteLabel } from './site-file-head.ts';
import { type Visit, Visits } from './visits.ts';

/** A site or file that was opened or pinned, or a manifest on this device. Sizes in bytes, times in milliseconds. */
export interface Site extends Visit {
  /** Totals are null until the inventory is known. */
  bytes: { stored: number; total: number | null };
  chunks: { stored: number; total: number | null };
  offline: boolean;
  pin: PinState | null;
  /** Whether the address is a manifest that this device stores. No peer has it. */
  isManifest: boolean;
}

export interface LibraryOptions {
  store: PinningStore & { readonly pins: UseStore; readonly inventories: UseStore };
  chunks: Chunks;
  decrypted: DecryptedChunks;
  maps: DataMaps;
  manifests: ManifestStorage;
  /** Addresses (hex) that are never read. */
  denied: ReadonlySet<string>;
  stats: Stats;
  settings: UseStore;
  onPins(): void;
  onVisits(): void;
}

/** Each new inventory costs some reads. */
const inventoriesPerList = 20;

export class Library {
  readonly pins: Pins;
  readonly visits: Visits;
  readonly #options: LibraryOptions;
  readonly #inventories: InventoryStore;
  /** By address. Each change of the store replaces the map, also for tallies that are being counted. */
  #tallies = new Map<string, PinTally & { kind: Inventory['kind'] }>();
  readonly #stopListening: () => void;
  /** By site, the chunk (hex) whose absence ended the last inventory; empty if it failed for another reason. */
  readonly #missing = new Map<string, string>();

  constructor(options: LibraryOptions) {
    this.#options = options;
    this.visits = new Visits(options.settings);
    this.#inventories = new InventoryStore(() => options.store.inventories);
    const { onPins, onVisits: _, settings: __, ...rest } = options;
    this.pins = new Pins({ ...rest, inventories: this.#inventories, onChange: onPins });
    this.#stopListening = options.store.onChange(() => {
      this.#tallies = new Map();
    });
  }

  /** Stores a visit and takes the site's inventory: the chunks for it are still in memory. */
  async visited(visit: Visit): Promise<void> {
    const address = Address.fromHex(visit.address);
    await this.visits.add(visit, await this.#options.manifests.has(address));
    await this.#options.store.drained();
    await this.#inventory(address);
    this.#options.onVisits();
  }

  /** See `Visits.addUnseen`. */
  async openedElsewhere(opened: Address, visit: Visit): Promise<void> {
    await this.visits.addUnseen(opened, visit, await this.#options.manifests.has(opened));
    this.#options.onVisits();
  }

  /** The visits, newest first, and then the other pins and manifests. */
  async list(): Promise<Site[]> {
    const [visits, listed, manifests] = await Promise.all([
      this.visits.list(),
      this.pins.list(),
      this.#options.manifests.list(),
    ]);
    const names = new Map(manifests.map(({ id, name }) => [id, name]));
    const pins = new Map(listed.map(({ address, ...pin }) => [address, pin]));
    const budget = { inventories: inventoriesPerList };
    const sites: Site[] = [];
    const add = async (address: string, visit: Omit<Visit, 'kind'> & { kind?: Visit['kind'] }) => {
      const pin = pins.get(address) ?? null;
      const { kind = 'file', ...storedState } = await this.#storedState(address, pin, budget);
      // The name of a manifest is stored only encrypted, so not in the visit.
      const title = visit.title ?? names.get(address) ?? null;
      sites.push({ kind, ...visit, title, ...storedState, pin, isManifest: names.has(address) });
    };
    for (const visit of visits) await add(visit.address, visit);
    const opened = new Set(visits.map(({ address }) => address));
    const untitled = { name: null, title: null, icon: null, lastOpened: null };
    // The user may not have seen these sites, so strangers must not choose the words and pictures.
    for (const { address, path, kind } of await this.visits.listUnseen()) {
      if (opened.has(address)) continue;
      opened.add(address);
      await add(address, { ...untitled, address, path, kind });
    }
    for (const address of new Set([...pins.keys(), ...names.keys()])) {
      if (!opened.has(address)) await add(address, { ...untitled, address, path: `/${address}` });
    }
    return sites;
  }

  /**
   * Counts how much of a site or file is stored. Asks no peer.
   * @returns chunks; `total` is null if the site may have more chunks than the stored ones reveal.
   */
  async storedChunks(address: Address): Promise<{ stored: number; total: number | null }> {
    await this.#options.store.flush();
    const inventory = (await this.#inventories.get(address)) ?? (await this.#takeStored(address, 'skip'));
    if (!inventory) return { stored: 0, total: null };
    const { chunks } = await tally(inventory, await this.#options.store.sizes());
    return { stored: chunks.stored, total: inventory.isWhole ? chunks.total : null };
  }

  async storedState(address: Address): Promise<Pick<Site, 'bytes' | 'chunks' | 'offline' | 'pin'>> {
    const pins = await this.pins.list().catch(() => []);
    const { address: _, ...pin } = pins.find(({ address: hex }) => hex === address.hex) ?? { address: null };
    const state = 'state' in pin ? pin : null;
    const { bytes, chunks, offline } = await this.#storedState(address.hex, state, { inventories: 1 });
    return { bytes, chunks, offline, pin: state };
  }

  /** Deletes a visit and the site's chunks without a pin reference. @returns whether the site stays as a pin. */
  async forget(address: Address): Promise<boolean> {
    const { store } = this.#options;
    await store.flush();
    const inventory = (await this.#inventories.get(address)) ?? (await this.#takeStored(address, 'skip'));
    if (inventory) await store.free([...addressesOf(inventory)]);
    return this.forgetVisit(address);
  }

  /** Deletes a visit but no chunks. For a pinned site, title and icon stay. @returns as `forget`. */
  async forgetVisit(address: Address): Promise<boolean> {
    const isPinned = (await this.pins.list()).some((pin) => pin.address === address.hex);
    if (isPinned) {
      await this.visits.forgetTime(address);
    } else {
      await this.visits.remove(address);
      await this.#dropInventory(address);
    }
    this.#options.onVisits();
    return isPinned;
  }

  /** Removes a pin, and deletes the chunks without another reference. */
  async unpin(address: Address): Promise<void> {
    await this.pins.remove(address);
    const visit = await this.visits.get(address);
    if (visit && visit.lastOpened !== null) return;
    await this.visits.remove(address);
    await this.#dropInventory(address);
  }

  /** See `exportSite`. */
  async export(address: Address, labelOf: () => Promise<SiteLabel>): Promise<ByteSource> {
    await this.#options.store.flush();
    return exportSite(address, await this.#inventory(address), labelOf, this.#options);
  }

  /** Imports a site and pins it; see `importSite`. @param expected the address that the file must be of, if given. */
  async import(file: ReadableStream<Uint8Array>, expected?: Address): Promise<Imported> {
    const begin = async (address: Address) => {
      if (expected && !address.equals(expected)) {
        throw new AntwayError('CORRUPT', `This is the file of another site, ${address}.`, {
          address: expected.hex,
        });
      }
      await this.pins.addImported(address);
    };
    const imported = await importSite(file, begin, this.#options);
    // Work on the pin during the import may have removed the references of chunks that came later.
    await this.pins.pin(Address.fromHex(imported.address), { isImported: true });
    return imported;
  }

  /** Stops the work on pins. Resolves when nothing more is written. Never rejects. */
  async close(): Promise<void> {
    this.#stopListening();
    await this.pins.close();
  }

  async #dropInventory(address: Address): Promise<void> {
    this.#tallies.delete(address.hex);
    await this.#inventories.delete(address);
  }

  async #storedState(
    hex: string,
    pin: PinState | null,
    budget: { inventories: number },
  ): Promise<Pick<Site, 'bytes' | 'chunks' | 'offline'> & { kind?: Inventory['kind'] }> {
    const tallies = this.#tallies;
    let known = tallies.get(hex);
    if (!known) {
      const inventory = await this.#inventory(Address.fromHex(hex), budget);
      if (inventory) {
        const { kind } = inventory;
        known = { kind, ...(await tally(inventory, await this.#options.store.sizes())) };
        tallies.set(hex, known);
      }
    }
    if (known) return { ...known, offline: known.chunks.stored === known.chunks.total };
    const unknown = (stored = 0) => ({ stored, total: null });
    return {
      chunks: unknown(pin?.chunks.stored),
      bytes: unknown(pin?.bytes.stored),
      offline: false,
    };
  }

  /** @returns undefined if the chunks that reveal the inventory are not stored. */
  async #inventory(
    address: Address,
    budget: { inventories: number } = { inventories: 1 },
  ): Promise<Inventory | undefined> {
    const { store } = this.#options;
    const known = await this.#inventories.get(address);
    if (known?.kind) return known;
    const sizes = await store.sizes();
    const missing = this.#missing.get(address.hex);
    if ((missing !== undefined && !sizes.has(missing)) || budget.inventories === 0) return known;
    budget.inventories--;
    const inventory = await this.#takeStored(address, 'stop');
    if (!inventory || (known && !inventory.kind)) return known;
    this.#missing.delete(address.hex);
    await this.#inventories.set(address, inventory);
    return inventory;
  }

  /** Reads stored chunks only. @param missing whether to stop at a missing chunk or to skip it. */
  async #takeStored(address: Address, missing: 'stop' | 'skip'): Promise<Inventory | undefined> {
    const { store, chunks, decrypted, maps, manifests, denied } = this.#options;
    const sizes = await store.sizes();
    const ifStored = async <T>(chunk: Address, read: () => Promise<T>): Promise<T | undefined> => {
      if (sizes.has(chunk.hex)) return read();
      if (missing === 'skip') return undefined;
      throw new NotStored(chunk.hex);
    };
    try {
      return await takeInventory(address, {
        maps,
        manifests,
        denied,
        blake3: await loadBlake3(),
        record: (at) =>
          ifStored(at, async () => maps.known(at) ?? maps.decode(at, (await chunks.record(at)).bytes)),
        read: (map, index) => ifStored(map.address(index), () => decrypted.read(map, index)),
      });
    } catch (error) {
      // Content that cannot be resolved never has an inventory. Opening it reports the reason.
      this.#missing.set(address.hex, error instanceof NotStored ? error.hex : '');
      return undefined;
    }
  }
}

/** Ends an inventory that would have to fetch a chunk. */
class NotStored extends Error {
  constructor(readonly hex: string) {
    super(`Chunk ${hex} is not stored.`);
  }
}
