import type { Provider } from '../../src/payment/vault.ts';
import type { TestChain } from './test-chain.ts';

type Request = Parameters<Provider['request']>[0];

/** A wallet (EIP-1193) whose accounts the test chain signs for. Its user agrees to everything, unless a test says else. */
export class TestWallet implements Provider {
  chainId = '0x7a69';
  accounts: readonly string[];
  /** Called before a transaction is sent. It can wait, or refuse. */
  onSend: (send: () => Promise<unknown>) => Promise<unknown> = (send) => send();
  /** Answers to the requests of other methods. */
  readonly answers = new Map<string, () => unknown>();
  readonly asked: string[] = [];

  constructor(private readonly chain: TestChain) {
    this.accounts = [chain.accounts[0]!];
  }

  async request({ method, params = [] }: Request): Promise<unknown> {
    this.asked.push(method);
    const answer = this.answers.get(method);
    if (answer) return answer();
    if (method === 'eth_chainId') return this.chainId;
    if (method === 'eth_requestAccounts' || method === 'eth_accounts') return this.accounts;
    const send = () => this.chain.request(method, params);
    return method === 'eth_sendTransaction' ? this.onSend(send) : send();
  }
}

/** The error of a wallet. 4001: the user refused. 4902: the wallet does not know the chain. */
export function walletError(code: number, message: string): Error {
  return Object.assign(new Error(message), { code });
}
