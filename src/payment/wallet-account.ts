import type { Account } from './account.ts';
import { arbitrumOne, type PaymentChain } from './chain.ts';
import { paymentError } from './errors.ts';
import type { SentTransaction } from './journal.ts';
import type { Call, Vault } from './vault.ts';

/** As EIP-3085 describes a chain. Wallets need it once, if they do not know the chain. */
const arbitrum = {
  chainName: 'Arbitrum One',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://arb1.arbitrum.io/rpc'],
  blockExplorerUrls: ['https://arbiscan.io'],
};

/** EIP-3326: the wallet does not know the chain. */
const unknownChain = 4902;

/**
 * An account of a wallet (EIP-1193). The wallet has the key, shows each transaction to the user and sends it. No
 * program can send it again, so `pay` bounds what a forgotten transaction can do.
 */
export class WalletAccount implements Account {
  readonly asksUser = true;

  private constructor(
    readonly address: string,
    private readonly vault: Vault,
  ) {}

  /**
   * Asks the user for an account, and the wallet to change to the chain.
   * @throws AntwayError `REJECTED` if the user refuses, `CHAIN` if the wallet stays on another chain; as `Vault`.
   */
  static async connect(vault: Vault): Promise<WalletAccount> {
    const accounts = await vault.request('eth_requestAccounts');
    const address = accountsOf(accounts)[0];
    if (address === undefined) throw paymentError('REJECTED', 'The wallet gives access to no account.');
    await useChain(vault);
    return new WalletAccount(address, vault);
  }

  async send(call: Call, note: (transaction: SentTransaction) => Promise<void>): Promise<string> {
    await this.#checkAccount();
    await this.vault.checkChain();
    const transaction = { id: crypto.randomUUID(), account: this.address };
    await note(transaction);
    const sent = await this.vault.request('eth_sendTransaction', { ...call, from: this.address });
    const hash = String(sent).toLowerCase();
    if (!/^0x[0-9a-f]{64}$/.test(hash))
      throw paymentError('RPC', 'The wallet did not tell the hash of the transaction.');
    await note({ ...transaction, hash });
    return hash;
  }

  async #checkAccount(): Promise<void> {
    if (accountsOf(await this.vault.request('eth_accounts')).includes(this.address)) return;
    const message = `The wallet does not give access to the account ${this.address} any more. Choose it there, or connect again.`;
    throw paymentError('ACCOUNT', message, { account: this.address });
  }
}

async function useChain(vault: Vault): Promise<void> {
  const chainId = `0x${vault.chain.chainId.toString(16)}`;
  if (Number(await vault.request('eth_chainId')) !== vault.chain.chainId) {
    await changeChain(vault, chainId);
  }
  await vault.checkChain();
}

async function changeChain(vault: Vault, chainId: string): Promise<void> {
  try {
    await vault.request('wallet_switchEthereumChain', { chainId });
  } catch (error) {
    if (codeOf(error) !== unknownChain) throw error;
    if (vault.chain.chainId !== arbitrumOne.chainId) throw otherUnknownChain(vault.chain, error);
    await vault.request('wallet_addEthereumChain', { chainId, ...arbitrum });
  }
}

function otherUnknownChain({ chainId }: PaymentChain, cause: unknown): Error {
  const message = `The wallet does not know the chain ${chainId}. Add it to the wallet first.`;
  return paymentError('CHAIN', message, { chainId }, cause);
}

/** The code of the wallet's own error. */
function codeOf(error: unknown): unknown {
  return ((error as Error).cause as { code?: unknown } | undefined)?.code;
}

function accountsOf(accounts: unknown): string[] {
  const isAddress = (value: unknown) => typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value);
  return Array.isArray(accounts) ? accounts.filter(isAddress).map((value) => value.toLowerCase()) : [];
}
