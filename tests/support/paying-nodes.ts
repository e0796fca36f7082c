import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { Address, equalBytes } from '../../src/address.ts';
import { newestPointer, parsePointer } from '../../src/content/pointer.ts';
import { limits } from '../../src/limits.ts';
import { ChannelClient } from '../../src/nodes/channel-client.ts';
import type { StorageQuote } from '../../src/nodes/messages.ts';
import { formatNodeAddress, type NodeAddress } from '../../src/nodes/node-address.ts';
import { nodeError } from '../../src/nodes/node-error.ts';
import { nodeLimits } from '../../src/nodes/node-limits.ts';
import { noMemory } from '../../src/nodes/node-memory.ts';
import { Nodes } from '../../src/nodes/nodes.ts';
import type { PaymentChain } from '../../src/payment/chain.ts';
import { type NodePrice, priceOf } from '../../src/payment/node-price.ts';
import { encodeProof, quoteOf } from '../../src/payment/node-quote.ts';
import { pointerRecord } from '../../src/payment/paid-pointers.ts';
import { signedBytes } from '../../src/payment/quotes.ts';
import {
  batchMessages,
  candidateAnswer,
  candidateOf,
  isPaidFor,
  type PaidBatch,
  partsOf,
  putAnswer,
  timeIn,
} from './batch-answers.ts';
import {
  addressOf,
  channelTo,
  helloHeader,
  type NodeIdentity,
  nodeIdentity,
  type ServerRequest,
  slowDown,
} from './node-server.ts';
import { commit, noCommitment } from './relay-double.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** Quotes have to be new. Those of one process are the same. */
const startedAt = Math.floor(Date.now() / 1000);

/** Positions of the messages in the network's `ChunkMessageBody`. */
const pointerMessages = { put: 11, get: 12, got: 13 };
/** The length of a record, as the format postcard writes it. */
const recordLength = [0xb7, 0x29];
const pointerContext = new TextEncoder().encode('autonomi.pointer.address.v1');

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
  /** How long it takes for a record. */
  putMs?: number;
  /** How fast it takes a large record, and all requests after it. With 0, it takes nothing. */
  bytesPerMs?: number;
  /** Puts another address into its answers. */
  address?: string;
  /** Stores no pointers, and says so. */
  lacksPointers?: boolean;
  /** Changes its price for a pool. */
  candidate?: (honest: NodePrice, node: PayingNode) => NodePrice;
  /** Its answer to all chunks of batches and requests for prices of pools, after the number of the request. */
  batchAnswer?: (honest: Uint8Array) => Uint8Array;
  /** Its answer to all states of pointers. */
  pointerAnswer?: PointerAnswer;
  /** How many records it has committed to. */
  committed?: number;
  /** Peer ids of nodes that it does not know. It may be its own: then other nodes are closer than it. */
  unknown?: readonly string[];
}

/** The network's answers to a state, and one that names another state. */
export type PointerAnswer = 'stored' | 'unchanged' | 'stale' | 'unpaid' | 'full' | 'other-state';

export interface PayingNode extends NodeIdentity {
  address: NodeAddress;
  stored: Map<string, Uint8Array>;
  /** The records of pointers, by address. */
  pointers: Map<string, Uint8Array<ArrayBuffer>>;
  /** The quotes of the chunks that it was sent. */
  received: StorageQuote[];
  /** How many chunks of batches it was sent. */
  puts: number;
  faults: NodeFaults;
}

/** Nodes in this process, behind the real client. They sign real quotes, and know which quotes were paid. */
export class PayingNodes {
  readonly all: PayingNode[];
  /** The hashes of the paid quotes: `0x` and 64 hex digits. */
  readonly paid = new Set<string>();
  /** The transaction by which they were paid: `0x` and 64 hex digits. */
  readonly transaction = `0x${'cd'.repeat(32)}`;
  /** The peer ids of further nodes, which take no browsers. */
  others: string[] = [];
  /** The batches that were paid. */
  readonly paidBatches: PaidBatch[] = [];
  /** The quotes that nodes gave, by hash. */
  readonly #given = new Map<string, { price: NodePrice; content: string }>();

