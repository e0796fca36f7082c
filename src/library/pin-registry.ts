import type { UseStore } from 'idb-keyval';
import type { Address } from '../address.ts';
import type { PinningStore } from '../chunks/store.ts';
import { refuseDenied } from '../content/deny-list.ts';
import { AntwayError } from '../errors.ts';
import { type InventoryStore, tally } from './inventory-store.ts';
import { Pin, type PinRecord } from './pin.ts';
import { PinChannel } from './pin-channel.ts';
import { notPinned } from './pin-problem.ts';
import { PinRecords } from './pin-records.ts';

export interface PinRegistryOptions {
  store: PinningStore & { readonly pins: UseStore };
  inventories: InventoryStore;
  /** Addresses (hex) that cannot be pinned. */
  denied: ReadonlySet<string>;
  onChange(): void;
  /** Called after this registry has read the changes of another worker. */
  onSynchronized(): void;
}

/**
 * The pins of this origin: records in the database, progress in memory. Workers share the database and announce their
 * changes. A record changes only in a transaction that checks that it still exists.
 */
export class PinRegistry {
  readonly #options: PinRegistryOptions;
  readonly #records: PinRecords;
  readonly #channel = new PinChannel(() => void this.#synchronize());
  #pins: Promise<Map<string, Pin>> | undefined;
  /** The number of times that chunks were removed. A tally from before the last one is outdated. */
  #removals = 0;
  readonly #stopListening: () => void;

