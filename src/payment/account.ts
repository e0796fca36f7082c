import { addr, Transaction } from 'micro-eth-signer';
import type { Call, Vault } from './vault.ts';

/** A transaction that is about to be sent. */
export interface SignedTransaction {
  /** `0x` and 64 hex digits. */
  hash: string;
  /** `0x` and hex digits. It may be sent any number of times: the chain takes it once. */
  raw: string;
  account: string;
  /** The chain executes at most one transaction of an account for each number. */
  nonce: number;
}

/** An account that can sign. Each method throws as `Vault` does. */
export interface Account {
  /** `0x` and 40 lower-case hex digits. */
  readonly address: string;
  /** Signs a call for the next free nonce, without sending it. */
  sign(call: Call): Promise<SignedTransaction>;
}

/** Fees of a chain may rise before a block takes the transaction. The chain charges only the fee of the block. */
const feeMargin = 2n;
/** In percent of the estimate. */
const gasMargin = 120n;

/** An account whose key this program has. */
export class KeyAccount implements Account {
  readonly address: string;
  readonly #key: Uint8Array;
  readonly #vault: Vault;

  /** @param key 32 bytes. @throws Error if it is not a key. */
  constructor(key: Uint8Array, vault: Vault) {
    this.address = addr.fromPrivateKey(key).toLowerCase();
    this.#key = key;
    this.#vault = vault;
  }

  async sign(call: Call): Promise<SignedTransaction> {
    const [gas, price, nonce] = (await Promise.all([
      this.#vault.request('eth_estimateGas', { ...call, from: this.address }),
      this.#vault.request('eth_gasPrice'),
      this.#vault.request('eth_getTransactionCount', this.address, 'pending'),
    ])) as [string, string, string];
    const transaction = Transaction.prepare({
      ...call,
      value: 0n,
      chainId: BigInt(this.#vault.chain.chainId),
      nonce: BigInt(nonce),
      gasLimit: (BigInt(gas) * gasMargin) / 100n,
      maxFeePerGas: BigInt(price) * feeMargin,
      maxPriorityFeePerGas: 0n,
    }).signBy(this.#key);
    return {
      hash: withPrefix(transaction.hash),
      raw: transaction.toHex(),
      account: this.address,
      nonce: Number(nonce),
    };
  }
}

const withPrefix = (hex: string) => (hex.startsWith('0x') ? hex : `0x${hex}`);
