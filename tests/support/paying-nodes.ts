import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import type { StorageQuote } from '../../src/nodes/messages.ts';
import { formatNodeAddress, type NodeAddress } from '../../src/nodes/node-address.ts';
import { ChannelClient } from '../../src/nodes/node-client.ts';
import { nodeError } from '../../src/nodes/node-error.ts';
import { nodeLimits } from '../../src/nodes/node-limits.ts';
import { noMemory } from '../../src/nodes/node-memory.ts';
import { Nodes } from '../../src/nodes/nodes.ts';
import type { PaymentChain } from '../../src/payment/chain.ts';
import { type NodePrice, priceOf } from '../../src/payment/node-price.ts';
import { quoteOf } from '../../src/payment/node-quote.ts';
import { signedBytes } from '../../src/payment/quotes.ts';
import {
  addressOf,
  channelTo,
  helloHeader,
  type NodeIdentity,
  nodeIdentity,
  type ServerRequest,
} from './node-server.ts';
import { commit, noCommitment } from './relay-double.ts';
import type { VirtualClock } from './virtual-clock.ts';

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

/** The faults of a node that is dishonest or fails. */
export interface NodeFaults {
  /** Does not answer at all. */
  isDead?: boolean;
  /** Changes a quote. */
  quote?: (quote: StorageQuote, node: PayingNode) => StorageQuote;
  /** Wants to be paid elsewhere. */
  payment?: Record<string, unknown>;
  /** Says that it stores a chunk, and forgets it. */
  forgets?: boolean;
  /** Says that it has all chunks. */
  claims?: boolean;
  /** The code of its answer to all chunks. */
  putCode?: string;
  /** How long it takes for a chunk. */
  putMs?: number;
  /** Puts another address into its answers. */
  address?: string;
  /** How many records it has committed to. */
  committed?: number;
  /** Peer ids of nodes that it does not know. It may be its own: then other nodes are closer than it. */
  unknown?: readonly string[];
}

export interface PayingNode extends NodeIdentity {
  address: NodeAddress;
  stored: Map<string, Uint8Array>;
  /** The quotes of the chunks that it was sent. */
  received: StorageQuote[];
  faults: NodeFaults;
}

/** Nodes in this process, behind the real client. They sign real quotes, and know which quotes were paid. */
export class PayingNodes {
  readonly all: PayingNode[];
  /** The hashes of the paid quotes: `0x` and 64 hex digits. */
  readonly paid = new Set<string>();
  /** The peer ids of further nodes, which take no browsers. */
  others: string[] = [];

  constructor(
    count: number,
    private readonly clock: VirtualClock,
    private readonly chain: PaymentChain,
  ) {
    this.all = Array.from({ length: count }, (_, i) => {
      const identity = nodeIdentity(i + 1);
      const address = addressOf(identity, '127.0.0.1', 10_000 + i);
      return { ...identity, address, stored: new Map(), received: [], faults: {} };
    });
  }

  client(): Nodes {
    return new Nodes({
      seeds: this.all.map(({ address }) => address),
      memory: noMemory,
      clock: this.clock,
      isLocal: true,
      connect: (address, signal) => {
        const node = this.all.find(({ address: { peerId } }) => peerId === address.peerId)!;
        if (node.faults.isDead) return Promise.reject(nodeError('unreachable', 'It is dead.'));
        const { channel } = channelTo(node, (request, server) => {
          const { header, body } = this.#answer(node, request);
          const respond = () =>
            server.respond({ request_id: request.request_id, status: 'ok', ...header }, body);
          const { putMs } = node.faults;
          if (putMs && request.type === 'put_chunk') void this.clock.delay(putMs).then(respond);
          else respond();
        });
        return ChannelClient.connect(channel, address, this.clock, signal);
      },
    });
  }

  /** The price of a chunk at a node. */
  price(
    { publicKey, secretKey, address: { peerId }, faults }: PayingNode,
    chunk: string,
    timestamp = 1_795_000_000,
  ): NodePrice {
    const { committed = 0 } = faults;
    const binding = committed === 0 ? noCommitment : commit(committed, peerId, publicKey, secretKey);
    const terms = {
      timestamp,
      price: `${priceOf(committed)}`,
      rewardsAddress: `0x${'07'.repeat(20)}`,
      ...binding,
    };
    const signature = ml_dsa65.sign(signedBytes(terms, hexToBytes(chunk)), secretKey);
    return { peer: peerId, ...terms, publicKey: base64(publicKey), signature: base64(signature) };
  }

  #answer(node: PayingNode, request: ServerRequest): { header: object; body?: Uint8Array } {
    const { faults, stored } = node;
    const { type, address = '' } = request;
    if (type === 'hello') {
      const { chainId, token, vault } = this.chain;
      const contracts = { payment_token_address: token, payment_vault_address: vault };
      const payment = { chain_id: chainId, ...contracts, ...faults.payment };
      const { capabilities: _, ...hello } = helloHeader(request.request_id, node) as Record<string, unknown>;
      const capabilities = ['find_node', 'get_chunk', 'quote_chunk', 'put_chunk', 'rpc-multiplex-4'];
      return { header: { ...hello, capabilities, payment } };
    }
    if (type === 'find_node') {
      const nodes = this.#closest(node, request.target!).map((peer_id) => {
        const other = this.all.find(({ address }) => address.peerId === peer_id);
        return { peer_id, webrtc_direct: other ? { multiaddr: formatNodeAddress(other.address) } : null };
      });
      return { header: { type: 'nodes', target: request.target, nodes } };
    }
    const answered = faults.address ?? address;
    if (type === 'quote_chunk') {
      const honest = quoteOf(this.price(node, address), address);
      const quote = faults.quote?.(honest, node) ?? honest;
      const already_stored = faults.claims ?? stored.has(address);
      return { header: { type: 'storage_quote', address: answered, already_stored, quote } };
    }
    node.received.push(request.quote!);
    const code = faults.putCode ?? this.#refusal(node, request);
    if (code) return { header: { status: 'error', type: 'error', code, message: '' } };
    if (!faults.forgets) stored.set(address, request.body.slice());
    return { header: { type: 'chunk_stored', address: answered, already_stored: false } };
  }

  /** The peer ids that a node knows as the closest ones. */
  #closest({ faults: { unknown = [] } }: PayingNode, target: string): string[] {
    const distance = (peerId: string) => BigInt(`0x${peerId}`) ^ BigInt(`0x${target}`);
    const ids = [...this.all.map(({ address }) => address.peerId), ...this.others];
    return ids
      .filter((peerId) => !unknown.includes(peerId))
      .sort((a, b) => (distance(a) < distance(b) ? -1 : 1))
      .slice(0, nodeLimits.bucket);
  }

  /** Checks a chunk as nodes do. @returns the code of an error. */
  #refusal(
    node: PayingNode,
    { address, quote, transaction_hash: transaction, body }: ServerRequest,
  ): string | undefined {
    if (bytesToHex(blake3(body)) !== address) return 'put_rejected';
    if (quote!.content !== address || !/^[0-9a-f]{64}$/.test(transaction!)) return 'invalid_payment_proof';
    const closest = this.#closest(node, address!);
    if (![node.address.peerId, quote!.peer_id].every((peerId) => closest.includes(peerId)))
      return 'put_rejected';
    return this.paid.has(`0x${quote!.quote_hash}`) ? undefined : 'payment_required';
  }
}
