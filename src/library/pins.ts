import type { UseStore } from 'idb-keyval';
import type { Address } from '../address.ts';
import type { PinningStore } from '../chunks/store.ts';
import { type CompletionOptions, PinCompletion } from './pin-completion.ts';
import { PinRegistry } from './pin-registry.ts';
import { PinScheduler } from './pin-scheduler.ts';
import type { ListedPin, PinState } from './pin-state.ts';

export interface PinsOptions extends CompletionOptions {
  store: PinningStore & { readonly pins: UseStore };
}

/** The sites that the user keeps: the browser stores all their chunks, and never evicts them. */
export class Pins {
  readonly #registry: PinRegistry;
  readonly #scheduler: PinScheduler;

  constructor(options: PinsOptions) {
    this.#registry = new PinRegistry({ ...options, onSynchronized: () => void this.work() });
    const completion = new PinCompletion(options, this.#registry);
    this.#scheduler = new PinScheduler({ ...options, registry: this.#registry, completion });
  }

  /** Whether an address is pinned. False where storage is blocked. */
  async has({ hex }: Address): Promise<boolean> {
    const all = await this.#registry.all().catch(() => []);
    return all.some(({ address }) => address.hex === hex);
  }

  /** All pins, the oldest first. */
  async list(): Promise<ListedPin[]> {
    if (await this.#registry.recount()) void this.work();
    return (await this.#registry.all()).map((pin) => ({ address: pin.address.hex, ...pin.state() }));
  }

  /** Whether anything is left to be done: a reason to be woken later. */
  async isUnfinished(): Promise<boolean> {
    return (await this.#registry.all()).some((pin) => pin.isWaiting);
  }

  /** Works on the pins. Resolves when nothing can be done for now. Never rejects. */
  work(): Promise<void> {
    return this.#scheduler.work();
  }

  /** Pins an address, or goes on with a pin. @throws AntwayError `REFUSED` where storage is blocked. */
  async pin(address: Address): Promise<PinState> {
    const pin = await this.#registry.add(address, {}, { isPaused: false });
    this.#scheduler.restart(pin);
    return pin.state();
  }

  /** Notes a pin whose chunks come from a file: nothing is fetched until `pin` is called. */
  async addImported(address: Address): Promise<void> {
    await this.#registry.add(address, { isPaused: true }, { isImported: true });
  }

  /** @throws AntwayError `NOT_FOUND` when the address is not pinned; so do the others. */
  async pause(address: Address): Promise<PinState> {
    const pin = await this.#registry.get(address);
    await this.#registry.change(pin, { isPaused: true });
    pin.pause();
    this.#registry.changed();
    return pin.state();
  }

  async resume(address: Address): Promise<PinState> {
    await this.#registry.get(address);
    return this.pin(address);
  }

  /** Reads and hashes every chunk again, and fetches the damaged and missing ones. */
  async verify(address: Address): Promise<PinState> {
    const pin = await this.#registry.get(address);
    await this.#registry.change(pin, { verified: 0, isPaused: false });
    this.#scheduler.restart(pin);
    return pin.state();
  }

  /** Removes a pin, and deletes the chunks that no other pin needs. */
  async remove(address: Address): Promise<void> {
    const pin = await this.#registry.get(address);
    await this.#registry.change(pin, { isRemoved: true });
    pin.cancel();
    await pin.work;
    await this.#registry.finishRemoving(address);
    this.retryNow();
  }

  /** Something has changed that may help pins that failed: there is a network again, or room. */
  retryNow(): void {
    void this.#scheduler.retryNow();
  }

  /** Ends the work; another configuration takes over. Resolves when nothing more is written. Never rejects. */
  async close(): Promise<void> {
    this.#registry.close();
    await this.#scheduler.close();
  }

  /** Has the other workers of this origin read again what is pinned: all was cleared. */
  announce(): void {
    this.#registry.announce();
  }
}
