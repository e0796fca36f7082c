import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { createContract } from 'micro-eth-signer/abi.js';
import * as v from 'valibot';
import * as s from '../schema.ts';
import { delay } from '../util/delay.ts';
import { sanitizeText } from '../util/sanitize-text.ts';
import { type Batch, depthOf, poolPayments } from './batch.ts';
import { isNetworkChain, type PaymentChain } from './chain.ts';
import { paymentError } from './errors.ts';
import type { Offer } from './quotes.ts';

/** Access to a chain as wallets and RPC endpoints give it (EIP-1193). */
export interface Provider {
  request(request: { method: string; params?: readonly unknown[] }): Promise<unknown>;
}

/** A transaction that sends no ether. */
export interface Call {
  to: string;
  /** `0x` and hex digits. */
  data: string;
}

/** The result of a transaction. */
export interface Receipt {
  isSuccess: boolean;
  /** In wei. */
  fee: bigint;
}

/** The pool of a batch that the vault has paid. */
export interface PaidPool {
  pool: number;
  /** In atto. */
  amount: bigint;
}

/** Another transaction has the nonce. The chain shows at this block which payments were made. */
export interface Replaced extends Receipt {
  replacedAt: string;
}

const uint256 = <const Name extends string>(name: Name) => ({ name, type: 'uint256' }) as const;
const address = <const Name extends string>(name: Name) => ({ name, type: 'address' }) as const;

const tokenContract = createContract([
  { type: 'function', name: 'balanceOf', inputs: [address('account')], outputs: [uint256('balance')] },
  {
    type: 'function',
    name: 'allowance',
    inputs: [address('owner'), address('spender')],
    outputs: [uint256('amount')],
  },
  {
    type: 'function',
    name: 'approve',
    inputs: [address('spender'), uint256('amount')],
    outputs: [{ name: 'ok', type: 'bool' }],
  },
] as const);

const vaultContract = createContract([
  {
    type: 'function',
    name: 'payForQuotes',
    inputs: [
      {
        name: 'payments',
        type: 'tuple[]',
        components: [address('rewardsAddress'), uint256('amount'), { name: 'quoteHash', type: 'bytes32' }],
      },
    ],
    outputs: [],
  },
  {
    type: 'function',
    name: 'completedPayments',
    inputs: [{ name: 'quoteHash', type: 'bytes32' }],
    outputs: [
      { name: 'rewardsAddress', type: 'bytes16' },
      { name: 'amount', type: 'uint128' },
    ],
  },
  {
    type: 'function',
    name: 'payForMerkleTree',
    inputs: [
      { name: 'depth', type: 'uint8' },
      {
        name: 'poolCommitments',
        type: 'tuple[]',
        components: [
          { name: 'poolHash', type: 'bytes32' },
          {
            name: 'candidates',
            type: 'tuple[16]',
            components: [address('rewardsAddress'), uint256('amount')],
          },
        ],
      },
      { name: 'merklePaymentTimestamp', type: 'uint64' },
    ],
    outputs: [],
  },
  {
    type: 'function',
    name: 'getCompletedMerklePayment',
    inputs: [{ name: 'winnerHash', type: 'bytes32' }],
    outputs: [
      {
        name: 'payment',
        type: 'tuple',
        components: [
          { name: 'depth', type: 'uint8' },
          { name: 'merklePaymentTimestamp', type: 'uint64' },
          {
            name: 'paidNodeAddresses',
            type: 'tuple[]',
            components: [address('rewardsAddress'), { name: 'poolIndex', type: 'uint8' }, uint256('amount')],
          },
        ],
      },
    ],
  },
] as const);

/** The vault of the network takes no more payments in one transaction (`evmlib` 0.10). */
export const maxPaymentsPerTransaction = 256;

/** Of the messages of wallets and endpoints. */
const mostMessageCharacters = 300;

/** EIP-1193: the user refused. */
const userRejected = 4001;

/** The newest block that the endpoint has. */
const latest = 'latest';

const number = (digits: number) => {
  const expectation = 'it must be a number in hex digits';
  const text = s.pattern(new RegExp(`^0x[0-9a-fA-F]{1,${digits}}$`), expectation);
  return v.pipe(
    text,
    v.transform((hex) => BigInt(hex)),
  );
};
const quantity = number(64);
/** A number that is also exact as a JavaScript number: of gas, of blocks, of transactions. */
export const count = number(13);
const hash = s.pattern(/^0x[0-9a-fA-F]{64}$/, 'it must be a hash');
const blockSchema = s.object({ hash });
const timeSchema = s.object({ timestamp: count });
const transactionSchema = s.object({ nonce: count });
const receiptSchema = s.object({
  transactionHash: hash,
  status: count,
  gasUsed: count,
  effectiveGasPrice: v.optional(quantity),
});

