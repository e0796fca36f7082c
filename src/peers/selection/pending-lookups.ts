import type { Address } from '../../address.ts';
import { limits } from '../../limits.ts';
import { delay } from '../../util/delay.ts';
import type { BusyHint } from '../transports/protocol.ts';

/** A record that a peer looks for. */
export interface PendingLookup {
  /** The peer's `PeerUrl.id`. */
  peer: string;
  address: Address;
  /** When the peer was first asked, in milliseconds since 1970. */
  since: number;
}

/** A request to one peer whose answer has not begun. */
export interface PendingRequest {
  readonly address: Address;
  /** In milliseconds since 1970. */
  readonly since: number;
  /** Whether the peer has answered “busy”. */
  isBusy: boolean;
}

export type PeerAnswer<T> = { value: T } | { busy: BusyHint };

/** Decides whether there is time to ask again after the hint. */
export type MayAskAgain = (hint: BusyHint) => boolean;

/**
 * Asks until the peer is not busy any more, within `limits.busyMs.total`.
 * @param ask throws if the peer is busy and there is no time to ask again.
 * @throws the error of `ask`; the signal's reason when aborted.
 */
export async function askUntilAnswered<T>(
  request: PendingRequest,
  ask: (mayAskAgain: MayAskAgain) => Promise<PeerAnswer<T>>,
  { signal, onBusy }: { signal: AbortSignal; onBusy?: (hint: BusyHint) => void },
): Promise<T> {
  const until = request.since + limits.busyMs.total;
  for (;;) {
    const answer = await ask(({ afterMs }) => Date.now() + afterMs <= until);
    if ('value' in answer) return answer.value;
    request.isBusy = true;
    onBusy?.(answer.busy);
    // Many requests that were answered at once must not come back at once.
    await delay(answer.busy.afterMs * (1 + Math.random() / 4), signal);
  }
}
