import { del, entries, set, type UseStore } from 'idb-keyval';
import { Address, equalBytes } from '../address.ts';
import type { Chunks } from '../chunks/chunks.ts';
import type { HoldingStore } from '../chunks/store.ts';
import { addressesOf, type Inventory, takeInventory } from '../content/inventory.ts';
import type { LocalManifests } from '../content/resolver.ts';
import { AntwayError, asAntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Stats } from '../stats/stats.ts';
import { type Contents, pause, tally } from './contents.ts';
import { Pin, type PinRecord } from './pin.ts';
import type { ListedPin, PinState } from './pin-state.ts';

export interface PinsOptions {
  store: HoldingStore & { readonly pins: UseStore };
  contents: Contents;
  chunks: Chunks;
  manifests: LocalManifests;
  /** Addresses (hex) that are never read. */
  denied: ReadonlySet<string>;
  stats: Stats;
  /** Called after every change of what `list` gives. */
  onChange(): void;
}

interface Missing {
  address: Address;
  /** About how large it is, in bytes; 0 when that is not known. */
  expected: number;
}

/** Chunks of a check between two notes of how far it has come. */
const notedEvery = 64;

/** What is tried again in vain as long as nothing changes here. */
const hopeless = new Set(['TOO_LARGE', 'DENIED', 'UNSUPPORTED']);
const unreachable = new Set(['PEERS_UNREACHABLE', 'OFFLINE']);

/**
 * What the person wants to keep: all chunks of a site are fetched and held, so that they are never evicted.
 *
 * A worker can be killed at any time, so nothing here has to be remembered: what was asked for is a record in the
 * database, and how far it has come is what is stored. One pin is worked on at a time.
 */
export class Pins {
  readonly #options: PinsOptions;
  #pins: Promise<Map<string, Pin>> | undefined;
  #working: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;
  /** `losses` of the store when the pins were last counted. */
  #countedLosses = 0;

  constructor(options: PinsOptions) {
    this.#options = options;
  }

  /** All pins, the oldest first. */
  async list(): Promise<ListedPin[]> {
    await this.#recount();
    return (await this.#all()).map((pin) => ({ address: pin.address.hex, ...pin.state() }));
  }

  /** Whether anything is left to be done: a reason to be woken later. */
  async isUnfinished(): Promise<boolean> {
    return (await this.#all()).some((pin) => pin.isWaiting);
  }

  /**
   * Resolves when nothing can be done for now. Starts what is to be done: at the worker's start, too. Never rejects.
   */
  work(): Promise<void> {
    this.#working ??= this.#work()
      .catch((error) => console.warn('antway: pins cannot be worked on', error))
      .finally(() => {
        this.#working = undefined;
      });
    return this.#working;
  }

  /** Pins an address, or goes on with a pin. @throws AntwayError `REFUSED` where storage is blocked. */
  async pin(address: Address): Promise<PinState> {
    const pin = await this.#add(address, {});
    pin.record.isPaused = false;
    await this.#save(pin);
    this.#restart(pin);
    return pin.state();
  }

  /** Notes a pin whose chunks come from a file: nothing is fetched until `pin` is called. */
  async addImported(address: Address): Promise<void> {
    const pin = await this.#add(address, { isPaused: true });
    pin.record.isImported = true;
    await this.#save(pin);
  }

  /** @throws AntwayError `NOT_FOUND` when it is not pinned; so do the others. */
  async pause(address: Address): Promise<PinState> {
    const pin = await this.#pinned(address);
    pin.record.isPaused = true;
    await this.#save(pin);
    pin.controller.abort(new DOMException('The pin was paused.', 'AbortError'));
    this.#options.onChange();
    return pin.state();
  }

  async resume(address: Address): Promise<PinState> {
    await this.#pinned(address);
    return this.pin(address);
  }

  /** Has every chunk read and hashed again; what is damaged or missing is fetched. */
  async verify(address: Address): Promise<PinState> {
    const pin = await this.#pinned(address);
    pin.record.verified = 0;
    pin.record.isPaused = false;
    await this.#save(pin);
    this.#restart(pin);
    return pin.state();
  }

  /** Lets go of it. What no other pin holds is deleted. */
  async remove(address: Address): Promise<void> {
    const pin = await this.#pinned(address);
    pin.record.isRemoved = true;
    await this.#save(pin);
    pin.controller.abort(new DOMException('The pin was removed.', 'AbortError'));
    await pin.work;
    await this.#finishRemoving(pin);
    this.encourage();
  }

  /** Something has changed that may help those that failed: there is a network again, or room. */
  encourage(): void {
    this.#pins?.then((pins) => {
      for (const pin of pins.values()) pin.encouraged();
      void this.work();
    });
  }