const receiptPollMs = 500;
const receiptTimeoutMs = 300_000;

/** The contracts of a chain. Every method throws an AntwayError `RPC` if the provider fails. */
export class Vault {
  constructor(
    readonly chain: PaymentChain,
    private readonly provider: Provider,
  ) {}

  /** Makes sure that the provider is on the chain. @throws AntwayError `CHAIN`. */
  async checkChain(): Promise<void> {
    const id = Number(await this.ask(count, 'eth_chainId'));
    if (id === this.chain.chainId) return;
    const message = `The wallet or RPC endpoint is on chain ${id}, and the payment is on chain ${this.chain.chainId}. Nothing was paid.`;
    throw paymentError('CHAIN', message, { chainId: id });
  }

  /** @returns the balance of the token, in atto. */
  async balance(account: string): Promise<bigint> {
    return this.#read(this.chain.token, tokenContract.balanceOf, account);
  }

  /** @returns the amount that the vault may take from the account after a block, in atto. */
  async allowance(account: string, block: string = latest): Promise<bigint> {
    const parties = { owner: account, spender: this.chain.vault };
    return this.#read(this.chain.token, tokenContract.allowance, parties, block);
  }

  /** @returns the ether of an account, in wei. */
  async ether(account: string): Promise<bigint> {
    return this.ask(quantity, 'eth_getBalance', account, latest);
  }

  /** Whether the vault has a payment of at least this amount for a quote, after a block. */
  async isPaid(
    { quoteHash, amount }: Pick<Offer, 'quoteHash' | 'amount'>,
    block: string = latest,
  ): Promise<boolean> {
    const hash = hexToBytes(quoteHash.slice(2));
    const paid = await this.#read(this.chain.vault, vaultContract.completedPayments, hash, block);
    return paid.amount >= BigInt(amount);
  }

  /** Lets the vault take exactly this amount. */
  approval(amount: bigint): Call {
    const data = tokenContract.approve.encodeInput({ spender: this.chain.vault, amount });
    return { to: this.chain.token, data: `0x${bytesToHex(data)}` };
  }

  /** Pays for at most `maxPaymentsPerTransaction` offers. */
  payment(offers: readonly Offer[]): Call {
    const payments = offers.map(({ rewardsAddress, amount, quoteHash }) => ({
      rewardsAddress,
      amount: BigInt(amount),
      quoteHash: hexToBytes(quoteHash.slice(2)),
    }));
    const data = vaultContract.payForQuotes.encodeInput(payments);
    return { to: this.chain.vault, data: `0x${bytesToHex(data)}` };
  }

  /** Pays for a batch. The vault chooses one of its pools. */
  batchPayment(batch: Batch): Call {
    const poolCommitments = poolPayments(batch).map(({ hash, nodes }) => ({
      poolHash: hash,
      candidates: [...nodes],
    }));
    const data = vaultContract.payForMerkleTree.encodeInput({
      depth: BigInt(depthOf(batch)),
      poolCommitments,
      merklePaymentTimestamp: BigInt(batch.timestamp),
    });
    return { to: this.chain.vault, data: `0x${bytesToHex(data)}` };
  }

  /**
   * Finds the pool of a batch that the vault has chosen and paid, after a block. A payment of others for the same pool does
   * not count, unless it is as high as the user's.
   * @returns undefined if there is none.
   */
  async paidPool(batch: Batch, block: string = latest): Promise<PaidPool | undefined> {
    const depth = depthOf(batch);
    for (const [pool, { hash, nodes, charge }] of poolPayments(batch).entries()) {
      const paid = await this.#read(this.chain.vault, vaultContract.getCompletedMerklePayment, hash, block);
      const { paidNodeAddresses, merklePaymentTimestamp } = paid;
      const amount = paidNodeAddresses.reduce((sum, node) => sum + node.amount, 0n);
      const isPayment =
        Number(paid.depth) === depth &&
        Number(merklePaymentTimestamp) === batch.timestamp &&
        paidNodeAddresses.length === depth &&
        paidNodeAddresses.every(
          ({ rewardsAddress, poolIndex, amount }) =>
            nodes[Number(poolIndex)]?.rewardsAddress === rewardsAddress.toLowerCase() &&
            amount >= charge / BigInt(depth),
        );
      if (isPayment) return { pool, amount };
    }
    return undefined;
  }

  /** @returns the time of a block, in seconds since 1970. */
  async timeOf(block: string = latest): Promise<number> {
    const { timestamp } = await this.ask(timeSchema, 'eth_getBlockByNumber', block, false);
    return Number(timestamp);
  }

  /** The fees for an amount of gas, in wei. */
  async feesOf(gas: bigint): Promise<bigint> {
    return gas === 0n ? 0n : gas * (await this.gasPrice());
  }

