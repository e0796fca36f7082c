import { Address } from '../address.ts';
import { AntwayError } from '../errors.ts';
import type { NodePayment } from '../nodes/messages.ts';
import type { NodeAddress } from '../nodes/node-address.ts';
import type { NodeClient, RequestOptions } from '../nodes/node-client.ts';
import { nodeError } from '../nodes/node-error.ts';
import { nodeLimits } from '../nodes/node-limits.ts';
import type { CloseNode } from '../nodes/nodes.ts';
import { Backoff } from '../util/backoff.ts';
import { type BatchProof, type BatchRequest, poolNodes } from './batch.ts';
import { batchLifetimeSeconds } from './batch-lifetime.ts';
import { encodeBatchProof } from './batch-proof.ts';
import { isSameChain, type PaymentChain } from './chain.ts';
import { isPayee, ofManyHosts, takes, takesFor } from './close-nodes.ts';
import { paymentError, paymentProblemOf } from './errors.ts';
import { type GatherOptions, gather } from './gather.ts';
import { askForPool, isPoolGone, type NodeParts } from './node-pools.ts';
import type { NodePrice } from './node-price.ts';
import { encodeProof, priceFrom, quoteOf } from './node-quote.ts';
import type { PaymentRoute, RecordPayment, RecordQuote } from './payment-route.ts';
import { contentOf, offerFrom, type Plan, paidOf, type RecordToStore } from './quotes.ts';

/** Nodes store a record only if they know themselves and the node of a paid quote among so many that are closest to it. */
const storingNodes = 20;
/** So many nodes have to store a state of a pointer, or the majority of a reader could miss it. */
const pointerQuorum = 5;
/** So many nodes with a newer state leave too few of a close group for a quorum. A state of the owner has to prove it. */
const outdatedBy = nodeLimits.closeGroup - pointerQuorum + 1;
/** A chunk of four megabytes is in memory three times while it is sent. */
const putsAtOnce = 4;
/** Records whose nodes are asked at the same time. */
const quotesAtOnce = 3;
/** Pools whose nodes are asked at the same time. Each has more nodes than a record. */
const poolsAtOnce = 2;
const quoteMs = { place: 5_000, grace: 0 };
const putMs = { place: 15_000, grace: 2_000 };
/** The first chunk of a batch at each node takes longer, because the node looks up the nodes that were paid. */
const batchedPutMs = { place: 30_000, grace: 2_000 };
/**
 * The time of a node's place begins when the chunk is sent, or after one millisecond for each of this many bytes. So a node
 * that accepts bytes slowly cannot occupy its place for ever, and a slow link is tolerated.
 */
const putBytesPerMs = 32;
/** How often something is tried, and how long it rests in between. */
interface Retries {
  tries: number;
  firstMs: number;
  maxMs: number;
}
const retries: Retries = { tries: 4, firstMs: 2_000, maxMs: 8_000 };
const poolRetries: Retries = { ...retries, tries: 2 };
/** Nodes that look up the nodes of a batch have little time for others. */
const batchedRetries: Retries = { tries: 5, firstMs: 4_000, maxMs: 32_000 };
/** Codes of nodes that refuse a payment. */
const refusals = new Set(['payment_required', 'put_rejected', 'invalid_payment_proof']);

/**
 * Brings paid records to the network without a relay. It takes the prices of the nodes that are closest to a record, or to
 * the pool of a batch, and sends the records to the nodes that are closest to them.
 */
export class NodeRoute implements PaymentRoute {
  readonly url = 'Direct access';
  readonly isDirect = true;
  readonly hasBatches = true;
  readonly #options: NodeParts;

  constructor(options: NodeParts) {
    this.#options = options;
  }

