import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { blake3 } from '@noble/hashes/blake3.js';
import { keccak_256, sha3_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { type BatchProof, signedPoolBytes } from '../../src/payment/batch.ts';
import { priceOf } from '../../src/payment/node-price.ts';
import { hasSigned } from '../../src/payment/node-signature.ts';
import { signedBytes } from '../../src/payment/quotes.ts';
import type { TestChain } from './test-chain.ts';

type Plan = ReturnType<RelayDouble['offer']>['plan'];
type Offer = ReturnType<RelayDouble['offer']>;
type Pool = ReturnType<RelayDouble['pool']>;

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

/** The keys of the nodes. Their quotes are as good as those of the network. */
const nodes = Array.from({ length: 30 }, (_, i) => ml_dsa65.keygen(new Uint8Array(32).fill(i + 1)));
/** Pages of every origin may ask. */
const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD, POST, PUT',
  'access-control-allow-headers': '*',
  'access-control-expose-headers': '*',
};
const pointerBytes = 5303;
/** Quotes have to be new. Those of one process are the same. */
const startedAt = Math.floor(Date.now() / 1000);
const nodeAccount = `0x${'07'.repeat(20)}`;

/** The faults of a dishonest or failing relay. */
export interface RelayFaults {
  /** Changes what `/network/info` says. */
  info?: Record<string, unknown>;
  /** Changes an offer. */
  offer?: (offer: Offer) => unknown;
  /** Which of the thirty nodes give quotes and make the pools. */
  firstNode?: number;
  /** When the nodes signed, in seconds since 1970. */
  timestamp?: number;
  /** The account of all nodes. */
  rewardsAddress?: string;
  /** How many records each node has committed to, which makes its price. */
  committed?: readonly number[];
  /** Changes the pools of a batch. */
  pools?: (pools: Pool[]) => unknown;
  /** The status of all requests for pools. */
  poolsStatus?: [status: number, code: string];
  /** Finds no batches, as in a small network. */
  hasNoPools?: boolean;
  /** The nodes have no chunks. Only the relay itself stores them. */
  hasNoStored?: boolean;
  /** The status of all writes. */
  putStatus?: number;
  /** Only so many of the next writes get `putStatus`. */
  putFailures?: number;
  /** How long a write takes that does not get `putStatus`. */
  putDelayMs?: number;
  /** Says that a record is stored, and forgets it. */
  forgets?: boolean;
  /** Says that the network has no pointers. */
  hidesPointers?: boolean;
  /** How many nodes have the state that is read, and how many others answer. Null: it does not tell, as older versions. */
  nodeCounts?: readonly [holders: number, others: number] | null;
  /** The answer to each read of a pointer from the network. */
  readAnswer?: [status: number, body: unknown];
  /** How long the relay's own peer looks for a pointer. */
  peerDelayMs?: number;
}

/**
 * A relay with nodes of its own, for faults that real nodes do not have. It signs real quotes, and asks a real chain for
 * the payments. `npm run test:network` has the real relay and real nodes.
 */
export class RelayDouble {
  faults: RelayFaults = {};
  /** The stored records, by address. */
  readonly stored = new Map<string, Uint8Array>();
  /** The newest record of each pointer in the network, by address. */
  readonly pointers = new Map<string, Uint8Array>();
  /** The records of pointers that users stored at this peer without a payment, and which the network does not have. */
  readonly ownPointers = new Map<string, Uint8Array>();

  private constructor(
    private readonly server: Server,
    private readonly chain: TestChain,
  ) {}

