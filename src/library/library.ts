import type { UseStore } from 'idb-keyval';
import { Address } from '../address.ts';
import type { Chunks } from '../chunks/chunks.ts';
import type { PinningStore } from '../chunks/store.ts';
import type { ByteSource } from '../content/byte-source.ts';
import type { DataMaps } from '../content/data-maps.ts';
import { addressesOf, type Inventory, takeInventory } from '../content/inventory.ts';
import type { Content } from '../content/resolver.ts';
import { loadBlake3 } from '../self-encryption/blake3.ts';
import type { Stats } from '../stats/stats.ts';
import { Contents, tally } from './contents.ts';
import type { PinState, Tally } from './pin-state.ts';
import { Pins } from './pins.ts';
import { exportSite, type Imported, importSite, type ManifestStorage } from './site-file.ts';
import { type Visit, Visits } from './visits.ts';

/** A site or file that was opened or pinned, or whose manifest is kept here. Sizes in bytes, times in milliseconds. */
export interface Site {
  address: string;
  /** Opens it. */
  path: string;
  name: string | null;
  title: string | null;
  /** Path of its icon. */
  icon: string | null;
  kind: Content['kind'];
  /** Null when it is pinned, and was never opened or that was forgotten. */
  lastOpened: number | null;
  /** Totals are null as long as it is not known what all belongs to it. */
  bytes: { stored: number; total: number | null };
  chunks: { stored: number; total: number | null };
  /** Whether all of it is stored. */
  offline: boolean;
  pin: PinState | null;
  /** Whether it is a manifest that is kept here: no peer has that. */
  isManifest: boolean;
}

export interface LibraryOptions {
  store: PinningStore & { readonly pins: UseStore; readonly contents: UseStore };
  chunks: Chunks;
  maps: DataMaps;
  manifests: ManifestStorage;
  /** Addresses (hex) that are never read. */
  denied: ReadonlySet<string>;
  stats: Stats;
  /** Where visits are kept. */
  settings: UseStore;
  /** Called after every change of the list of pins. */
  onPins(): void;
  /** Called after every change of what was opened. */
  onVisits(): void;
}

/** Most sites of which one list finds out anew what belongs to them: each costs some reads. */
const inventoriesPerList = 20;

/** What was opened and pinned here, and how much of it is stored. */
export class Library {
  readonly pins: Pins;
  readonly visits: Visits;
  readonly #options: LibraryOptions;
  readonly #contents: Contents;
  /** How much of a site is stored, as of `changes` of the store. */
  readonly #tallies = new Map<string, { changes: number; tally: Tally; kind: Content['kind'] }>();
  /** What was missing (hex) when the inventory of a site was last tried. */
  readonly #missing = new Map<string, string>();

