import { Address } from '../address.ts';
import { AntwayError } from '../errors.ts';
import type { Clock } from '../nodes/clock.ts';
import { hostNetwork, isPublicHost } from '../nodes/host.ts';
import type { NodePayment } from '../nodes/messages.ts';
import type { NodeAddress } from '../nodes/node-address.ts';
import type { NodeClient } from '../nodes/node-client.ts';
import { nodeError } from '../nodes/node-error.ts';
import { nodeLimits } from '../nodes/node-limits.ts';
import type { CloseNode, Nodes } from '../nodes/nodes.ts';
import { Backoff } from '../util/backoff.ts';
import { isSameChain, type PaymentChain } from './chain.ts';
import { paymentError, paymentProblemOf } from './errors.ts';
import { gather } from './gather.ts';
import { encodeProof, priceFrom, quoteOf } from './node-quote.ts';
import { contentOf, offerFrom, type Plan, paidOf, type RecordToStore } from './quotes.ts';
import type { Quoted, RecordPayment, Route } from './route.ts';

export interface NodeRouteOptions {
  nodes: Pick<Nodes, 'closest' | 'use'>;
  chain: PaymentChain;
  clock: Clock;
}

/** Nodes store a record only if they know themselves and the paid node among so many that are closest to it. */
const storingNodes = 20;
/** Fewer than decide: one computer can have many keys, and choose them close to a record. */
const nodesPerHost = nodeLimits.majority - 1;
/** So many nodes have to store a state of a pointer, or the majority of a reader could miss it. */
const pointerQuorum = 5;
/** So many nodes with a newer state leave too few of a close group for a quorum. A state of the owner has to prove it. */
const outdatedBy = nodeLimits.closeGroup - pointerQuorum + 1;
/** A chunk of four megabytes is in memory three times while it is sent. */
const putsAtOnce = 4;
/** Records whose nodes are asked at the same time. */
const quotesAtOnce = 3;
const quoteMs = { place: 5_000, grace: 0 };
const putMs = { place: 15_000, grace: 2_000 };
/** A node has one more millisecond for so many bytes of a chunk. The link may be slow, and more nodes make it slower. */
const putBytesPerMs = 32;
const tries = 4;
const retryMs = { firstMs: 2_000, maxMs: 8_000 };
/** Codes of nodes that refuse a payment. */
const refusals = new Set(['payment_required', 'put_rejected', 'invalid_payment_proof']);

/**
 * Brings paid records to the network without a relay. It takes the quotes of the nodes that are closest to a record, and
 * sends the record to these nodes. Payments for batches need a relay.
 */
export class NodeRoute implements Route {
  readonly url = 'Direct access';
  readonly hasBatches = false;
  readonly #options: NodeRouteOptions;

  constructor(options: NodeRouteOptions) {
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
  ): Promise<Quoted[]> {
    const quoted: Quoted[] = new Array(records.length);
    const failed = new AbortController();
    const own = AbortSignal.any([signal, failed.signal]);
    let [next, asked] = [0, 0];
    const askSome = async () => {
      for (let i = next++; i < records.length; i = next++) {
        quoted[i] = await this.#retry(own, () => this.#quote(records[i]!, own));
        onProgress(++asked);
      }
    };
    try {
      await Promise.all(Array.from({ length: quotesAtOnce }, askSome));
    } catch (error) {
      failed.abort(error);
      throw error;
    }
    return quoted;
  }

  async pools(): Promise<undefined> {
    return undefined;
  }

