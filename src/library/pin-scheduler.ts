import { asAntwayError } from '../errors.ts';
import type { Pin } from './pin.ts';
import type { PinCompletion } from './pin-completion.ts';
import { isHopeless } from './pin-problem.ts';
import type { PinRegistry } from './pin-registry.ts';

export interface PinSchedulerOptions {
  registry: PinRegistry;
  completion: PinCompletion;
  /** Called after every change of a pin. */
  onChange(): void;
}

/**
 * Completes one pin at a time, oldest first, and retries failed pins. It keeps no state that must survive, because the
 * browser can stop a worker at any time.
 */
export class PinScheduler {
  readonly #options: PinSchedulerOptions;
  /** `idle` until `work` is called, `working` until no pin can be worked on now, `closed` for ever. */
  #state: 'idle' | 'working' | 'closed' = 'idle';
  #working: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: PinSchedulerOptions) {
    this.#options = options;
  }

  /** Resolves when no pin can be worked on now. Never rejects. */
  work(): Promise<void> {
    this.#working ??= this.#work()
      .catch((error) => console.warn('antway: pins cannot be worked on', error))
      .finally(() => {
        this.#working = undefined;
        if (this.#state === 'working') this.#state = 'idle';
      });
    return this.#working;
  }

  /** Starts a pin again, without its former problem. */
  restart(pin: Pin): void {
    pin.resetRetries();
    pin.problem = null;
    this.#options.registry.changed();
    void this.work();
  }

  /** Retries failed pins at once. Call this when the network is back or space was freed. */
  async retryNow(): Promise<void> {
    const pins = await this.#options.registry.loaded();
    if (!pins) return;
    for (const pin of pins) pin.resetRetries();
    void this.work();
  }

  /** Stops the work. Resolves when nothing more is written. Never rejects. */
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
    while (this.#state === 'working') {
      const now = Date.now();
      const next = (await registry.all()).find((pin) => pin.isWaiting && pin.retryAt <= now);
      if (!next) break;
      next.work = this.#workOn(next);
      await next.work;
    }
    this.#schedule((await registry.loaded()) ?? []);
  }

  /** Schedules the next retry. It runs only if the worker is still alive then. */
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