  /** Ends what is under way; another takes over. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const reason = new DOMException('Another configuration is in force.', 'AbortError');
    this.#pins?.then((pins) => {
      for (const { controller } of pins.values()) controller.abort(reason);
    });
  }

  async #all(): Promise<Pin[]> {
    const pins = [...(await this.#load()).values()].filter(({ record }) => !record.isRemoved);
    return pins.sort((a, b) => a.record.since - b.record.since);
  }

  /** What turned out damaged when it was read is gone, and has to be fetched again. */
  async #recount(): Promise<void> {
    const { store } = this.#options;
    const pins = await this.#all();
    if (this.#countedLosses === store.losses) return;
    this.#countedLosses = store.losses;
    for (const pin of pins) {
      if (!pin.running && pin.inventory) pin.tally = await tally(pin.inventory, await store.sizes());
    }
    void this.work();
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
    const { store, contents } = this.#options;
    const records = await entries<ArrayBuffer, PinRecord>(store.pins);
    const pins = new Map<string, Pin>();
    for (const [key, record] of records) {
      const pin = new Pin(Address.fromBytes(new Uint8Array(key)), record);
      pin.inventory = await contents.get(pin.address);
      if (pin.inventory) pin.tally = await tally(pin.inventory, await store.sizes());
      pins.set(pin.address.hex, pin);
    }
    return pins;
  }

  async #pinned(address: Address): Promise<Pin> {
    const pin = (await this.#load()).get(address.hex);
    if (pin && !pin.record.isRemoved) return pin;
    throw new AntwayError('NOT_FOUND', 'This address is not pinned.', { address: address.hex });
  }

