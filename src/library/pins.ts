import type { UseStore } from 'idb-keyval';
import type { Address } from '../address.ts';
import type { PinningStore } from '../chunks/store.ts';
import { AntwayError, asAntwayError } from '../errors.ts';
import { tally } from './contents.ts';
import { Pin, type PinRecord } from './pin.ts';
import { PinChannel } from './pin-channel.ts';
import { type CompletionOptions, PinCompletion } from './pin-completion.ts';
import { isHopeless, notPinned } from './pin-problem.ts';
import { PinRecords } from './pin-records.ts';
import type { ListedPin, PinState } from './pin-state.ts';

export interface PinsOptions extends CompletionOptions {
  store: PinningStore & { readonly pins: UseStore };
}

/**
 * What the user wants to keep: all chunks of a site are fetched and held, so that they are never evicted.
 *
 * A worker can be killed at any time, so nothing here has to be remembered: what was asked for is a record in the
 * database, and how far it has come is what is stored. One pin is worked on at a time. There may be several workers over
 * one database: a record is changed, and chunks are held for it, only in transactions that see that it is still there.
 */
export class Pins {
  readonly #options: PinsOptions;
  readonly #records: PinRecords;
  readonly #completion: PinCompletion;
  #pins: Promise<Map<string, Pin>> | undefined;
  #working: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;
  #isSwept = false;
  readonly #channel = new PinChannel(() => void this.#readAgain());
  /** `losses` of the store when the pins were last counted. */
  #countedLosses = 0;

