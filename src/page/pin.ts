import type { AntError } from '../fetch/ant-error.ts';
import type { ListedPin, PinState } from '../library/pin-state.ts';
import { delay } from '../util/delay.ts';
import type { AntPin, AntPinInit } from './types.ts';

/** The worker, as pins need it. */
export interface PinWorker {
  list(): Promise<ListedPin[]>;
  act(address: string, action: 'pause' | 'resume' | 'verify'): Promise<PinState>;
  remove(address: string): Promise<void>;
  failure(code: string, message: string): AntError;
  /** Ends all watching. */
  readonly closed: AbortSignal;
}

/** Time between two looks at a pin, in milliseconds. A look also wakes a worker that the browser has stopped. */
const lookMs = 500;

/** @param first the state that the worker has answered with. */
export function watchedPin(
  worker: PinWorker,
  { address, ...first }: ListedPin,
  { onProgress, signal }: AntPinInit,
): AntPin {
  let state: PinState = first;
  const until = AbortSignal.any(signal ? [signal, worker.closed] : [worker.closed]);

  async function watch(): Promise<void> {
    for (let told = ''; ; ) {
      until.throwIfAborted();
      const now = JSON.stringify(state);
      if (now !== told) onProgress?.(state);
      told = now;
      if (state.state === 'complete') return;
      // A worker of an earlier version does not say it, and may try again.
      if (state.problem?.isFinal) {
        throw worker.failure(state.problem.code, state.problem.message);
      }
      await delay(lookMs, until);
      const listed = (await worker.list()).find((pin) => pin.address === address);
      if (!listed) throw worker.failure('NOT_FOUND', 'The pin was removed.');
      const { address: _, ...next } = listed;
      state = next;
    }
  }

  let done: Promise<void> | undefined;
  const begin = () => {
    done ??= watch();
    // A page that does not use `done` must not get an unhandled rejection.
    done.catch(() => undefined);
    return done;
  };
  if (onProgress) void begin();
  const act = async (action: 'pause' | 'resume' | 'verify') => {
    state = await worker.act(address, action);
  };
  return Object.freeze<AntPin>({
    address,
    get state() {
      return state;
    },
    get done() {
      return begin();
    },
    pause: () => act('pause'),
    resume: () => act('resume'),
    verify: () => act('verify'),
    remove: () => worker.remove(address),
  });
}