  async #add(address: Address, record: Partial<PinRecord>): Promise<Pin> {
    const { store, contents, denied } = this.#options;
    if (denied.has(address.hex)) {
      throw new AntwayError('DENIED', 'This address is on the deny list of this gateway.', {
        address: address.hex,
      });
    }
    if (!(await store.summary()).available) {
      throw new AntwayError(
        'REFUSED',
        'This browser lets the gateway store nothing here, so nothing can be pinned.',
      );
    }
    const pins = await this.#load();
    const known = pins.get(address.hex);
    if (known && !known.record.isRemoved) return known;
    if (known) await this.#finishRemoving(known);
    const fresh: PinRecord = { since: Date.now(), isPaused: false, isDamaged: false, ...record };
    const pin = new Pin(address, fresh);
    pin.inventory = await contents.get(address);
    if (pin.inventory) pin.tally = await tally(pin.inventory, await store.sizes());
    pins.set(address.hex, pin);
    return pin;
  }

  #save({ address, record }: Pin): Promise<void> {
    return set(address.bytes, record, this.#options.store.pins);
  }

  async #finishRemoving({ address }: Pin): Promise<void> {
    const { store } = this.#options;
    await store.release(address);
    await del(address.bytes, store.pins);
    (await this.#load()).delete(address.hex);
    this.#options.onChange();
  }

  #restart(pin: Pin): void {
    pin.encouraged();
    pin.problem = null;
    this.#options.onChange();
    void this.work();
  }

  async #work(): Promise<void> {
    const pins = await this.#load();
    for (const pin of [...pins.values()]) if (pin.record.isRemoved) await this.#finishRemoving(pin);
    while (!this.#isClosed) {
      const now = Date.now();
      const next = (await this.#all()).find((pin) => pin.isWaiting && pin.retryAt <= now);
      if (!next) break;
      next.work = this.#workOn(next);
      await next.work;
    }
    this.#schedule([...pins.values()]);
  }

  /** Comes back to what failed, if the worker lives so long. */
  #schedule(pins: readonly Pin[]): void {
    clearTimeout(this.#timer);
    const times = pins.filter((pin) => pin.isWaiting).map(({ retryAt }) => retryAt);
    const next = Math.min(...times);
    if (this.#isClosed || !Number.isFinite(next)) return;
    this.#timer = setTimeout(() => void this.work(), Math.max(next - Date.now(), 0));
  }

  async #workOn(pin: Pin): Promise<void> {
    pin.controller = new AbortController();
    const { signal } = pin.controller;
    try {
      pin.running = 'fetching';
      this.#options.onChange();
      const inventory = pin.inventory ?? (await this.#takeInventory(pin, signal));
      await this.#hold(pin, inventory);
      if (pin.record.verified !== undefined) await this.#verify(pin, inventory, signal);
      pin.running = 'fetching';
      await this.#fetchMissing(pin, inventory, signal);
      pin.problem = null;
      pin.encouraged();
      if (pin.record.isDamaged) {
        pin.record.isDamaged = false;
        await this.#save(pin);
      }
    } catch (error) {
      if (signal.aborted) return;
      const { code, message } = asAntwayError(error);
      pin.failed({ code, message }, hopeless.has(code));
    } finally {
      pin.running = undefined;
      this.#options.onChange();
    }
  }

  /** Finds out what it is made of, and fetches what tells that. What is found is held before it is fetched. */
  async #takeInventory(pin: Pin, signal: AbortSignal): Promise<Inventory> {
    const { store, contents, chunks, manifests, denied } = this.#options;
    const sizes = await store.sizes();
    const found = { chunks: { stored: 0, total: 0 }, bytes: { stored: 0, total: 0 } };
    pin.tally = found;
    const hold = this.#holder(pin);
    const inventory = await takeInventory(pin.address, {
      manifests,
      denied,
      blake3: await chunks.codec.blake3(),
      record: (address) => this.#obtain(pin, address, 0, signal),
      open: async (map, index) => {
        await this.#obtain(pin, map.address(index), 0, signal);
        return chunks.open(map, index, signal);
      },
      onFound: async (addresses) => {
        for (const { hex } of addresses) {
          found.chunks.total++;
          const size = sizes.get(hex);
          if (size !== undefined) pin.stored(size, 0, false);
        }
        await hold(addresses);
      },
    });
    await contents.set(pin.address, inventory);
    pin.inventory = inventory;
    pin.tally = await tally(inventory, sizes);
    this.#options.onChange();
    return inventory;
  }

  /** Has chunks held together with what is found in the same moment. */
  #holder({ address }: Pin): (found: readonly Address[]) => Promise<void> {
    let waiting: Address[] = [];
    let holding: Promise<void> | undefined;
    return (found) => {
      waiting.push(...found);
      holding ??= pause().then(() => {
        const chunks = waiting;
        waiting = [];
        holding = undefined;
        return this.#options.store.hold(address, chunks);
      });
      return holding;
    };
  }

  /** Holds exactly what it is made of: it may have been known before it was pinned, or come with more from a file. */
  async #hold(pin: Pin, inventory: Inventory): Promise<void> {
    const { store } = this.#options;
    const all = [...addressesOf(inventory)];
    await store.hold(pin.address, all);
    if (!pin.record.isImported) return;
    await store.release(pin.address, new Set(all.map(({ hex }) => hex)));
    delete pin.record.isImported;
    await this.#save(pin);
  }

  async #verify(pin: Pin, inventory: Inventory, signal: AbortSignal): Promise<void> {
    const { store, chunks, stats } = this.#options;
    pin.running = 'verifying';
    const blake3 = await chunks.codec.blake3();
    const all = [...addressesOf(inventory)];
    for (let i = pin.record.verified ?? 0; i < all.length; i++) {
      signal.throwIfAborted();
      const address = all[i]!;
      const bytes = await store.get(address);
      if (!bytes || !equalBytes(blake3(bytes), address.bytes)) {
        if (bytes) stats.damaged();
        await store.delete(address);
        pin.record.isDamaged = true;
      }
      if (i % notedEvery === 0 || !bytes) {
        pin.record.verified = i;
        await this.#save(pin);
        this.#options.onChange();
      }
    }
    delete pin.record.verified;
    await this.#save(pin);
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
        // What does not come from anywhere is not asked for a thousand times.
        if (signal.aborted || unanswered >= limits.parallelPinFetches) return;
        if (problems.some(({ code }) => hopeless.has(code))) return;
        try {
          await this.#obtain(pin, address, expected, signal);
          unanswered = 0;
        } catch (error) {
          if (signal.aborted) return;
          const problem = asAntwayError(error);
          problems.push(problem);
          if (unreachable.has(problem.code)) unanswered++;
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
    const worst = problems.find(({ code }) => hopeless.has(code)) ?? problems[0];
    if (worst) throw worst;
  }

  /**
   * A record's bytes, once they are on disk.
   * @param expected the size by which it is in the tally.
   * @throws AntwayError as `Chunks.record`; `TOO_LARGE` when there is no room for it.
   */
  async #obtain(pin: Pin, address: Address, expected: number, signal: AbortSignal): Promise<Uint8Array> {
    const { store, chunks, onChange } = this.#options;
    const wasStored = (await store.sizes()).has(address.hex);
    const { bytes } = await chunks.record(address, signal, undefined, expected || undefined);
    if (wasStored) return bytes;
    if (!(await store.written(address))) throw await this.#noRoom(address);
    pin.stored(bytes.length, expected, true);
    onChange();
    return bytes;
  }

  async #noRoom({ hex }: Address): Promise<AntwayError> {
    const { bytes, maxBytes } = await this.#options.store.summary();
    return new AntwayError(
      'TOO_LARGE',
      `There is no room for the rest: ${bytes} bytes are kept, of at most ${maxBytes} or what the browser allows. Let something else go, or raise the ceiling.`,
      { address: hex },
    );
  }
}
