import type { UseStore } from 'idb-keyval';
import type { Address } from '../address.ts';
import type { PinningStore } from '../chunks/store.ts';
import type { PinRecord } from './pin.ts';
import { type CompletionOptions, PinCompletion } from './pin-completion.ts';
import { PinRegistry } from './pin-registry.ts';
import { PinScheduler } from './pin-scheduler.ts';
import type { ListedPin, PinState } from './pin-state.ts';

export interface PinsOptions extends CompletionOptions {
  store: PinningStore & { readonly pins: UseStore };
}

export class Pins {
  readonly #registry: PinRegistry;
  readonly #scheduler: PinScheduler;

  constructor(options: PinsOptions) {
    this.#registry = new PinRegistry({ ...options, onSynchronized: () => void this.work() });
    const completion = new PinCompletion(options, this.#registry);
    this.#scheduler = new PinScheduler({ ...options, registry: this.#registry, completion });
  }

  /** False if storage is blocked. */
  async has({ hex }: Address): Promise<boolean> {
    const all = await this.#registry.all().catch(() => []);
    return all.some(({ address }) => address.hex === hex);
  }

  /** Oldest first. */
  async list(): Promise<ListedPin[]> {
    if (await this.#registry.recount()) void this.work();
    return (await this.#registry.all()).map((pin) => ({ address: pin.address.hex, ...pin.state() }));
  }

  /** Whether a pin needs work: a reason to register a background sync. */
  async isUnfinished(): Promise<boolean> {
    return (await this.#registry.all()).some((pin) => pin.needsWork);
  }

  /** Resolves when no pin can be worked on now. Never rejects. */
  work(): Promise<void> {
    return this.#scheduler.work();
  }

  /** Pins an address, or resumes its pin. @throws AntwayError `REFUSED` if storage is blocked. */
  async pin(address: Address, change: Partial<PinRecord> = {}): Promise<PinState> {
    const pin = await this.#registry.add(address, {}, { ...change, status: 'active' });
    this.#scheduler.restart(pin);
    return pin.state();
  }

  /** Adds a pin whose chunks come from a file. Nothing is fetched until `pin` is called. */
  async addImported(address: Address): Promise<void> {
    await this.#registry.add(address, { status: 'paused' }, { isImported: true });
  }

  /** @throws AntwayError `NOT_FOUND` if the address is not pinned. The methods below throw it too. */
  async pause(address: Address): Promise<PinState> {
    const pin = await this.#registry.get(address);
    await this.#registry.change(pin, { status: 'paused' });
    void pin.stop('The pin was paused.');
    this.#registry.changed();
    return pin.state();
  }

  async resume(address: Address): Promise<PinState> {
    await this.#registry.get(address);
    return this.pin(address);
  }

  /** Reads and hashes every chunk again, and fetches damaged and missing chunks. */
  async verify(address: Address): Promise<PinState> {
    const pin = await this.#registry.get(address);
    await this.#registry.change(pin, { verified: 0, status: 'active' });
    this.#scheduler.restart(pin);
    return pin.state();
  }

  /** Removes a pin, and deletes the chunks that no other pin refers to. */
  async remove(address: Address): Promise<void> {
    const pin = await this.#registry.get(address);
    await this.#registry.change(pin, { status: 'removed' });
    await pin.stop('The pin was removed.');
    await this.#registry.finishRemoving(address);
    this.retryNow();
  }

  /** Call this when the network is back or space was freed. */
  retryNow(): void {
    void this.#scheduler.retryNow();
  }

  /** Stops the work, because another configuration takes over. Resolves when nothing more is written. Never rejects. */
  async close(): Promise<void> {
    this.#registry.close();
    await this.#scheduler.close();
  }

  /** Makes the other workers of this origin read the pins again, because all were cleared. */
  announce(): void {
    this.#registry.announce();
  }
}