  /** @param stored and `pointers`: the records of another relay of the same network. */
  static async start(
    chain: TestChain,
    stored?: Map<string, Uint8Array>,
    pointers?: Map<string, Uint8Array>,
  ): Promise<RelayDouble> {
    const server = createServer((request, response) => {
      relay.#answer(request).then(
        ([status, body]) => {
          response.writeHead(status, { 'content-type': 'application/json', ...cors, ...relay.#counts() });
          response.end(body instanceof Uint8Array ? body : JSON.stringify(body));
        },
        (error) => {
          response.writeHead(500);
          response.end(String(error));
        },
      );
    });
    const relay = new RelayDouble(server, chain);
    if (stored) (relay as { stored: Map<string, Uint8Array> }).stored = stored;
    if (pointers) (relay as { pointers: Map<string, Uint8Array> }).pointers = pointers;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return relay;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** An honest offer for a record. @param committed the number of records that the nodes have committed to. */
  offer({ address, size, stateId }: { address: string; size: number; stateId?: string }, committed = 0) {
    const content = hexToBytes(stateId ?? address);
    const { firstNode: from = 0, rewardsAddress = nodeAccount } = this.faults;
    const quotes = nodes.slice(from, from + 7).map(({ publicKey, secretKey }, i) => {
      const peer = bytesToHex(blake3(publicKey));
      const count = this.faults.committed?.[from + i] ?? committed;
      const binding = count === 0 ? noCommitment : commit(count, peer, publicKey, secretKey);
      const timestamp = this.faults.timestamp ?? startedAt;
      const terms = { timestamp, price: `${priceOf(count)}`, rewardsAddress, ...binding };
      const signature = ml_dsa65.sign(signedBytes(terms, content), secretKey);
      return { peer, ...terms, publicKey: base64(publicKey), signature: base64(signature) };
    });
    quotes.sort((a, b) => a.committedKeyCount - b.committedKeyCount || (a.peer < b.peer ? -1 : 1));
    const paid = quotes[3]!;
    const signed = concatBytes(
      signedBytes(paid, content),
      Buffer.from(paid.publicKey, 'base64'),
      Buffer.from(paid.signature, 'base64'),
    );
    return {
      address,
      status: 'quoted' as const,
      plan: { address, ...(stateId === undefined ? {} : { stateId }), size, quotes },
      quoteHash: `0x${bytesToHex(keccak_256(signed))}`,
      rewardsAddress,
      amount: `${3n * BigInt(paid.price)}`,
    };
  }

  #counts(): Record<string, string> {
    const counts = this.faults.nodeCounts === undefined ? [7, 0] : this.faults.nodeCounts;
    if (!counts) return {};
    return { 'antway-holding-nodes': `${counts[0]}`, 'antway-other-nodes': `${counts[1]}` };
  }

  async #answer(request: IncomingMessage): Promise<[number, unknown?]> {
    const body = await buffer(request);
    if (request.method === 'OPTIONS') return [200, {}];
    const { info, offer = (honest: Offer) => honest } = this.faults;
    if (request.url === '/network/info') {
      const { token, vault } = this.chain;
      return [
        200,
        { chainId: 31337, token, vault, settlementVersion: 1, maxQuotes: 64, merkle: true, ...info },
      ];
    }
    if (request.url === '/network/quotes') {
      const { records } = JSON.parse(body.toString()) as {
        records: { address: string; size?: number; stateId?: string }[];
      };
      const answers = records.map(({ size = pointerBytes, ...record }) =>
        record.stateId === undefined && !this.faults.hasNoStored && this.stored.has(record.address)
          ? { address: record.address, status: 'stored' }
          : offer(this.offer({ ...record, size })),
      );
      return [200, { records: answers }];
    }
    if (request.url === '/network/merkle') return this.#pools(JSON.parse(body.toString()));
    const [, path, address] = /^\/(.*)\/([0-9a-f]{64})$/.exec(request.url!) ?? [];
    if (request.method === 'PUT') {
      if (path !== 'pointer') return [await this.#put(address!, body), {}];
      await this.#delayWrite();
      this.ownPointers.set(address!, body);
      return [201, {}];
    }
    // It is a peer as well.
    if (request.url === '/-/info') return [200, { name: 'double', protocol: 1 }];
    if (path === 'network/pointer' && this.faults.readAnswer) return this.faults.readAnswer;
    if (path === 'pointer') await delay(this.faults.peerDelayMs ?? 0, undefined, { ref: false });
    const found = this.#find(path, address ?? '');
    return found ? [200, found] : [404, { code: 'NOT_FOUND', message: 'There is none.' }];
  }

  #find(path: string | undefined, address: string): Uint8Array | undefined {
    const inNetwork = this.faults.hidesPointers ? undefined : this.pointers.get(address);
    switch (path) {
      case 'chunk':
        return this.stored.get(address);
      case 'pointer':
        return this.ownPointers.get(address) ?? inNetwork;
      case 'network/pointer':
        return inNetwork;
      default:
        return undefined;
    }
  }

  /** The nodes of an honest pool. */
  pool(address: string, timestamp: number) {
    const { firstNode: from = 0, rewardsAddress = nodeAccount } = this.faults;
    const some = nodes.slice(from, from + 16).map(({ publicKey, secretKey }, i) => {
      const peer = bytesToHex(blake3(publicKey));
      const count = this.faults.committed?.[from + i] ?? 0;
      const binding = count === 0 ? noCommitment : commit(count, peer, publicKey, secretKey);
      const terms = { timestamp, price: `${priceOf(count)}`, rewardsAddress, ...binding };
      const signature = signOnce(signedPoolBytes(terms), secretKey);
      return { peer, ...terms, publicKey: base64(publicKey), signature: base64(signature) };
    });
    return { address, status: 'quoted' as const, nodes: some };
  }

