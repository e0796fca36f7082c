import { Address } from '../address.ts';
import { AntwayError } from '../errors.ts';
import type { Clock } from '../nodes/clock.ts';
import type { NodeAddress } from '../nodes/node-address.ts';
import { nodeError } from '../nodes/node-error.ts';
import { nodeLimits } from '../nodes/node-limits.ts';
import type { CloseNode, Nodes } from '../nodes/nodes.ts';
import { type BatchProof, closePoolNodes, poolNodes } from './batch.ts';
import { isSameChain, type PaymentChain } from './chain.ts';
import { isClose, ofManyHosts } from './close-nodes.ts';
import { gather } from './gather.ts';
import { poolAddress } from './merkle-tree.ts';
import { candidateFrom } from './node-candidate.ts';
import type { NodePrice } from './node-price.ts';

export interface NodeParts {
  nodes: Pick<Nodes, 'closest' | 'use'>;
  chain: PaymentChain;
  clock: Clock;
}

/** Nodes accept a pool if enough of its nodes are among so many that are closest to its address. */
const searchedNodes = 2 * poolNodes;
/** Fewer than there are connections, because the lookups of other pools need some. */
const candidatesAtOnce = 8;
const candidateMs = 5_000;

/**
 * Asks the nodes that are closest to the address of a pool for their prices, and checks these. A node whose price is wrong
 * is left out, and the next one is asked.
 * @param timestamp of the batch, in seconds since 1970.
 * @returns fewer than the nodes of a pool if too few gave a price. Undefined if the network has too few nodes that take
 *   browsers and are close to the address: nodes would refuse the payment.
 * @throws the signal's reason when aborted.
 */
export async function askForPool(
  address: Address,
  timestamp: number,
  { nodes, chain, clock }: NodeParts,
  signal: AbortSignal,
): Promise<NodePrice[] | undefined> {
  const found = await nodes.closest(address, searchedNodes, signal, nodeLimits.bucket);
  const closest = ofManyHosts(found);
  if (closest.length < poolNodes) return undefined;
  const ask = (node: NodeAddress, own: AbortSignal) =>
    nodes.use(node, own, async (client) => {
      const { payment } = await client.abilities(own);
      if (!payment || !isSameChain(payment, chain)) {
        throw nodeError('refused', 'A node wants to be paid elsewhere.');
      }
      const quote = await client.quoteCandidate(address, timestamp, { signal: own });
      try {
        return candidateFrom(quote, node.peerId, timestamp);
      } catch (cause) {
        const message = `A node gave a wrong price: ${(cause as Error).message}`;
        throw nodeError(cause instanceof AntwayError ? 'refused' : 'protocol', message, cause);
      }
    });
  const { answers } = await gather(
    closest.map(({ node }) => node),
    {
      best: poolNodes,
      enough: poolNodes,
      graceMs: 0,
      atOnce: candidatesAtOnce,
      placeMs: candidateMs,
      clock,
      signal,
    },
    ask,
  );
  const isFull = answers.length === poolNodes;
  return isFull && countClose(answers, closest) < closePoolNodes ? undefined : answers;
}

/**
 * Whether nodes refuse a paid pool because too few of its nodes are close to its address at the moment.
 * @throws the signal's reason when aborted.
 */
export async function isPoolGone(
  { pool, root, timestamp }: BatchProof,
  { nodes }: Pick<NodeParts, 'nodes'>,
  signal: AbortSignal,
): Promise<boolean> {
  const address = Address.fromHex(poolAddress(pool.midpoint, root, timestamp));
  const closest = ofManyHosts(await nodes.closest(address, searchedNodes, signal, nodeLimits.bucket));
  return countClose(pool.nodes, closest) < closePoolNodes;
}

function countClose(pool: readonly NodePrice[], closest: readonly CloseNode[]): number {
  return pool.filter(({ peer }) => isClose(peer, closest)).length;
}
