import type { BrowserContext, Page } from '@playwright/test';
import type { TestChain } from './test-chain.ts';

/** The answer of the wallet's user to the next transactions. `hold` leaves them unanswered. */
type Mode = 'agree' | 'refuse' | 'hold';

interface WalletInPage {
  mode: Mode;
  chainId: string;
  accounts: string[];
  /** The methods that were asked, in their order. */
  asked: string[];
  /** Sends the transactions that were left unanswered, as soon as there is one. */
  agreeLate(): Promise<unknown[]>;
}

/** Puts a wallet into all pages of a context, which announces itself (EIP-6963). The test chain signs for its accounts. */
export async function installWallet(context: BrowserContext, chain: TestChain): Promise<void> {
  const { rpc, accounts } = chain;
  await context.addInitScript(
    ({ rpc, account }) => {
      const held: (() => Promise<unknown>)[] = [];
      const wallet: WalletInPage = {
        mode: 'agree',
        chainId: '0x7a69',
        accounts: [account],
        asked: [],
        async agreeLate() {
          // The page says that the wallet asks shortly before it does.
          while (held.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
          return Promise.all(held.splice(0).map((send) => send()));
        },
      };
      const ask = async (method: string, params: readonly unknown[]) => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
        const response = await fetch(rpc, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        });
        const { result, error } = await response.json();
        if (error) throw Object.assign(new Error(error.message), { code: error.code });
        return result;
      };
      const provider = {
        async request({ method, params = [] }: { method: string; params?: readonly unknown[] }) {
          wallet.asked.push(method);
          if (method === 'eth_chainId') return wallet.chainId;
          if (method === 'eth_requestAccounts' || method === 'eth_accounts') return wallet.accounts;
          if (method === 'wallet_switchEthereumChain')
            throw Object.assign(new Error('Unrecognized chain ID.'), { code: 4902 });
          if (method !== 'eth_sendTransaction' || wallet.mode === 'agree') return ask(method, params);
          if (wallet.mode === 'refuse')
            throw Object.assign(new Error('User rejected the request.'), { code: 4001 });
          return new Promise((resolve) => {
            held.push(async () => {
              const hash = await ask(method, params);
              resolve(hash);
              return hash;
            });
          });
        },
      };
      Object.assign(window, { testWallet: wallet });
      const detail = Object.freeze({
        info: {
          uuid: '350670db-19fa-4704-a166-e52e178b59d2',
          name: 'Test Wallet',
          icon: 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>',
          rdns: 'example.wallet',
        },
        provider,
      });
      const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
      addEventListener('eip6963:requestProvider', announce);
      announce();
    },
    { rpc, account: accounts[0]! },
  );
}

/** The wallet in a page. */
export function walletIn(page: Page) {
  return {
    set: (part: Partial<Pick<WalletInPage, 'mode' | 'chainId' | 'accounts'>>) =>
      page.evaluate((values) => {
        Object.assign((window as unknown as { testWallet: WalletInPage }).testWallet, values);
      }, part),
    asked: () => page.evaluate(() => (window as unknown as { testWallet: WalletInPage }).testWallet.asked),
    agreeLate: () =>
      page.evaluate(() => (window as unknown as { testWallet: WalletInPage }).testWallet.agreeLate()),
  };
}