  constructor(
    count: number,
    private readonly clock: VirtualClock,
    private readonly chain: PaymentChain,
  ) {
    this.all = Array.from({ length: count }, (_, i) => {
      const identity = nodeIdentity(i + 1);
      const address = addressOf(identity, '127.0.0.1', 10_000 + i);
      return {
        ...identity,
        address,
        stored: new Map(),
        pointers: new Map(),
        received: [],
        puts: 0,
        faults: {},
      };
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
          if (putMs && ['put_chunk', 'chunk_protocol'].includes(request.type))
            void this.clock.delay(putMs).then(respond);
          else respond();
        });
        let isLarge = false;
        slowDown(channel, this.clock, (message) => {
          isLarge ||= message.length === nodeLimits.messageBytes;
          return (isLarge ? node.faults.bytesPerMs : undefined) ?? Number.POSITIVE_INFINITY;
        });
        return ChannelClient.connect(channel, address, this.clock, signal);
      },
    });
  }

  /** The price of a chunk at a node. */
  price(
    { publicKey, secretKey, address: { peerId }, faults }: PayingNode,
    chunk: string,
    timestamp = startedAt,
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
      const pointers = faults.lacksPointers ? [] : ['chunk_protocol', 'pointer_protocol'];
      const capabilities = [
        'find_node',
        'get_chunk',
        'quote_chunk',
        'put_chunk',
        'rpc-multiplex-4',
        ...pointers,
      ];
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
      const price = this.price(node, address);
      const honest = quoteOf(price, address);
      this.#given.set(`0x${honest.quote_hash}`, { price, content: address });
      const quote = faults.quote?.(honest, node) ?? honest;
      const already_stored = faults.claims ?? stored.has(address);
      return { header: { type: 'storage_quote', address: answered, already_stored, quote } };
    }
    if (type === 'get_chunk') {
      const chunk = stored.get(address);
      if (!chunk) return { header: { status: 'not_found', type: 'chunk_not_found', address } };
      return { header: { type: 'chunk', address, size: chunk.length }, body: chunk };
    }
    if (type === 'chunk_protocol') {
      return { header: { type: 'chunk_protocol' }, body: this.#protocolAnswer(node, request.body) };
    }
    node.received.push(request.quote!);
    const code = faults.putCode ?? this.#refusal(node, request);
    if (code) return { header: { status: 'error', type: 'error', code, message: '' } };
    if (!faults.forgets) stored.set(address, request.body.slice());
    return { header: { type: 'chunk_stored', address: answered, already_stored: false } };
  }

  /** Answers a message of the network's `chunk_protocol`. */
  #protocolAnswer(node: PayingNode, message: Uint8Array): Uint8Array {
    const idBytes = 1 + message.findIndex((byte) => byte < 0x80);
    const id = message.subarray(0, idBytes);
    const rest = message.slice(idBytes + 1);
    const { batchAnswer = (honest: Uint8Array) => honest } = node.faults;
    switch (message[idBytes]) {
      case batchMessages.candidate:
        return concatBytes(id, batchAnswer(this.#candidateAnswer(node, rest)));
      case batchMessages.put:
        return concatBytes(id, batchAnswer(this.#batchedPutAnswer(node, rest)));
      default:
        return this.#pointerAnswer(node, id, message[idBytes]!, rest);
    }
  }

  #candidateAnswer(node: PayingNode, request: Uint8Array): Uint8Array {
    const { committed = 0, candidate = (honest: NodePrice) => honest } = node.faults;
    const price = candidate(candidateOf(node, timeIn(request), committed), node);
    return concatBytes(Uint8Array.of(batchMessages.candidateAnswer), candidateAnswer(price));
  }

  #batchedPutAnswer(node: PayingNode, request: Uint8Array): Uint8Array {
    const put = partsOf(request);
    node.puts++;
    const isTaken =
      bytesToHex(blake3(put.bytes)) === put.address &&
      this.#closest(node, put.address).includes(node.address.peerId);
    const isPaid = isPaidFor(put, this.paidBatches, (...at) => this.#closest(node, ...at));
    const result = node.faults.putCode || !isTaken ? 'full' : isPaid ? 'stored' : 'unpaid';
    if (result === 'stored' && !node.faults.forgets) node.stored.set(put.address, put.bytes);
    return concatBytes(Uint8Array.of(batchMessages.putAnswer), putAnswer(result, put.address));
  }

  #pointerAnswer(node: PayingNode, id: Uint8Array, type: number, rest: Uint8Array<ArrayBuffer>): Uint8Array {
    if (type === pointerMessages.get) {
      const record = node.pointers.get(bytesToHex(rest));
      const found = record && concatBytes(Uint8Array.of(0, ...recordLength), record);
      return concatBytes(
        id,
        Uint8Array.of(pointerMessages.got),
        found ?? concatBytes(Uint8Array.of(1), rest),
      );
    }
    const record = rest.slice(recordLength.length, recordLength.length + limits.pointerBytes);
    // After the record: that there is a proof, and the proof's length in two or three bytes.
    const proof = rest.subarray(recordLength.length + limits.pointerBytes + 1);
    const proofBytes = proof.subarray(1 + proof.findIndex((byte) => byte < 0x80));
    const address = Address.fromBytes(blake3(record.subarray(1, 1953), { context: pointerContext }));
    const { stateId } = pointerRecord(address, record);
    const answer = node.faults.pointerAnswer ?? this.#judge(node, address, record, proofBytes);
    if (answer === 'stored' && !node.faults.forgets) node.pointers.set(address.hex, record);
    const state = hexToBytes(answer === 'other-state' ? 'ee'.repeat(32) : stateId);
    const answers: Record<PointerAnswer, Uint8Array> = {
      stored: concatBytes(Uint8Array.of(0), address.bytes, state),
      'other-state': concatBytes(Uint8Array.of(0), address.bytes, state),
      unchanged: concatBytes(Uint8Array.of(1), address.bytes, state),
      stale: concatBytes(Uint8Array.of(2), address.bytes, hexToBytes('ee'.repeat(32))),
      unpaid: Uint8Array.of(3, 0),
      full: Uint8Array.of(4, 5, 0),
    };
    return concatBytes(id, Uint8Array.of(pointerMessages.put), answers[answer]);
  }

  /** Checks the state of a pointer as nodes do. */
  #judge(
    node: PayingNode,
    address: Address,
    record: Uint8Array<ArrayBuffer>,
    proof: Uint8Array,
  ): PointerAnswer {
    const next = parsePointer(record, address);
    const { stateId } = pointerRecord(address, record);
    const former = node.pointers.get(address.hex);
    const known = former && parsePointer(former, address);
    if (known && pointerRecord(address, known.record).stateId === stateId) return 'unchanged';
    if (known && newestPointer(known, [next]) === known) return 'stale';
    const closest = this.#closest(node, address.hex);
    const paid = [...this.paid]
      .map((hash) => this.#given.get(hash))
      .find((given) => given?.content === stateId);
    if (!paid || !equalBytes(proof, encodeProof(paid.price, hexToBytes(stateId), this.transaction)))
      return 'unpaid';
    return [node.address.peerId, paid.price.peer].every((peerId) => closest.includes(peerId))
      ? 'stored'
      : 'full';
  }

  /** The peer ids that a node knows as the closest ones. */
  #closest(
    { faults: { unknown = [] } }: PayingNode,
    target: string,
    count: number = nodeLimits.bucket,
  ): string[] {
    const distance = (peerId: string) => BigInt(`0x${peerId}`) ^ BigInt(`0x${target}`);
    const ids = [...this.all.map(({ address }) => address.peerId), ...this.others];
    return ids
      .filter((peerId) => !unknown.includes(peerId))
      .sort((a, b) => (distance(a) < distance(b) ? -1 : 1))
      .slice(0, count);
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