  constructor(options: LibraryOptions) {
    this.#options = options;
    this.visits = new Visits(options.settings);
    this.#contents = new Contents(() => options.store.contents);
    const { onPins, onVisits: _, settings: __, ...rest } = options;
    this.pins = new Pins({ ...rest, contents: this.#contents, onChange: onPins });
  }

  /** Notes a visit, and what belongs to the site: what was read to open it tells that, and is still in memory. */
  async visited(visit: Visit): Promise<void> {
    const address = Address.fromHex(visit.address);
    await this.visits.add(visit, await this.#options.manifests.has(address));
    await this.#options.store.flush();
    await this.#inventory(address);
    this.#options.onVisits();
  }

  /** What was opened, the last first, and what is pinned or kept as a manifest beside that. */
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
      const { kind = 'file', ...share } = await this.#share(address, pin, budget);
      // A manifest's name is kept encrypted, and so no part of the visit.
      const title = visit.title ?? names.get(address) ?? null;
      sites.push({ kind, ...visit, title, ...share, pin, isManifest: names.has(address) });
    };
    for (const visit of visits) {
      const isRevealing = names.has(visit.address) && (visit.title ?? visit.icon) !== null;
      // As earlier versions wrote it.
      if (isRevealing) await this.visits.add(visit, true);
      await add(visit.address, isRevealing ? { ...visit, title: null, icon: null } : visit);
    }
    const opened = new Set(visits.map(({ address }) => address));
    for (const address of new Set([...pins.keys(), ...names.keys()])) {
      if (opened.has(address)) continue;
      await add(address, {
        address,
        path: `/${address}`,
        name: null,
        title: null,
        icon: null,
        lastOpened: null,
      });
    }
    return sites;
  }

  /**
   * How much of a site or file is stored, as far as that can be told without a peer.
   * @returns chunks; `total` is null when more may belong to it than what is stored tells.
   */
  async storedShare(address: Address): Promise<{ stored: number; total: number | null }> {
    const inventory = (await this.#contents.get(address)) ?? (await this.#takeStored(address, 'skip'));
    if (!inventory) return { stored: 0, total: null };
    const { chunks } = await tally(inventory, await this.#options.store.sizes());
    return { stored: chunks.stored, total: inventory.isWhole ? chunks.total : null };
  }

  /** How much of a site or file is stored, and whether it is pinned. */
  async share(address: Address): Promise<Pick<Site, 'bytes' | 'chunks' | 'offline' | 'pin'>> {
    const pins = await this.pins.list().catch(() => []);
    const { address: _, ...pin } = pins.find(({ address: hex }) => hex === address.hex) ?? { address: null };
    const state = 'state' in pin ? pin : null;
    const { bytes, chunks, offline } = await this.#share(address.hex, state, { inventories: 1 });
    return { bytes, chunks, offline, pin: state };
  }

  /**
   * Forgets that a site was opened, and deletes those of its chunks that no pin holds.
   * @returns whether it is pinned itself, and so still here.
   */
  async forget(address: Address): Promise<boolean> {
    const { store } = this.#options;
    await store.flush();
    const inventory = (await this.#contents.get(address)) ?? (await this.#takeStored(address, 'skip'));
    if (inventory) await store.free([...addressesOf(inventory)]);
    return this.forgetVisit(address);
  }

  /** Forgets that a site was opened. What a pin holds keeps its title, and chunks stay until their room is needed. @returns as `forget`. */
  async forgetVisit(address: Address): Promise<boolean> {
    const isPinned = (await this.pins.list()).some((pin) => pin.address === address.hex);
    if (isPinned) {
      await this.visits.forgetTime(address);
    } else {
      await this.visits.remove(address);
      await this.#dropContents(address);
    }
    this.#options.onVisits();
    return isPinned;
  }

  /** Removes a pin, and deletes what no other holds. */
  async unpin(address: Address): Promise<void> {
    await this.pins.remove(address);
    const visit = await this.visits.get(address);
    if (visit && visit.lastOpened !== null) return;
    await this.visits.remove(address);
    await this.#dropContents(address);
  }

  /** A site as a file, see `exportSite`. */
  async export(address: Address): Promise<ByteSource> {
    await this.#options.store.flush();
    return exportSite(address, await this.#inventory(address), this.#options);
  }

  /** Takes a site from such a file, and pins it. See `importSite`. */
  async import(file: ReadableStream<Uint8Array>): Promise<Imported> {
    const begin = (address: Address) => this.pins.addImported(address);
    const imported = await importSite(file, begin, this.#options);
    await this.pins.pin(Address.fromHex(imported.address));
    return imported;
  }

  async #dropContents(address: Address): Promise<void> {
    this.#tallies.delete(address.hex);
    await this.#contents.delete(address);
  }

  async #share(
    hex: string,
    pin: PinState | null,
    budget: { inventories: number },
  ): Promise<Pick<Site, 'bytes' | 'chunks' | 'offline'> & { kind?: Content['kind'] }> {
    const { store } = this.#options;
    let known = this.#tallies.get(hex);
    if (known?.changes !== store.changes) {
      const inventory = await this.#inventory(Address.fromHex(hex), budget);
      known = undefined;
      if (inventory) {
        const { changes } = store;
        const { kind } = inventory;
        known = { changes, tally: await tally(inventory, await store.sizes()), kind };
        this.#tallies.set(hex, known);
      }
    }
    if (known) {
      const { chunks, bytes } = known.tally;
      return { chunks, bytes, offline: chunks.stored === chunks.total, kind: known.kind };
    }
    const unknown = (stored = 0) => ({ stored, total: null });
    return {
      chunks: unknown(pin?.chunks.stored),
      bytes: unknown(pin?.bytes.stored),
      offline: false,
    };
  }

  /** What belongs to a site, if what tells that is stored. */
  async #inventory(
    address: Address,
    budget: { inventories: number } = { inventories: 1 },
  ): Promise<Inventory | undefined> {
    const { store } = this.#options;
    const known = await this.#contents.get(address);
    if (known) return known;
    const sizes = await store.sizes();
    const missing = this.#missing.get(address.hex);
    if ((missing !== undefined && !sizes.has(missing)) || budget.inventories === 0) return undefined;
    budget.inventories--;
    const inventory = await this.#takeStored(address, 'stop');
    if (!inventory) return undefined;
    this.#missing.delete(address.hex);
    await this.#contents.set(address, inventory);
    return inventory;
  }

  /** Takes an inventory from what is stored only. @param missing what to do about what is not. */
  async #takeStored(address: Address, missing: 'stop' | 'skip'): Promise<Inventory | undefined> {
    const { store, chunks, maps, manifests, denied } = this.#options;
    const sizes = await store.sizes();
    const ifStored = async <T>(chunk: Address, read: () => Promise<T>): Promise<T | undefined> => {
      if (sizes.has(chunk.hex)) return read();
      if (missing === 'skip') return undefined;
      throw new NotStored(chunk.hex);
    };
    try {
      return await takeInventory(address, {
        manifests,
        denied,
        blake3: await loadBlake3(),
        record: (at) =>
          ifStored(at, async () => maps.known(at) ?? maps.decode(at, (await chunks.record(at)).bytes)),
        read: (map, index) => ifStored(map.address(index), () => chunks.read(map, index)),
      });
    } catch (error) {
      // What cannot be opened at all (denied, damaged, unknown) never has one; opening it tells why.
      this.#missing.set(address.hex, error instanceof NotStored ? error.hex : '');
      return undefined;
    }
  }
}

/** Ends an inventory that would have to fetch something. */
class NotStored extends Error {
  constructor(readonly hex: string) {
    super(`Chunk ${hex} is not stored.`);
  }
}