  async store(payment: RecordPayment, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> {
    if ('merkle' in payment) {
      const message =
        'This chunk was paid for together with others. Nodes take such a payment only through a relay. The payment is kept: continue with a relay.';
      throw paymentError('SHORTFALL', message, { relay: this.url, address: payment.merkle.address });
    }
    const { plan, transaction } = payment;
    const address = Address.fromHex(plan.address);
    const { peer } = paidOf(plan.quotes);
    const send = senderOf(address, plan, transaction, bytes);
    const quorum = quorumOf(plan);
    await this.#retry(signal, async () => {
      const { nodes } = this.#options;
      const closest = await nodes.closest(address, storingNodes, signal);
      const takers = ofManyHosts(closest).filter((node) => takesFor(node, peer));
      const isExpired = takers.length < quorum && closest.length >= quorum;
      if (isExpired) throw this.#expired(plan.address);
      const put = ({ node }: CloseNode, own: AbortSignal) =>
        nodes.use(node, own, (client) => send(client, own));
      const patience = { ...putMs, place: putMs.place + bytes.length / putBytesPerMs };
      const gathered = await this.#gather(takers, patience, signal, quorum, put, putsAtOnce);
      if (gathered.answers.length >= quorum) return;
      throw this.#notStored(plan, gathered.failures);
    });
  }

  async #quote(record: RecordToStore, signal: AbortSignal): Promise<Quoted> {
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
    ask: (node: Node, own: AbortSignal) => Promise<T>,
    atOnce: number = nodeLimits.closeGroup,
  ) {
    const { clock } = this.#options;
    const best = nodeLimits.closeGroup;
    return gather(nodes, { best, enough, graceMs: grace, atOnce, placeMs: place, clock, signal }, ask);
  }

  /** Tries again: nodes may be some seconds behind the chain, or away for a moment. */
  async #retry<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const backoff = new Backoff(retryMs);
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

  #notStored({ address }: Plan, failures: readonly unknown[]): AntwayError {
    if (failures.filter((failure) => failure === stale).length >= outdatedBy) {
      const message = 'The network has a newer state of the pointer, which another device signed. Try again.';
      return paymentError('OUTDATED', message, { relay: this.url, address });
    }
    if (failures.filter(isRefusal).length < nodeLimits.majority) {
      return this.#shortfall('Too few nodes store a record. The payment is kept: try again later.');
    }
    const message = `The nodes see no payment for ${address}. The payment is kept: try again later, or with a relay.`;
    return paymentError('UNPAID', message, { relay: this.url, address });
  }

  #expired(address: string): AntwayError {
    const message = `The node that was paid for ${address} is not close to it at the moment. The payment is kept: try again later.`;
    return paymentError('QUOTE_EXPIRED', message, { relay: this.url, address });
  }

  #shortfall(message: string): AntwayError {
    return paymentError('SHORTFALL', message, { relay: this.url });
  }
}

type Send = (client: NodeClient, signal: AbortSignal) => Promise<void>;

/** How a node gets the record that a plan was paid for. */
function senderOf(address: Address, plan: Plan, transaction: string, bytes: Uint8Array<ArrayBuffer>): Send {
  const paid = paidOf(plan.quotes);
  if (plan.stateId === undefined) {
    const quote = quoteOf(paid, plan.address);
    const chunk = { address, bytes, quote, transaction: transaction.slice(2) };
    return (client, signal) => client.putChunk(chunk, { signal });
  }
  const state = contentOf(plan);
  const pointer = { address, state, record: bytes, proof: encodeProof(paid, state, transaction) };
  return async (client, signal) => {
    if ((await client.putPointer(pointer, { signal })) === 'stale') throw stale;
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

/** The nodes, in their order, without those of a host that has enough. In private networks, all nodes may be on one host. */
function ofManyHosts(nodes: readonly CloseNode[]): CloseNode[] {
  const counts = new Map<string, number>();
  return nodes.filter(({ node: { host } }) => {
    const network = hostNetwork(host);
    const count = (counts.get(network) ?? 0) + 1;
    counts.set(network, count);
    return count <= nodesPerHost || !isPublicHost(host);
  });
}

/**
 * Whether a node stores a record that was paid to another one. It has to know both of them as closest nodes. Many of the
 * nodes that it knows may take no browsers, so a lookup does not find them.
 */
function takesFor({ node, known }: CloseNode, payee: string): boolean {
  return known.has(node.peerId) && known.has(payee);
}

/** Whether enough nodes would store a record that is paid to this node. @param closest of the record, closest first. */
function isPayee(peerId: string, closest: readonly CloseNode[], quorum: number): boolean {
  const group = closest.slice(0, nodeLimits.closeGroup);
  return group.filter((node) => takesFor(node, peerId)).length >= quorum;
}

function isRefusal(error: unknown): boolean {
  return error instanceof AntwayError && refusals.has(String(error.details.reason));
}
