import type { PinningStore } from '../chunks/store.ts';
import { asAntwayError } from '../errors.ts';
import type { Pin } from './pin.ts';
import type { PinCompletion } from './pin-completion.ts';
import { isHopeless } from './pin-problem.ts';
import type { PinRegistry } from './pin-registry.ts';

export interface PinSchedulerOptions {
  registry: PinRegistry;
  completion: PinCompletion;
  store: Pick<PinningStore, 'removeAbandonedPinReferences'>;
  /** Called after every change of a pin. */
  onChange(): void;
}

/**
 * Works on one pin at a time, the oldest first, and comes back to what failed. Nothing here has to be remembered, because the
 * browser can stop a worker at any time.
 */
export class PinScheduler {
  readonly #options: PinSchedulerOptions;
  /** `idle` until `work` is called, `working` until nothing can be done for now, `closed` for ever. */
  #state: 'idle' | 'working' | 'closed' = 'idle';
  #working: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isSwept = false;

  constructor(options: PinSchedulerOptions) {
    this.#options = options;
  }

  /** Resolves when nothing can be done for now. Never rejects. */
  work(): Promise<void> {
    this.#working ??= this.#work()
      .catch((error) => console.warn('antway: pins cannot be worked on', error))
      .finally(() => {
        this.#working = undefined;
        if (this.#state === 'working') this.#state = 'idle';
      });
    return this.#working;
  }

  /** Begins anew with a pin, without its former problem. */
  restart(pin: Pin): void {
    pin.resetRetries();
    pin.problem = null;
    this.#options.registry.changed();
    void this.work();
  }

  /** Something has changed that may help those that failed: there is a network again, or room. */
  async retryNow(): Promise<void> {
    const pins = await this.#options.registry.loaded();
    if (!pins) return;
    for (const pin of pins) pin.resetRetries();
    void this.work();
  }

  /** Ends the work. Resolves when nothing more is written. Never rejects. */
  async close(): Promise<void> {
    this.#state = 'closed';
    clearTimeout(this.#timer);
    const reason = new DOMException('Another configuration is in force.', 'AbortError');
    for (const { controller } of (await this.#options.registry.loaded()) ?? []) controller.abort(reason);
    await this.#working;
  }

  async #work(): Promise<void> {
    const { registry } = this.#options;
    if (this.#state === 'idle') this.#state = 'working';
    for (const { address } of await registry.removed()) await registry.finishRemoving(address);
    await this.#sweep();
    while (this.#state === 'working') {
      const now = Date.now();
      const next = (await registry.all()).find((pin) => pin.isWaiting && pin.retryAt <= now);
      if (!next) break;
      next.work = this.#workOn(next);
      await next.work;
    }
    this.#schedule((await registry.loaded()) ?? []);
  }

  /** Once: earlier versions could leave references of pins that were gone. */
  async #sweep(): Promise<void> {
    if (this.#isSwept) return;
    this.#isSwept = true;
    try {
      await this.#options.store.removeAbandonedPinReferences();
    } catch (error) {
      console.warn('antway: abandoned pin references were not removed', error);
    }
  }

  /** Comes back to what failed, if the worker lives so long. */
  #schedule(pins: readonly Pin[]): void {
    clearTimeout(this.#timer);
    const times = pins.filter((pin) => pin.isWaiting).map(({ retryAt }) => retryAt);
    const next = Math.min(...times);
    if (this.#state === 'closed' || !Number.isFinite(next)) return;
    this.#timer = setTimeout(() => void this.work(), Math.max(next - Date.now(), 0));
  }

  async #workOn(pin: Pin): Promise<void> {
    const { registry, completion, onChange } = this.#options;
    pin.controller = new AbortController();
    const { signal } = pin.controller;
    try {
      await completion.complete(pin, signal);
      pin.problem = null;
      pin.resetRetries();
      await registry.count(pin);
      if (pin.isComplete && (pin.record.isDamaged || !pin.record.wasComplete)) {
        await registry.change(pin, { isDamaged: false, wasComplete: true });
        registry.announce();
      }
    } catch (error) {
      if (signal.aborted) return;
      const problem = asAntwayError(error);
      pin.failed({ code: problem.code, message: problem.message }, isHopeless(problem));
    } finally {
      pin.running = undefined;
      onChange();
    }
  }
}
