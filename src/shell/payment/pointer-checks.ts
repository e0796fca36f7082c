import type { Address } from '../../address.ts';
import { finalCounter, type Pointer } from '../../content/pointer.ts';
import { asAntwayError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { askAll, type MoveOptions, type Places } from '../../owner/move-pointer.ts';
import type { PointerTarget } from '../../owner/sign-pointer.ts';
import { isTarget, type OwnerState } from '../../owner/states.ts';
import { outlasts, type PointerReader } from '../../payment/paid-pointers.ts';
import type { Route } from '../../payment/route.ts';
import { GatewayApiError } from '../gateway-api.ts';
import { paymentTexts } from '../texts/payment.ts';

/** How long the network is asked for the content that a pointer leads to. The user waits for the price meanwhile. */
const targetMs = 15_000;

/**
 * Makes sure that nothing happened to a pointer since a state was signed, before the user pays for the state.
 * @param at `states` are those that were known then, also the wanted one.
 * @throws GatewayApiError `CHANGED` if there is a newer state that was not known, or one that the wanted one does not
 *   replace; as `askAll`.
 */
export async function refuseNewer(
  address: Address,
  wanted: Pointer,
  at: Places & Pick<MoveOptions, 'states' | 'signal'>,
): Promise<void> {
  const { states, pointer } = await askAll(address, at);
  const isOther = (state: OwnerState) => state.counter !== wanted.counter || !isTarget(state, wanted);
  const before = at.states.all.findLast(isOther)?.counter ?? -1n;
  const found = states.all.findLast((state) => isOther(state) && state.counter > before);
  const newer = found ?? (pointer && outlasts(pointer, wanted) ? pointer : undefined);
  if (!newer) return;
  const { newerState, frozenMeanwhile } = paymentTexts();
  const text =
    newer.counter === finalCounter
      ? frozenMeanwhile
      : newerState(String(newer.counter), `${newer.target.hex.slice(0, 8)}…`);
  throw new GatewayApiError('CHANGED', text, { isTranslated: true });
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
