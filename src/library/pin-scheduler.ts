import { asAntwayError } from '../errors.ts';
import type { Pin } from './pin.ts';
import type { PinCompletion } from './pin-completion.ts';
import { isHopeless } from './pin-problem.ts';
import type { PinRegistry } from './pin-registry.ts';

export interface PinSchedulerOptions {
  registry: PinRegistry;
  completion: PinCompletion;
  onChange(): void;
}

const idle = { name: 'idle', ended: Promise.resolve() } as const;

/** Completes one pin at a time, oldest first. Keeps no state, because the browser can stop a worker at any time. */
export class PinScheduler {
  readonly #options: PinSchedulerOptions;
  #state: { name: 'idle' | 'working' | 'closed'; ended: Promise<void> } = idle;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: PinSchedulerOptions) {
    this.#options = options;
  }

  /** Resolves when no pin can be worked on now. Never rejects. */
  work(): Promise<void> {
    if (this.#state.name === 'idle') {
      const ended = this.#work()
        .catch((error) => console.warn('antway: pins cannot be worked on', error))
        .finally(() => {
          if (this.#state.name === 'working') this.#state = idle;
        });
      this.#state = { name: 'working', ended };
    }
    return this.#state.ended;
  }

  /** Forgets the pin's former problem. */
  restart(pin: Pin): void {
    pin.resetRetries();
    pin.problem = null;
    this.#options.registry.changed();
    void this.work();
  }

  /** Call this when the network is back or space was freed. */
  async retryNow(): Promise<void> {
    const pins = await this.#options.registry.loaded();
    if (!pins) return;
    for (const pin of pins) pin.resetRetries();
    void this.work();
  }

  /** Resolves when nothing more is written. Never rejects. */
  async close(): Promise<void> {
    const { ended } = this.#state;
    this.#state = { name: 'closed', ended };
    clearTimeout(this.#timer);
    for (const pin of (await this.#options.registry.loaded()) ?? []) void pin.stop('The work was stopped.');
    await ended;
  }

  async #work(): Promise<void> {
    const { registry, onChange } = this.#options;
    for (const { address } of await registry.removed()) {
      await registry
        .finishRemoving(address)
        .catch((error) => console.warn(`antway: the pin of ${address.hex} cannot be removed yet`, error));
    }
    for (;;) {
      const pins = await registry.all();
      const now = Date.now();
      const next = pins.find((pin) => pin.dueAt <= now);
      if (!next || this.#state.name === 'closed') break;
      const work = next.run((signal) => this.#complete(next, signal));
      onChange();
      await work;
      onChange();
    }
    this.#schedule((await registry.loaded()) ?? []);
  }

  /** The retry runs only if the worker is still alive then. */
  #schedule(pins: readonly Pin[]): void {
    clearTimeout(this.#timer);
    const next = Math.min(...pins.map(({ dueAt }) => dueAt));
    if (this.#state.name === 'closed' || !Number.isFinite(next)) return;
    this.#timer = setTimeout(() => void this.work(), Math.max(next - Date.now(), 0));
  }

  /** Never rejects. */
  async #complete(pin: Pin, signal: AbortSignal): Promise<void> {
    const { registry, completion } = this.#options;
    try {
      await completion.complete(pin, signal);
      pin.succeeded();
      await registry.count(pin);
      if (pin.isComplete && pin.record.completion !== 'complete') {
        await registry.change(pin, { completion: 'complete' });
        registry.announce();
      }
    } catch (error) {
      if (signal.aborted) return;
      const problem = asAntwayError(error);
      pin.fail({ code: problem.code, message: problem.message, isFinal: isHopeless(problem) });
    }
  }
}