  #pools({ timestamp, pools }: { timestamp: number; pools: string[] }): [number, unknown] {
    const { poolsStatus, hasNoPools, pools: change = (honest: Pool[]) => honest } = this.faults;
    if (poolsStatus) return [poolsStatus[0], { code: poolsStatus[1], message: '' }];
    if (Math.abs(Date.now() / 1000 - timestamp) > 600) return [400, { code: 'BAD_TIME', message: '' }];
    if (hasNoPools) return [200, { pools: pools.map((address) => ({ address, status: 'unavailable' })) }];
    return [200, { pools: change(pools.map((address) => this.pool(address, timestamp))) }];
  }

  #delayWrite(): Promise<void> {
    return delay(this.faults.putDelayMs ?? 0, undefined, { ref: false });
  }

  async #put(address: string, body: Buffer): Promise<number> {
    const { putStatus, putFailures = Number.POSITIVE_INFINITY, forgets } = this.faults;
    if (putStatus !== undefined && putFailures > 0) {
      this.faults.putFailures = putFailures - 1;
      return putStatus;
    }
    await this.#delayWrite();
    const length = body.readUInt32LE();
    const head = JSON.parse(body.subarray(4, 4 + length).toString()) as { plan?: Plan; merkle?: BatchProof };
    const bytes = body.subarray(4 + length);
    if (head.merkle) return this.#putBatched(address, head.merkle, bytes);
    const plan = head.plan!;
    const isRecord =
      plan.stateId === undefined ? bytesToHex(blake3(bytes)) === address : plan.stateId === stateOf(bytes);
    if (!isRecord || plan.address !== address) return 422;
    if (!(await this.#isPaid(plan))) return 402;
    if (forgets) return 201;
    (plan.stateId === undefined ? this.stored : this.pointers).set(address, bytes);
    return 201;
  }

  /** Checks a proof as nodes do: the way to the root, the signatures, and what the chain says about the pool. */
  async #putBatched(address: string, proof: BatchProof, bytes: Uint8Array): Promise<number> {
    const { leaf, pool, root, timestamp } = proof;
    if (proof.address !== address || bytesToHex(blake3(bytes)) !== address) return 422;
    if (Date.now() / 1000 - timestamp > 7 * 24 * 60 * 60) return 410;
    const start = sha3_256(concatBytes(hexToBytes(address), hexToBytes(leaf.salt)));
    const midpoint = hexToBytes(pool.midpoint);
    const isInTree =
      rootOf(start, leaf) === root &&
      rootOf(midpoint, pool) === root &&
      pool.siblings.length === Math.ceil(leaf.siblings.length / 2);
    const isSigned = pool.nodes.every(
      (node) =>
        node.timestamp === timestamp &&
        hasSigned(
          Buffer.from(node.publicKey, 'base64'),
          signedPoolBytes(node),
          Buffer.from(node.signature, 'base64'),
        ),
    );
    if (!isInTree || !isSigned) return 400;
    if (!(await this.#isPoolPaid(proof))) return 402;
    if (!this.faults.forgets) this.stored.set(address, bytes);
    return 201;
  }

  /** Asks the vault, which answers the depth, the time, and of each paid node its account, number and amount. */
  async #isPoolPaid({ leaf, pool, root, timestamp }: BatchProof): Promise<boolean> {
    const depth = leaf.siblings.length;
    const selector = selectorOf('getCompletedMerklePayment(bytes32)');
    const data = `0x${selector}${poolHash(pool, root, timestamp)}`;
    const output = (await this.chain.request('eth_call', [
      { to: this.chain.vault, data },
      'latest',
    ])) as string;
    const [, paidDepth, paidTime, , count, ...nodes] = output.slice(2).match(/.{64}/g)!;
    const prices = pool.nodes.map(({ price }) => Number(BigInt(price) / 1_000_000n)).sort((a, b) => a - b);
    const least = (3n * BigInt(prices[8]!) * 1_000_000n * 2n ** BigInt(depth)) / BigInt(depth);
    const amounts = Array.from({ length: depth }, (_, i) => BigInt(`0x${nodes[3 * i + 2] ?? 0}`));
    return (
      [paidDepth, count].every((word) => BigInt(`0x${word}`) === BigInt(depth)) &&
      BigInt(`0x${paidTime}`) === BigInt(timestamp) &&
      amounts.every((amount) => amount >= least)
    );
  }

  async #isPaid(plan: Plan): Promise<boolean> {
    const paid = plan.quotes[Math.floor(plan.quotes.length / 2)]!;
    const parts = [hexToBytes(plan.stateId ?? plan.address), paid.publicKey, paid.signature] as const;
    const signed = concatBytes(
      signedBytes(paid, parts[0]),
      Buffer.from(parts[1], 'base64'),
      Buffer.from(parts[2], 'base64'),
    );
    const selector = selectorOf('completedPayments(bytes32)');
    const data = `0x${selector}${bytesToHex(keccak_256(signed))}`;
    const output = (await this.chain.request('eth_call', [
      { to: this.chain.vault, data },
      'latest',
    ])) as string;
    return BigInt(`0x${output.slice(2 + 64)}`) >= 3n * BigInt(paid.price);
  }
}

