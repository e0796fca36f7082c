import {
  type Batch,
  type BatchRequest,
  batchOf,
  commonNodes,
  comparePools,
  poolPayments,
  requestBatch,
} from './batch.ts';
import { paymentError, paymentProblemOf } from './errors.ts';
import { maxLeaves, paddedLeaves, poolCount } from './merkle-tree.ts';
import type { NodePrice } from './node-price.ts';
import type { Due } from './payable.ts';
import type { PaymentRoute } from './payment-route.ts';
import type { Offer } from './quotes.ts';

/** The network's own software also takes batches from here on. */
const minBatch = 64;
/** The random leaves of a tree are paid for as well, so that at most this share of its leaves may be random. */
const maxPaddingShare = 1 / 8;
/** A batch may cost so much more than its chunks one by one, because it saves the fees for all of them. */
const maxPremium = { numerator: 5n, denominator: 4n };

/**
 * Replaces the prices of single chunks by those of batches, where batches are as cheap.
 * @param offers for single records. Those of pointers stay.
 * @param onProgress called with the number of pools whose nodes gave their prices.
 * @returns also how many nodes of the batches only the first of two relays names: a pool needs all of its nodes.
 * @throws AntwayError `QUOTE`, `CLOCK`, `RELAYS_DIFFER`.
 */
export async function planBatches(
  offers: readonly Offer[],
  relays: readonly PaymentRoute[],
  signal: AbortSignal,
  onProgress: (asked: number, all: number) => void = () => undefined,
): Promise<Due & { unconfirmedNodes: number }> {
  if (!relays.every((relay) => relay.hasBatches)) return { batches: [], offers, unconfirmedNodes: 0 };
  const chunks = offers.filter(({ plan }) => plan.stateId === undefined);
  const batches: Batch[] = [];
  const batched = new Set<Offer>();
  let unconfirmedNodes = 0;
  let at = 0;
  const sizes = batchSizes(chunks.length);
  const pools = sizes.map(poolCount);
  const all = sum(pools);
  for (const [i, size] of sizes.entries()) {
    const some = chunks.slice(at, at + size);
    at += size;
    const before = sum(pools.slice(0, i));
    const found = await askForBatch(some, relays, signal, (asked) => onProgress(before + asked, all));
    // The network is too small for batches, or changes too fast.
    if (!found) break;
    const { batch } = found;
    // The prices of the network are similar everywhere, so the next batch would be too dear as well.
    if (!isCheap(batch, some)) break;
    batches.push(batch);
    unconfirmedNodes += found.unconfirmedNodes;
    for (const offer of some) batched.add(offer);
  }
  return { batches, offers: offers.filter((offer) => !batched.has(offer)), unconfirmedNodes };
}

/** How many chunks each batch has. The others are paid for one by one. */
export function batchSizes(chunks: number): number[] {
  const sizes: number[] = [];
  for (let rest = chunks; rest >= minBatch; rest -= sizes.at(-1)!) {
    const leaves = Math.min(paddedLeaves(rest), maxLeaves);
    const isFull = rest >= leaves * (1 - maxPaddingShare);
    sizes.push(isFull ? Math.min(rest, leaves) : leaves / 2);
  }
  return sizes;
}

/**
 * @returns undefined if a route does not find enough nodes, or the routes do not name enough nodes that are the same.
 * @throws AntwayError as `planBatches`. Nodes that take no browsers are no reason for `RELAYS_DIFFER`.
 */
async function askForBatch(
  offers: readonly Offer[],
  relays: readonly PaymentRoute[],
  signal: AbortSignal,
  onProgress: (asked: number) => void,
): Promise<{ batch: Batch; unconfirmedNodes: number } | undefined> {
  const request = requestBatch(offers.map(({ plan: { address, size } }) => ({ address, size })));
  const asked = relays.slice(0, 2);
  const found = await poolsOfAll(asked, request, signal, onProgress);
  if (!found) return undefined;
  const [pools, others = pools] = found as [NodePrice[][], NodePrice[][]?];
  const compared = pools.map((nodes, i) => comparePools(nodes, others[i]!));
  // Security: a relay gains nothing by that, because the prices of single chunks are compared too.
  const mayDiffer = asked.some(({ isDirect }) => isDirect);
  if (compared.includes('different') && !mayDiffer) {
    const urls = relays.map(({ url }) => url);
    const message = `${urls[0]} and ${urls[1]} name different nodes for a batch. One of them may be dishonest. Nothing was paid.`;
    throw paymentError('RELAYS_DIFFER', message, { relays: urls });
  }
  if (!compared.every((result) => result === 'same')) return undefined;
  const unconfirmed = pools.map((nodes, i) => nodes.length - commonNodes(nodes, others[i]!));
  return { batch: batchOf(request, pools), unconfirmedNodes: sum(unconfirmed) };
}

/**
 * Asks each route for the nodes of a batch. The first route that does not find them ends the requests of the other one.
 * @returns undefined without the nodes of all routes. Security: the second route shows that the first one invents no nodes.
 */
async function poolsOfAll(
  routes: readonly PaymentRoute[],
  request: BatchRequest,
  signal: AbortSignal,
  onProgress: (asked: number) => void,
): Promise<NodePrice[][][] | undefined> {
  const ended = new AbortController();
  const own = AbortSignal.any([signal, ended.signal]);
  const ask = async (route: PaymentRoute, i: number) => {
    const pools = await route.pools(request, own, i === 0 ? onProgress : undefined);
    if (!pools) throw tooFewNodes;
    return pools;
  };
  try {
    return await Promise.all(routes.map(ask));
  } catch (error) {
    if (error === tooFewNodes || paymentProblemOf(error) === 'SHORTFALL') return undefined;
    throw error;
  } finally {
    ended.abort();
  }
}

const tooFewNodes = new Error('A route does not find enough nodes for a batch.');

/** Whether the batch costs about as much as its chunks one by one. The vault chooses each of its pools as often. */
function isCheap(batch: Batch, offers: readonly Offer[]): boolean {
  const charges = poolPayments(batch).map(({ charge }) => charge);
  const single = offers.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  const { numerator, denominator } = maxPremium;
  const all = charges.reduce((sum, charge) => sum + charge, 0n);
  return all * denominator <= single * numerator * BigInt(charges.length);
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, number) => all + number, 0);
