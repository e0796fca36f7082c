import { arbitrumOne, type PaymentChain, parseChain } from '../../payment/chain.ts';
import { PeerUrl } from '../../peer-url.ts';

/** How an upload to the network is paid for and brought there. */
export interface NetworkChoice {
  /** Origins of peers that take paid uploads. */
  relays: readonly string[];
  chain: PaymentChain;
}

/** Which field is wrong. */
export type NetworkProblem = 'relay' | 'no-relay' | 'chain';

/** The values stay while the user visits other screens. */
export const lastNetwork = { unchecked: new Set<string>(), other: '', chain: '' };

/** @param found the user's peers that take paid uploads. */
export function networkChoiceOf(
  { unchecked, other, chain: text }: typeof lastNetwork,
  found: readonly string[],
): NetworkChoice | NetworkProblem {
  const relays = found.filter((origin) => !unchecked.has(origin));
  if (other.trim()) {
    const origin = originOf(other.trim());
    if (origin === undefined) return 'relay';
    relays.push(origin);
  }
  const chain = chainOf(text);
  if (!chain) return 'chain';
  return relays.length === 0 ? 'no-relay' : { relays: [...new Set(relays)], chain };
}

/** @param text of the field. Empty for the real network. @returns undefined if it is not a chain. */
export function chainOf(text: string): PaymentChain | undefined {
  return text.trim() === '' ? arbitrumOne : parseChain(text.trim());
}

/** Whether a peer can be a relay. One whose certificate only WebTransport accepts cannot. */
export function isAskedByHttp({ kind, certificateHashes }: PeerUrl): boolean {
  return kind === 'antway' && certificateHashes.length === 0;
}

function originOf(text: string): string | undefined {
  try {
    const peer = PeerUrl.parse(text, location.origin);
    return isAskedByHttp(peer) ? peer.origin : undefined;
  } catch {
    return undefined;
  }
}
