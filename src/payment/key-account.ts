import { addr, Transaction } from 'micro-eth-signer';
import type { Account } from './account.ts';
import { checkFees } from './fee-limit.ts';
import type { SentTransaction } from './journal.ts';
import { type Call, count, type Vault } from './vault.ts';

/** Fees of a chain may rise before a block takes the transaction. The chain charges only the fee of the block. */
const feeMargin = 2n;
/** In percent of the estimate. */
const gasMargin = 120n;

/** An account whose key this program has. */
export class KeyAccount implements Account {
  readonly address: string;
  readonly asksUser = false;
  readonly #key: Uint8Array;
  readonly #vault: Vault;

  /** @param key 32 bytes. @throws Error if it is not a key. */
  constructor(key: Uint8Array, vault: Vault) {
    this.address = addr.fromPrivateKey(key).toLowerCase();
    this.#key = key;
    this.#vault = vault;
  }

  async send(
    call: Call,
    note: (transaction: SentTransaction) => Promise<void>,
    maxFee: bigint,
  ): Promise<string> {
    const [gas, price, nonce] = await Promise.all([
      this.#vault.ask(count, 'eth_estimateGas', { ...call, from: this.address }),
      this.#vault.gasPrice(),
      this.#vault.ask(count, 'eth_getTransactionCount', this.address, 'pending'),
    ]);
    const transaction = {
      ...call,
      value: 0n,
      chainId: BigInt(this.#vault.chain.chainId),
      nonce,
      gasLimit: (gas * gasMargin) / 100n,
      maxFeePerGas: price * feeMargin,
      maxPriorityFeePerGas: 0n,
    };
    // Security: the endpoint names the gas and its price, and the signature would allow both.
    checkFees(transaction.gasLimit * transaction.maxFeePerGas, maxFee);
    // Not strict: on Arbitrum, the gas includes the share of the layer below, and may exceed the limit of a block there.
    const signed = Transaction.prepare(transaction, false).signBy(this.#key);
    const hash = withPrefix(signed.hash);
    const raw = signed.toHex();
    await note({ id: hash, hash, raw, account: this.address, nonce: Number(nonce) });
    await this.#vault.request('eth_sendRawTransaction', raw);
    return hash;
  }
}

const withPrefix = (hex: string) => (hex.startsWith('0x') ? hex : `0x${hex}`);
