import type { Pointer } from '../content/pointer.ts';
import { asAntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import { askAll, type MoveOptions, type StateSources, type StatesBefore } from '../owner/move-pointer.ts';
import type { PointerTarget } from '../owner/sign-pointer.ts';
import { type Bill, prepareBill } from './bill.ts';
import { isSameState, type PointerReader } from './paid-pointers.ts';
import type { PaymentRoute } from './payment-route.ts';
import type { RecordToStore } from './quotes.ts';
import type { StoreParts } from './upload.ts';

/** The price of a state, and whether the network lacks the content that the state leads to. */
export interface StatePrice {
  bill: Bill;
  /** False also if nothing is due, or if it cannot be found out in time. */
  lacksTarget: boolean;
}

/**
 * Asks for the price of a state, and at the same time for the content that the state leads to.
 * @param reader reads pointers from the network.
 * @throws AntwayError as `prepareBill`.
 */
export async function priceState(
  due: RecordToStore,
  wanted: PointerTarget,
  parts: StoreParts,
  reader: Pick<PointerReader, 'pointer'>,
): Promise<StatePrice> {
  const ended = new AbortController();
  const signal = AbortSignal.any([parts.signal, ended.signal]);
  // The last route checks the others.
  const lacking = lacksTarget(wanted, { route: parts.relays.at(-1)!, reader, signal });
  lacking.catch(() => undefined);
  try {
    const bill = await prepareBill([due], parts);
    const isDue = bill.dueRecords + bill.unseen > 0;
    return { bill, lacksTarget: isDue && (await lacking) };
  } finally {
    ended.abort();
  }
}

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
  at: StateSources & Pick<MoveOptions, 'signal'>,
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
async function lacksTarget(
  { kind, target }: PointerTarget,
  {
    route,
    reader,
    signal,
  }: { route: PaymentRoute; reader: Pick<PointerReader, 'pointer'>; signal: AbortSignal },
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
