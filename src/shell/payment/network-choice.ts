import { arbitrumOne, type PaymentChain, parseChain } from '../../payment/chain.ts';
import { PeerUrl } from '../../peer-url.ts';
import type { NodeNetwork } from '../../server-config.ts';

/** How an upload to the network is paid for and brought there. */
export interface NetworkChoice {
  /** Origins of peers that take paid uploads. */
  relays: readonly string[];
  /** The network whose nodes take the chunks without a relay. Null if they do not. */
  nodes: NodeNetwork | null;
  chain: PaymentChain;
}

/** Which field is wrong. */
export type NetworkProblem = 'relay' | 'no-relay' | 'chain';

/** The id of the field to correct. */
export const networkFieldOf: Record<NetworkProblem, string> = {
  relay: 'other-relay',
  'no-relay': 'other-relay',
  chain: 'test-chain',
};

/** The values stay while the user visits other screens. */
export const lastNetwork = { unchecked: new Set<string>(), other: '', chain: '', isDirect: false };

/**
 * @param found the user's peers that take paid uploads.
 * @param network the nodes that the user allows direct connections to, if any.
 */
export function networkChoiceOf(
  { unchecked, other, chain: text, isDirect }: typeof lastNetwork,
  found: readonly string[],
  network: NodeNetwork | null,
): NetworkChoice | NetworkProblem {
  const relays = found.filter((origin) => !unchecked.has(origin));
  if (other.trim()) {
    const origin = originOf(other.trim());
    if (origin === undefined) return 'relay';
    relays.push(origin);
  }
  const chain = chainOf(text);
  if (!chain) return 'chain';
  const nodes = isDirect ? network : null;
  return relays.length === 0 && !nodes ? 'no-relay' : { relays: [...new Set(relays)], nodes, chain };
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
