import { delay } from '../util/delay.ts';
import type { AntEvents, AntEventType } from './types.ts';

/** Time between two looks at the worker, in milliseconds. A look also wakes a worker that the browser has stopped. */
const lookMs = 1_000;

/** Reads the present state of each kind. */
export type EventReaders = { [Type in AntEventType]: () => Promise<AntEvents[Type]> };

/**
 * Calls a listener with the present state, and after each change, until the signal aborts.
 * @param isFinal whether no later look can succeed after this error.
 */
export async function watchEvents<Type extends AntEventType>(
  read: EventReaders[Type],
  listener: (state: AntEvents[Type]) => void,
  signal: AbortSignal,
  isFinal: (error: unknown) => boolean,
): Promise<void> {
  for (let told = ''; !signal.aborted; ) {
    try {
      const state = await read();
      if (signal.aborted) return;
      const now = JSON.stringify(state);
      if (now !== told) call(listener, state);
      told = now;
    } catch (error) {
      // The worker may be between two versions.
      if (isFinal(error)) return;
    }
    await delay(lookMs, signal).catch(() => undefined);
  }
}

/** An error in a listener is reported as one of an event listener is, and ends nothing. */
function call<State>(listener: (state: State) => void, state: State): void {
  try {
    listener(state);
  } catch (error) {
    reportError(error);
  }
}