const selectorOf = (method: string) => bytesToHex(keccak_256(Buffer.from(method))).slice(0, 8);

function rootOf(start: Uint8Array, { index, siblings }: { index: number; siblings: string[] }): string {
  let hash = start;
  for (const [up, sibling] of siblings.map(hexToBytes).entries()) {
    const isRight = (index >> up) % 2 === 1;
    hash = sha3_256(isRight ? concatBytes(sibling, hash) : concatBytes(hash, sibling));
  }
  return bytesToHex(sha3_256(hash));
}

/** As nodes compute it from a proof. */
function poolHash(
  { index, siblings, midpoint, nodes }: BatchProof['pool'],
  root: string,
  time: number,
): string {
  const number = (value: number | bigint, length: number) => {
    const digits = value.toString(16).padStart(2 * length, '0');
    return hexToBytes(digits).reverse();
  };
  const branch = [...siblings.map(hexToBytes), number(index, 8), number(2 ** siblings.length, 8)];
  const names = [hexToBytes(midpoint), hexToBytes(root), Uint8Array.of(0), number(time, 8)];
  const parts = nodes.map((node) => {
    const terms = signedPoolBytes(node);
    return concatBytes(Buffer.from(node.publicKey, 'base64'), terms, Buffer.from(node.signature, 'base64'));
  });
  return bytesToHex(
    sha3_256(concatBytes(sha3_256(concatBytes(...branch, ...names)), number(nodes.length, 4), ...parts)),
  );
}

/** The state of a pointer record, which is paid for. */
function stateOf(record: Uint8Array): string {
  const context = new TextEncoder().encode('autonomi.pointer.state.v1');
  return bytesToHex(blake3(record.subarray(0, 1 + 1952 + 8 + 1 + 32), { context }));
}

const signatures = new Map<string, Uint8Array>();

/** A signature takes long, and the nodes sign the same bytes for each pool, and the same commitments. */
export function signOnce(bytes: Uint8Array, secretKey: Uint8Array, options = {}): Uint8Array {
  const key = bytesToHex(blake3(concatBytes(bytes, secretKey)));
  const signature = signatures.get(key) ?? ml_dsa65.sign(bytes, secretKey, options);
  signatures.set(key, signature);
  return signature;
}

export const noCommitment = { committedKeyCount: 0, commitmentPin: null, commitment: null };

export function commit(keyCount: number, peer: string, key: Uint8Array, secretKey: Uint8Array) {
  const text = (value: string) => new TextEncoder().encode(value);
  const number = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return bytes;
  };
  const root = new Uint8Array(32).fill(9);
  const context = text('autonomi.ant.replication.storage_commitment.v1');
  const signed = concatBytes(root, number(keyCount), hexToBytes(peer), number(key.length), key);
  const signature = signOnce(signed, secretKey, { context });
  // 1952 and 3309 as postcard writes them.
  const lengths = [Uint8Array.of(0xa0, 0x0f), Uint8Array.of(0xed, 0x19)] as const;
  const count =
    keyCount < 128 ? Uint8Array.of(keyCount) : Uint8Array.of((keyCount & 127) | 128, keyCount >> 7);
  const encoded = concatBytes(root, count, hexToBytes(peer), lengths[0], key, lengths[1], signature);
  const pin = blake3(concatBytes(text('autonomi.ant.replication.commitment_hash.v1'), encoded));
  return {
    committedKeyCount: keyCount,
    commitmentPin: bytesToHex(pin),
    commitment: { root: bytesToHex(root), keyCount, signature: base64(signature) },
  };
}