  constructor(options: PinRegistryOptions) {
    this.#options = options;
    this.#records = new PinRecords(() => options.store.pins);
    this.#stopListening = options.store.onChange((change) => {
      if (change === 'removed') this.#removals++;
    });
  }

  /** Oldest first. */
  async all(): Promise<Pin[]> {
    const pins = [...(await this.#load()).values()].filter(({ record }) => record.status !== 'removed');
    return pins.sort((a, b) => a.record.since - b.record.since);
  }

  /** Pins whose removal has begun, in this worker or in a worker that was stopped. */
  async removed(): Promise<Pin[]> {
    return [...(await this.#load()).values()].filter(({ record }) => record.status === 'removed');
  }

  /** Undefined before the pins were loaded. */
  async loaded(): Promise<Pin[] | undefined> {
    const pins = await this.#pins;
    return pins && [...pins.values()];
  }

  /** @throws AntwayError `NOT_FOUND` if the address is not pinned. */
  async get(address: Address): Promise<Pin> {
    const pin = (await this.#load()).get(address.hex);
    if (pin && pin.record.status !== 'removed') return pin;
    throw notPinned(address);
  }

  /**
   * Adds a pin, or changes the existing one.
   * @param initial members of a new record that differ from their defaults.
   * @param change members to set on a new or existing record.
   * @throws AntwayError `DENIED`; `REFUSED` if storage is blocked.
   */
  async add(address: Address, initial: Partial<PinRecord>, change: Partial<PinRecord>): Promise<Pin> {
    const { store, denied } = this.#options;
    refuseDenied(address, denied);
    if (!(await store.summary()).available) {
      throw new AntwayError(
        'REFUSED',
        'This browser lets the gateway store nothing here, so nothing can be pinned.',
      );
    }
    const pins = await this.#load();
    const initially: PinRecord = { since: Date.now(), status: 'active', completion: 'partial', ...initial };
    const added = (known: PinRecord = initially) =>
      known.status === 'removed' ? known : { ...known, ...change };
    let record = await this.#records.change(address, added);
    while (record?.status === 'removed') {
      await this.finishRemoving(address);
      record = await this.#records.change(address, added);
    }
    // Update the map before the next await: another worker may change or remove the pin in the meantime.
    const known = pins.get(address.hex);
    const pin = known ?? new Pin(address, record!);
    pin.record = record!;
    pins.set(address.hex, pin);
    if (!known) await this.count(pin);
    this.#channel.announce();
    return pin;
  }

  /** @throws AntwayError `NOT_FOUND` if another worker has removed the pin. */
  async change(pin: Pin, change: Partial<PinRecord>): Promise<void> {
    const record = await this.#records.change(pin.address, (known) =>
      known?.status === 'removed' ? known : known && { ...known, ...change },
    );
    if (record && (record.status !== 'removed' || change.status === 'removed')) {
      pin.record = record;
      return;
    }
    await this.forget(pin);
    throw notPinned(pin.address);
  }

  async forget(pin: Pin): Promise<void> {
    this.#drop(await this.#load(), pin);
  }

  /** Deletes the chunks that only this pin refers to, and then its record. */
  async finishRemoving(address: Address): Promise<void> {
    await this.#options.store.removePinReferences(address);
    // Delete the record unless another worker has pinned the address again in the meantime.
    const record = await this.#records.change(address, (known) =>
      known?.status === 'removed' ? undefined : known,
    );
    const pins = await this.#load();
    const pin = pins.get(address.hex);
    if (!record) {
      pins.delete(address.hex);
    } else if (pin) {
      pin.record = record;
      await this.count(pin);
    }
    this.changed();
  }

  async count(pin: Pin): Promise<void> {
    const { store, inventories } = this.#options;
    const removals = this.#removals;
    pin.inventory ??= await inventories.get(pin.address);
    if (pin.inventory) pin.tally = await tally(pin.inventory, await store.sizes());
    pin.countedAt = removals;
  }

  /** Counts again where chunks were removed since the last count. @returns whether a pin was counted. */
  async recount(): Promise<boolean> {
    const pins = await this.all();
    const outdated = pins.filter((pin) => !pin.isRunning && pin.countedAt !== this.#removals);
    for (const pin of outdated) await this.count(pin);
    return outdated.length > 0;
  }

  /** Notifies the shell and the other workers. */
  changed(): void {
    this.#options.onChange();
    this.#channel.announce();
  }

  announce(): void {
    this.#channel.announce();
  }

  close(): void {
    this.#stopListening();
    this.#channel.close();
  }

  #load(): Promise<Map<string, Pin>> {
    this.#pins ??= this.#read().catch((error) => {
      this.#pins = undefined;
      console.warn('antway: pins cannot be read', error);
      return new Map();
    });
    return this.#pins;
  }

  async #read(): Promise<Map<string, Pin>> {
    const pins = new Map<string, Pin>();
    for (const [address, record] of await this.#records.all()) {
      const pin = new Pin(address, record);
      await this.count(pin);
      pins.set(pin.address.hex, pin);
    }
    return pins;
  }

  async #synchronize(): Promise<void> {
    const { store, onChange, onSynchronized } = this.#options;
    store.forgetSizes();
    if (!this.#pins) return;
    try {
      const pins = await this.#pins;
      // Take the keys before the records are read: a pin that is added in the meantime is not gone.
      const left = new Set(pins.keys());
      for (const [address, record] of await this.#records.all()) {
        const known = pins.get(address.hex);
        // The worker that is removing the pin finishes that.
        if (record.status === 'removed' && known?.record.status !== 'removed') continue;
        left.delete(address.hex);
        const pin = known ?? new Pin(address, record);
        pins.set(address.hex, pin);
        pin.record = record;
        if (record.status === 'paused') void pin.stop('The pin was paused.');
      }
      for (const hex of left) {
        const gone = pins.get(hex);
        if (gone) this.#drop(pins, gone);
      }
      for (const pin of [...pins.values()].filter(({ isRunning }) => !isRunning)) {
        // The cause of the problem may be gone.
        pin.problem = null;
        pin.resetRetries();
        await this.count(pin);
      }
      onChange();
      onSynchronized();
    } catch (error) {
      console.warn('antway: pins cannot be read', error);
    }
  }

  #drop(pins: Map<string, Pin>, pin: Pin): void {
    void pin.stop('The pin was removed.');
    if (pins.get(pin.address.hex) === pin) pins.delete(pin.address.hex);
    this.#options.onChange();
  }
}