  /** @returns the fee for a unit of gas, in wei. */
  gasPrice(): Promise<bigint> {
    return this.ask(count, 'eth_gasPrice');
  }

  /**
   * A name for the chain. Test chains can have the same id and the same contracts, but not the same first block. The name of
   * the real chain does not depend on the provider: with another journal, everything would be paid for again.
   */
  async fingerprint(): Promise<string> {
    const { chainId } = this.chain;
    if (isNetworkChain(this.chain)) return `${chainId}`;
    const { hash } = await this.ask(blockSchema, 'eth_getBlockByNumber', '0x0', false);
    return `${chainId}-${hash.slice(2, 18)}`;
  }

  /** @returns the number of the newest block, as methods take it. */
  async newestBlock(): Promise<string> {
    return `0x${(await this.ask(count, 'eth_blockNumber')).toString(16)}`;
  }

  /** @returns how many transactions of an account are in the blocks up to this one. */
  async transactionCount(account: string, block: string): Promise<number> {
    return Number(await this.ask(count, 'eth_getTransactionCount', account, block));
  }

  /** @returns undefined while the chain does not have the transaction in a block. */
  async receipt(hash: string): Promise<Receipt | undefined> {
    const receipt = await this.ask(v.nullable(receiptSchema), 'eth_getTransactionReceipt', hash);
    if (!receipt) return undefined;
    const { transactionHash, status, gasUsed, effectiveGasPrice = 0n } = receipt;
    if (transactionHash.toLowerCase() !== hash)
      throw paymentError('RPC', `It sent the receipt of ${transactionHash} instead of ${hash}.`, { hash });
    return { isSuccess: status === 1n, fee: gasUsed * effectiveGasPrice };
  }

  /** @returns the nonce of a transaction, or undefined if the provider does not know the transaction. */
  async nonceOf(hash: string): Promise<number | undefined> {
    const transaction = await this.ask(v.nullable(transactionSchema), 'eth_getTransactionByHash', hash);
    return transaction ? Number(transaction.nonce) : undefined;
  }

  /**
   * Waits until the transaction is in a block.
   * @returns `Replaced` if another transaction took its nonce, such as one with higher fees for the same call.
   * @throws AntwayError `PENDING` after five minutes.
   */
  async confirmed(
    { hash, account, nonce }: { hash: string; account: string; nonce?: number },
    signal: AbortSignal,
  ): Promise<Receipt | Replaced> {
    const endMs = Date.now() + receiptTimeoutMs;
    let known = nonce;
    for (;;) {
      const receipt = await this.receipt(hash);
      if (receipt) return receipt;
      const replacedAt = await this.newestBlock();
      const seen = await this.nonceOf(hash);
      known = seen ?? known;
      const isReplaced =
        seen === undefined &&
        known !== undefined &&
        (await this.transactionCount(account, replacedAt)) > known &&
        (await this.receipt(hash)) === undefined;
      if (isReplaced) return { isSuccess: false, fee: 0n, replacedAt };
      if (Date.now() > endMs) {
        const message = `The chain has not confirmed transaction ${hash} yet. Continue later with the same files: nothing is paid twice.`;
        throw paymentError('PENDING', message, { transaction: hash });
      }
      await delay(receiptPollMs, signal);
    }
  }

  /** @throws AntwayError `RPC` also for an answer of another form. */
  async ask<T>(schema: s.Schema<T>, method: string, ...params: unknown[]): Promise<T> {
    const value = await this.request(method, ...params);
    try {
      return s.parse(schema, value, 'CORRUPT', `The answer to ${method}`);
    } catch (error) {
      throw paymentError('RPC', (error as Error).message, { method }, error);
    }
  }

  async request(method: string, ...params: unknown[]): Promise<unknown> {
    try {
      return await this.provider.request({ method, params });
    } catch (error) {
      const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
      if (code === userRejected)
        throw paymentError(
          'REJECTED',
          'You refused this in the wallet. Nothing was paid.',
          { method },
          error,
        );
      throw paymentError(
        'RPC',
        `The wallet or RPC endpoint failed at ${method}: ${sanitizeText(String(message ?? 'it gave no reason'), mostMessageCharacters)}`,
        { method },
        error,
      );
    }
  }

  async #read<Input, Output>(
    to: string,
    method: { encodeInput(input: Input): Uint8Array; decodeOutput(bytes: Uint8Array): Output },
    input: Input,
    block: string = latest,
  ): Promise<Output> {
    const data = `0x${bytesToHex(method.encodeInput(input))}`;
    const output = (await this.request('eth_call', { to, data }, block)) as string;
    try {
      return method.decodeOutput(hexToBytes(output.slice(2)));
    } catch (error) {
      const message = `There is no contract of the network at ${to} on this chain.`;
      throw paymentError('CHAIN', message, { contract: to }, error);
    }
  }
}