  constructor(options: PinsOptions) {
    this.#options = options;
    this.#records = new PinRecords(() => options.store.pins);
    this.#completion = new PinCompletion(options, {
      change: (pin, change) => this.#change(pin, change),
      isGone: async (pin) => this.#forget(await this.#load(), pin),
    });
  }

  /** Whether an address is pinned. False where storage is blocked. */
  async has({ hex }: Address): Promise<boolean> {
    const all = await this.#all().catch(() => []);
    return all.some(({ address }) => address.hex === hex);
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
    const pin = await this.#add(address, {}, { isPaused: false });
    this.#restart(pin);
    return pin.state();
  }

  /** Notes a pin whose chunks come from a file: nothing is fetched until `pin` is called. */
  async addImported(address: Address): Promise<void> {
    await this.#add(address, { isPaused: true }, { isImported: true });
  }

  /** @throws AntwayError `NOT_FOUND` when it is not pinned; so do the others. */
  async pause(address: Address): Promise<PinState> {
    const pin = await this.#pinned(address);
    await this.#change(pin, { isPaused: true });
    pin.controller.abort(paused());
    this.#changed();
    return pin.state();
  }

  async resume(address: Address): Promise<PinState> {
    await this.#pinned(address);
    return this.pin(address);
  }

  /** Has every chunk read and hashed again; what is damaged or missing is fetched. */
  async verify(address: Address): Promise<PinState> {
    const pin = await this.#pinned(address);
    await this.#change(pin, { verified: 0, isPaused: false });
    this.#restart(pin);
    return pin.state();
  }

  /** Lets go of it. What no other pin holds is deleted. */
  async remove(address: Address): Promise<void> {
    const pin = await this.#pinned(address);
    await this.#change(pin, { isRemoved: true });
    pin.controller.abort(removed());
    await pin.work;
    await this.#finishRemoving(address);
    this.retryNow();
  }

  /** Something has changed that may help those that failed: there is a network again, or room. */
  retryNow(): void {
    this.#pins?.then((pins) => {
      for (const pin of pins.values()) pin.resetRetries();
      void this.work();
    });
  }

  /** Ends what is under way; another takes over. Resolves when nothing more is written. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#channel.close();
    const reason = new DOMException('Another configuration is in force.', 'AbortError');
    for (const { controller } of (await this.#pins)?.values() ?? []) controller.abort(reason);
    await this.#working;
  }

  /** Has the other workers of this origin read again what is pinned: all was cleared. */
  announce(): void {
    this.#channel.announce();
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
    for (const pin of pins) if (!pin.running) await this.#count(pin);
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
    const pins = new Map<string, Pin>();
    for (const [address, record] of await this.#records.all()) {
      const pin = new Pin(address, record);
      await this.#count(pin);
      pins.set(pin.address.hex, pin);
    }
    return pins;
  }

  /** Another worker has changed them. */
  async #readAgain(): Promise<void> {
    const { store, onChange } = this.#options;
    store.forgetSizes();
    if (!this.#pins || this.#isClosed) return;
    try {
      const pins = await this.#pins;
      // Before they are read: what is added meanwhile is there.
      const left = new Set(pins.keys());
      for (const [address, record] of await this.#records.all()) {
        const known = pins.get(address.hex);
        // The worker that is removing it goes on with that.
        if (record.isRemoved && !known?.record.isRemoved) continue;
        left.delete(address.hex);
        const pin = known ?? new Pin(address, record);
        pins.set(address.hex, pin);
        pin.record = record;
        if (record.isPaused) pin.controller.abort(paused());
      }
      for (const hex of left) {
        const gone = pins.get(hex);
        if (gone) this.#forget(pins, gone);
      }
      for (const pin of [...pins.values()].filter(({ running }) => !running)) {
        // What stood in its way may be gone.
        pin.problem = null;
        pin.resetRetries();
        await this.#count(pin);
      }
      onChange();
      void this.work();
    } catch (error) {
      console.warn('antway: pins cannot be read', error);
    }
  }

  async #count(pin: Pin): Promise<void> {
    const { store, contents } = this.#options;
    pin.inventory ??= await contents.get(pin.address);
    if (pin.inventory) pin.tally = await tally(pin.inventory, await store.sizes());
  }

  async #pinned(address: Address): Promise<Pin> {
    const pin = (await this.#load()).get(address.hex);
    if (pin && !pin.record.isRemoved) return pin;
    throw notPinned(address);
  }

  /** @param initial what differs from any other pin in one that is new. @param change what is changed in any case. */
  async #add(address: Address, initial: Partial<PinRecord>, change: Partial<PinRecord>): Promise<Pin> {
    const { store, denied } = this.#options;
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
    const initially: PinRecord = { since: Date.now(), isPaused: false, isDamaged: false, ...initial };
    const added = (known: PinRecord = initially) => (known.isRemoved ? known : { ...known, ...change });
    let record = await this.#records.change(address, added);
    while (record?.isRemoved) {
      await this.#finishRemoving(address);
      record = await this.#records.change(address, added);
    }
    // Before anything else can happen: another worker may change or remove it meanwhile.
    const known = pins.get(address.hex);
    const pin = known ?? new Pin(address, record!);
    pin.record = record!;
    pins.set(address.hex, pin);
    if (!known) await this.#count(pin);
    this.#channel.announce();
    return pin;
  }

  /** Changes some of a pin's record. @throws AntwayError `NOT_FOUND` when another worker has removed it. */
  async #change(pin: Pin, change: Partial<PinRecord>): Promise<void> {
    const record = await this.#records.change(pin.address, (known) =>
      known?.isRemoved ? known : known && { ...known, ...change },
    );
    if (record && (!record.isRemoved || change.isRemoved)) {
      pin.record = record;
      return;
    }
    this.#forget(await this.#load(), pin);
    throw notPinned(pin.address);
  }

  /** Another worker has removed it. */
  #forget(pins: Map<string, Pin>, pin: Pin): void {
    pin.controller.abort(removed());
    if (pins.get(pin.address.hex) === pin) pins.delete(pin.address.hex);
    this.#options.onChange();
  }

  async #finishRemoving(address: Address): Promise<void> {
    await this.#options.store.removePinReferences(address);
    // Unless another worker has pinned it again meanwhile.
    const record = await this.#records.change(address, (known) => (known?.isRemoved ? undefined : known));
    const pins = await this.#load();
    const pin = pins.get(address.hex);
    if (!record) {
      pins.delete(address.hex);
    } else if (pin) {
      pin.record = record;
      await this.#count(pin);
    }
    this.#changed();
  }

  #restart(pin: Pin): void {
    pin.resetRetries();
    pin.problem = null;
    this.#changed();
    void this.work();
  }

  #changed(): void {
    this.#options.onChange();
    this.#channel.announce();
  }

  async #work(): Promise<void> {
    const pins = await this.#load();
    for (const { address, record } of [...pins.values()]) {
      if (record.isRemoved) await this.#finishRemoving(address);
    }
    await this.#sweep();
    while (!this.#isClosed) {
      const now = Date.now();
      const next = (await this.#all()).find((pin) => pin.isWaiting && pin.retryAt <= now);
      if (!next) break;
      next.work = this.#workOn(next);
      await next.work;
    }
    this.#schedule([...pins.values()]);
  }

  /** Once: earlier versions could leave chunks held by pins that were gone. */
  async #sweep(): Promise<void> {
    if (this.#isSwept) return;
    this.#isSwept = true;
    try {
      await this.#options.store.removeAbandonedPinReferences();
    } catch (error) {
      console.warn('antway: what is held by nobody was not released', error);
    }
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
      await this.#completion.complete(pin, signal);
      pin.problem = null;
      pin.resetRetries();
      await this.#count(pin);
      if (pin.isComplete && (pin.record.isDamaged || !pin.record.wasComplete)) {
        await this.#change(pin, { isDamaged: false, wasComplete: true });
        this.#channel.announce();
      }
    } catch (error) {
      if (signal.aborted) return;
      const problem = asAntwayError(error);
      pin.failed({ code: problem.code, message: problem.message }, isHopeless(problem));
    } finally {
      pin.running = undefined;
      this.#options.onChange();
    }
  }
}

const paused = () => new DOMException('The pin was paused.', 'AbortError');
const removed = () => new DOMException('The pin was removed.', 'AbortError');