  async check(chain: PaymentChain, signal: AbortSignal): Promise<void> {
    const { nodes } = this.#options;
    const target = Address.fromBytes(crypto.getRandomValues(new Uint8Array(32)));
    const found = await nodes.closest(target, nodeLimits.closeGroup, signal);
    const asked = found.map(({ node }) => node);
    const { answers } = await this.#gather(asked, quoteMs, signal, nodeLimits.closeGroup, (node, own) =>
      nodes.use(node, own, (client) => client.abilities(own)),
    );
    if (answers.length === 0) throw this.#shortfall('No node of the network answers.');
    const fitting = answers.filter(({ payment }) => payment && isPaidBy(payment, chain)).length;
    if (fitting > answers.length / 2) return;
    const message = 'The nodes want to be paid elsewhere, or take no payments. Nothing was paid.';
    throw paymentError('CHAIN', message, { relay: this.url });
  }

  async quotes(
    records: readonly RecordToStore[],
    signal: AbortSignal,
    onProgress: (asked: number) => void = () => undefined,
  ): Promise<RecordQuote[]> {
    let asked = 0;
    const quote = async (record: RecordToStore, own: AbortSignal) => {
      const quoted = await this.#retry(own, retries, () => this.#quote(record, own));
      onProgress(++asked);
      return quoted;
    };
    return this.#each(records, quotesAtOnce, signal, quote);
  }

  async pools(
    { poolAddresses, timestamp }: BatchRequest,
    signal: AbortSignal,
    onProgress: (asked: number) => void = () => undefined,
  ): Promise<NodePrice[][] | undefined> {
    let asked = 0;
    const ask = async (hex: string, own: AbortSignal) => {
      const nodes = await this.#retry(own, poolRetries, () => this.#pool(hex, timestamp, own));
      onProgress(++asked);
      return nodes;
    };
    try {
      return await this.#each(poolAddresses, poolsAtOnce, signal, ask);
    } catch (error) {
      signal.throwIfAborted();
      if (error === tooFewNodes || paymentProblemOf(error) === 'SHORTFALL') return undefined;
      throw error;
    }
  }

  async store(payment: RecordPayment, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> {
    const { nodes } = this.#options;
    const delivery =
      'merkle' in payment ? this.#batched(payment.merkle, bytes) : this.#single(payment, bytes);
    const { address, quorum, timeouts, merkle } = delivery;
    const sending = this.#retry(signal, delivery.retries, async () => {
      const closest = await nodes.closest(address, storingNodes, signal);
      const takers = ofManyHosts(closest).filter(delivery.isTaker);
      if (takers.length < quorum && closest.length >= quorum) throw delivery.tooFewTakers();
      const put = ({ node }: CloseNode, own: AbortSignal, onSent: () => void) =>
        nodes.use(node, own, (client) => delivery.send(client, { signal: own, onSent }));
      const sendMs = bytes.length / putBytesPerMs;
      const limits = { atOnce: putsAtOnce, sendMs, isHopeless: isRefused };
      const { answers, failures } = await this.#gather(takers, timeouts, signal, quorum, put, limits);
      if (answers.length < quorum) throw this.#notStored(address, failures);
    });
    await sending.catch(async (error) => {
      // Nodes explain it only in free text. They may also have been behind the chain, so this question is the last one.
      const isUnpaid = merkle !== undefined && paymentProblemOf(error) === 'UNPAID';
      if (!isUnpaid || !(await isPoolGone(merkle, this.#options, signal))) throw error;
      const reason = 'Too few of the nodes that were paid are close to the address of their pool';
      throw this.#expired(address.hex, reason);
    });
  }

  #single(
    { plan, transaction }: Exclude<RecordPayment, { merkle: BatchProof }>,
    bytes: Uint8Array<ArrayBuffer>,
  ): Delivery {
    const address = Address.fromHex(plan.address);
    const { peer } = paidOf(plan.quotes);
    return {
      address,
      quorum: quorumOf(plan),
      timeouts: putMs,
      retries,
      isTaker: (node) => takesFor(node, peer),
      tooFewTakers: () => this.#expired(plan.address, 'The node that was paid is not close to it'),
      send: senderOf(address, plan, transaction, bytes),
    };
  }

  /** @throws AntwayError `QUOTE_EXPIRED`. */
  #batched(merkle: BatchProof, bytes: Uint8Array<ArrayBuffer>): Delivery {
    if (Date.now() / 1000 - merkle.timestamp > batchLifetimeSeconds) {
      const message =
        'Nodes accept a payment for many chunks for seven days, which are over. Ask for the price again.';
      throw paymentError('QUOTE_EXPIRED', message, { relay: this.url, address: merkle.address });
    }
    const address = Address.fromHex(merkle.address);
    const chunk = { address, bytes, proof: encodeBatchProof(merkle) };
    return {
      address,
      quorum: nodeLimits.majority,
      timeouts: batchedPutMs,
      retries: batchedRetries,
      isTaker: takes,
      tooFewTakers: () => this.#shortfall(storedByTooFew),
      send: (client, options) => client.putBatchedChunk(chunk, options),
      merkle,
    };
  }

  async #pool(hex: string, timestamp: number, signal: AbortSignal): Promise<NodePrice[]> {
    const nodes = await askForPool(Address.fromHex(hex), timestamp, this.#options, signal);
    if (!nodes) throw tooFewNodes;
    if (nodes.length === poolNodes) return nodes;
    throw this.#shortfall(`Only ${nodes.length} of ${poolNodes} nodes gave a price for a batch.`);
  }

  async #quote(record: RecordToStore, signal: AbortSignal): Promise<RecordQuote> {
    const { nodes, chain } = this.#options;
    const address = Address.fromHex(record.address);
    const isPointer = record.stateId !== undefined;
    // A quote does not depend on the kind of the record. For a pointer it names the state, or later states would be free.
    const content = Address.fromBytes(contentOf(record));
    const quorum = quorumOf(record);
    const closest = ofManyHosts(await nodes.closest(address, storingNodes, signal));
    const payees = closest.flatMap(({ node }) => (isPayee(node.peerId, closest, quorum) ? [node] : []));
    const ask = (node: NodeAddress, own: AbortSignal) =>
      nodes.use(node, own, async (client) => {
        const { payment, hasPointers } = await client.abilities(own);
        if (!payment || !isPaidBy(payment, chain)) {
          throw nodeError('refused', 'A node wants to be paid elsewhere.');
        }
        if (isPointer && !hasPointers) throw nodeError('refused', 'A node stores no pointers.');
        const { isStored, quote } = await client.quoteChunk(content, record.size, { signal: own });
        try {
          // The question was about a chunk, so the answer says nothing about a pointer.
          return { isStored: isStored && !isPointer, price: priceFrom(quote, node.peerId, content.hex) };
        } catch (cause) {
          throw nodeError('protocol', `A node gave a wrong price: ${(cause as Error).message}`, cause);
        }
      });
    const { answers } = await this.#gather(payees, quoteMs, signal, nodeLimits.closeGroup, ask);
    if (answers.filter(({ isStored }) => isStored).length >= nodeLimits.majority) return { status: 'stored' };
    if (answers.length < nodeLimits.closeGroup) {
      throw this.#shortfall(
        `Only ${answers.length} of ${nodeLimits.closeGroup} nodes gave a price for a record. Nothing was paid for it.`,
      );
    }
    return {
      status: 'quoted',
      offer: offerFrom(
        record,
        answers.map(({ price }) => price),
      ),
    };
  }

  #gather<Node, T>(
    nodes: readonly Node[],
    { place, grace }: { place: number; grace: number },
    signal: AbortSignal,
    enough: number,
    ask: (node: Node, own: AbortSignal, onSent: () => void) => Promise<T>,
    limits: Partial<Pick<GatherOptions, 'atOnce' | 'sendMs' | 'isHopeless'>> = {},
  ) {
    const { clock } = this.#options;
    const best = nodeLimits.closeGroup;
    const times = { graceMs: grace, placeMs: place };
    return gather(nodes, { best, enough, atOnce: best, ...times, ...limits, clock, signal }, ask);
  }

  /** Works on some items at the same time. The first failure ends the others. @returns the results, in the order of the items. */
  async #each<T, R>(
    items: readonly T[],
    atOnce: number,
    signal: AbortSignal,
    work: (item: T, signal: AbortSignal) => Promise<R>,
  ): Promise<R[]> {
    const results: R[] = new Array(items.length);
    const failed = new AbortController();
    const own = AbortSignal.any([signal, failed.signal]);
    let next = 0;
    const workOnSome = async () => {
      for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i]!, own);
    };
    try {
      await Promise.all(Array.from({ length: atOnce }, workOnSome));
    } catch (error) {
      failed.abort(error);
      throw error;
    }
    return results;
  }

  /** Tries again: nodes may be some seconds behind the chain, or away for a moment. */
  async #retry<T>(signal: AbortSignal, { tries, ...times }: Retries, work: () => Promise<T>): Promise<T> {
    const backoff = new Backoff(times);
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        signal.throwIfAborted();
        const problem = paymentProblemOf(error);
        const mayPass = problem === 'SHORTFALL' || problem === 'UNPAID';
        if (!mayPass || attempt === tries) throw error;
        await this.#options.clock.delay(backoff.next(), signal);
      }
    }
  }

  #notStored({ hex }: Address, failures: readonly unknown[]): AntwayError {
    if (isOutdated(failures)) {
      const message = 'The network has a newer state of the pointer, which another device signed. Try again.';
      return paymentError('OUTDATED', message, { relay: this.url, address: hex });
    }
    if (!isRefused(failures)) return this.#shortfall(storedByTooFew);
    const message = `The nodes see no payment for ${hex}. The payment is saved: try again later, or with a relay.`;
    return paymentError('UNPAID', message, { relay: this.url, address: hex });
  }

  /** @param reason the beginning of a sentence. */
  #expired(address: string, reason: string): AntwayError {
    const message = `The nodes do not accept the payment for ${address}. ${reason} at the moment. The payment is saved: try again later.`;
    return paymentError('QUOTE_EXPIRED', message, { relay: this.url, address });
  }

  #shortfall(message: string): AntwayError {
    return paymentError('SHORTFALL', message, { relay: this.url });
  }
}

