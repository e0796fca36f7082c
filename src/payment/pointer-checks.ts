import type { Pointer } from '../content/pointer.ts';
import { asAntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import { askAll, type MoveOptions, type Places, type StatesBefore } from '../owner/move-pointer.ts';
import type { PointerTarget } from '../owner/sign-pointer.ts';
import { isSameState, type PointerReader } from './paid-pointers.ts';
import type { Route } from './route.ts';

/** How long the network is asked for the content that a pointer leads to. The user waits for the price meanwhile. */
const targetMs = 15_000;

/**
 * Asks again for the newest state of a pointer, before the user pays for a state that was signed.
 * @param before gets the states that are found, so that the next state is above them also if a place does not answer then.
 * @returns a state that was not known, and that replaced the newest known one.
 * @throws AntwayError as `askAll`.
 */
export async function findNewer(
  wanted: Pointer,
  { states, learn }: StatesBefore,
  at: Places & Pick<MoveOptions, 'signal'>,
): Promise<Pointer | undefined> {
  const { pointer, found } = await askAll(states.address, { ...at, states });
  if (!pointer || [states.newest, wanted].some((state) => state && isSameState(state.record, pointer.record)))
    return undefined;
  await learn(found);
  return pointer;
}

/**
 * Whether the network does not have the content that a pointer leads to. Content that only a relay stores does not count.
 * @returns false if that cannot be found out in time.
 * @throws the reason of the signal.
 */
export async function lacksTarget(
  { kind, target }: PointerTarget,
  { route, reader, signal }: { route: Route; reader: Pick<PointerReader, 'pointer'>; signal: AbortSignal },
): Promise<boolean> {
  const own = AbortSignal.any([signal, AbortSignal.timeout(targetMs)]);
  try {
    if (kind === 'chunk') {
      // The size does not matter, because this quote is not paid.
      const [answer] = await route.quotes([{ address: target.hex, size: 1 }], own);
      return answer?.status === 'quoted';
    }
    await reader.pointer(target, limits.pointerBytes, own);
    return false;
  } catch (error) {
    signal.throwIfAborted();
    return asAntwayError(error).code === 'NOT_FOUND';
  }
}
