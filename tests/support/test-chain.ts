import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fromRoot } from './paths.ts';

/** A program that is installed, or the one of `tests/chain`. */
const cpu = process.arch === 'x64' ? 'amd64' : process.arch;
const anvil =
  process.env.ANTWAY_ANVIL ??
  fromRoot(`tests/chain/node_modules/@foundry-rs/anvil-${process.platform}-${cpu}/bin/anvil`);

/** As the network's own test chains have it. The vault of the real network takes 256. */
const batchLimit = 512n;

/** The key of an account that has ether and the whole supply of the token, known to everyone. */
export const richKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';

/** A block chain in a process of its own, with the contracts that the network's own software deploys. */
export class TestChain {
  private constructor(
    private readonly child: ChildProcess,
    readonly rpc: string,
    /** Accounts with ether. The first one also has the whole supply of the token. */
    readonly accounts: readonly string[],
    readonly token: string,
    readonly vault: string,
  ) {}

  static readonly chainId = 31337;

  /** @param options of anvil, such as `--block-time 1`. Otherwise each transaction gets a block at once. */
  static async start(...options: string[]): Promise<TestChain> {
    if (!existsSync(anvil))
      throw new Error('There is no anvil here. Install Foundry, and name it in ANTWAY_ANVIL.');
    const child = spawn(anvil, ['--port', '0', '--chain-id', String(TestChain.chainId), ...options], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const rpc = `http://${await addressOf(child)}`;
      const accounts = (await call(rpc, 'eth_accounts')) as string[];
      const [deployer] = accounts as [string];
      const token = await deploy(rpc, deployer, 'AutonomiNetworkToken', '');
      const vault = await deploy(rpc, deployer, 'PaymentVaultV2', word(BigInt(token)) + word(batchLimit));
      return new TestChain(child, rpc, accounts, token, vault);
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
  }

  /** Asks the chain. @throws Error with the chain's message. */
  request(method: string, params: readonly unknown[] = []): Promise<unknown> {
    return call(this.rpc, method, params);
  }

  /** Sends a transaction of the first account, and waits until it is in a block. */
  async execute(transaction: { to?: string | undefined; data?: string }): Promise<void> {
    const hash = await this.request('eth_sendTransaction', [{ from: this.accounts[0], ...transaction }]);
    await this.mined(hash as string);
  }

  /** The amounts of the first account: of the token in atto, and of ether in wei. */
  async balances(): Promise<{ token: bigint; ether: bigint }> {
    const [account] = this.accounts as [string];
    const data = `0x70a08231${word(BigInt(account))}`;
    const [token, ether] = await Promise.all([
      this.request('eth_call', [{ to: this.token, data }, 'latest']),
      this.request('eth_getBalance', [account, 'latest']),
    ]);
    return { token: BigInt(token as string), ether: BigInt(ether as string) };
  }

  /** Waits until a transaction is in a block. */
  async mined(hash: string): Promise<void> {
    await receiptOf(this.rpc, hash);
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const address = /^Listening on (\S+)$/.exec(line)?.[1];
    if (address === undefined) continue;
    child.stdout!.resume();
    return address;
  }
  throw new Error('anvil ended');
}

async function deploy(rpc: string, from: string, contract: string, parameters: string): Promise<string> {
  const file = fromRoot(`tests/fixtures/contracts/${contract}.json`);
  const { bytecode } = JSON.parse(await readFile(file, 'utf8'));
  const data = (bytecode.object ?? bytecode) + parameters;
  const hash = await call(rpc, 'eth_sendTransaction', [{ from, data }]);
  const { contractAddress } = await receiptOf(rpc, hash as string);
  return contractAddress.toLowerCase();
}

async function receiptOf(rpc: string, hash: string): Promise<{ contractAddress: string }> {
  for (;;) {
    const receipt = await call(rpc, 'eth_getTransactionReceipt', [hash]);
    if (receipt) return receipt as { contractAddress: string };
  }
}

const word = (value: bigint) => value.toString(16).padStart(64, '0');

async function call(rpc: string, method: string, params: readonly unknown[] = []): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(rpc, { method: 'POST', headers, body });
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}