type Send = (client: NodeClient, options: RequestOptions) => Promise<void>;

/** How a record that was paid for gets to the nodes. */
interface Delivery {
  address: Address;
  /** So many nodes have to store it. */
  quorum: number;
  /** In milliseconds, after the bytes. */
  timeouts: { place: number; grace: number };
  retries: Retries;
  /** Whether a node would take it. */
  isTaker(node: CloseNode): boolean;
  /** The error if fewer nodes than the quorum would take it. */
  tooFewTakers(): AntwayError;
  send: Send;
  /** Of a chunk that was paid for in a batch. */
  merkle?: BatchProof;
}

const storedByTooFew = 'Too few nodes store a record. The payment is saved: try again later.';

/** The network is too small for batches, or too few of its nodes take browsers. */
const tooFewNodes = new Error('Too few nodes are close to a pool.');

/** How a node gets the record that a plan was paid for. */
function senderOf(address: Address, plan: Plan, transaction: string, bytes: Uint8Array<ArrayBuffer>): Send {
  const paid = paidOf(plan.quotes);
  if (plan.stateId === undefined) {
    const quote = quoteOf(paid, plan.address);
    const chunk = { address, bytes, quote, transaction: transaction.slice(2) };
    return (client, options) => client.putChunk(chunk, options);
  }
  const state = contentOf(plan);
  const pointer = { address, state, record: bytes, proof: encodeProof(paid, state, transaction) };
  return async (client, options) => {
    if ((await client.putPointer(pointer, options)) === 'stale') throw stale;
  };
}

/** The failure of a node that has a state which the record does not replace. */
const stale = new Error('A node has a newer state.');

/** How many nodes have to store a record. */
function quorumOf({ stateId }: Pick<RecordToStore, 'stateId'>): number {
  return stateId === undefined ? nodeLimits.majority : pointerQuorum;
}

function isPaidBy(payment: NodePayment, chain: PaymentChain): boolean {
  return isSameChain(payment, chain);
}

/** Whether so many nodes have a newer state that too few others are left. */
function isOutdated(failures: readonly unknown[]): boolean {
  return failures.filter((failure) => failure === stale).length >= outdatedBy;
}

/** Whether a majority of a close group refuses the payment. The others see the same chain, so none is asked further. */
function isRefused(failures: readonly unknown[]): boolean {
  return failures.filter(isRefusal).length >= nodeLimits.majority;
}

function isRefusal(error: unknown): boolean {
  return error instanceof AntwayError && refusals.has(String(error.details.reason));
}
