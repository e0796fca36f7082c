import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { buildCli } from '../../src/cli/setup.mjs';
import { runCli } from '../support/cli-process.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { TestChain } from '../support/test-chain.ts';

/** The price of a record at nodes without records: three times 0.00390625 ANT. */
const recordPrice = 11_718_750_000_000_000n;

// Each command encrypts, and nodes of the tests sign slowly.
vi.setConfig({ testTimeout: 300_000 });

const folder = mkdtempSync(join(tmpdir(), 'antway-price-'));
const file = join(folder, 'file.txt');
let chain: TestChain;
let relay: RelayDouble;

beforeAll(async () => {
  await buildCli();
  chain = await TestChain.start();
  writeFileSync(file, 'what does it cost?');
}, 120_000);
afterAll(async () => {
  await chain.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  relay = await RelayDouble.start(chain);
  onTestFinished(() => relay.stop());
});

/** Without a key: no account can pay. */
const cost = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  runCli(['cost', file, '--chain', `${TestChain.chainId},${chain.token},${chain.vault}`, ...args], {
    env: { HOME: folder, XDG_STATE_HOME: join(folder, 'state'), ...env },
  });

describe('cost', () => {
  it('has the price of a relay, and tells what it rests on', async () => {
    const { code, stdout, stderr } = await cost(['--relay', relay.url]);
    expect(code).toBe(0);
    expect(stdout).toContain('In the network: 4 records: 0.046875 ANT, and the fees of the chain\n');
    expect(stderr).toMatch(
      new RegExp(`rests on \\d+ quotes that nodes have signed \\(\\S+Z to \\S+Z\\), by ${relay.url}\\.`),
    );
    expect(stderr).toContain('No second --relay has checked');
    expect(stderr).toContain('is a test chain');
    expect(stderr).toContain('Nothing was paid.');
    // Nothing is sent, and no journal is written.
    expect([relay.stored.size, existsSync(join(folder, 'state'))]).toEqual([0, false]);
  });

  it('estimates the fees with an RPC endpoint, as JSON too', async () => {
    const { code, stdout } = await cost(['--relay', relay.url, '--json'], { ANTWAY_RPC: chain.rpc });
    expect(code).toBe(0);
    const { address, price } = JSON.parse(stdout);
    expect(address).toMatch(/^[0-9a-f]{64}$/);
    expect(price).toMatchObject({
      ...{
        due: 4,
        stored: 0,
        amount: `${4n * recordPrice}`,
        chainId: TestChain.chainId,
        relays: [relay.url],
      },
    });
    expect(BigInt(price.fees)).toBeGreaterThan(0n);
    expect(price.quotes).toBeGreaterThanOrEqual(4 * 5);
  });

  it('counts only what the network has not', async () => {
    const { address } = JSON.parse((await cost(['--relay', relay.url, '--json'])).stdout);
    relay.stored.set(address, new Uint8Array(1));
    const { stdout } = await cost(['--relay', relay.url]);
    expect(stdout).toContain('In the network: 3 records (1 more are stored already): 0.03515625 ANT');
  });

  it('asks the configured peers with --network, and a second relay checks the first', async () => {
    const second = await RelayDouble.start(chain, relay.stored);
    onTestFinished(() => second.stop());
    const agreed = await cost(['--network'], { ANTWAY_PEERS: `${relay.url} ${second.url}` });
    expect([agreed.code, agreed.stderr]).toEqual([
      0,
      expect.stringContaining(`${second.url} named the same nodes.`),
    ]);
    // Another neighbourhood: one of the two invents nodes.
    second.faults = { firstNode: 7 };
    const differing = await cost(['--relay', relay.url, '--relay', second.url]);
    expect([differing.code, differing.stdout]).toEqual([1, '']);
    expect(differing.stderr).toContain('name different nodes');
  });

  it('has no price of a relay that lies', async () => {
    relay.faults = { offer: (offer) => ({ ...offer, amount: '1' }) };
    const lie = await cost(['--relay', relay.url]);
    expect([lie.code, lie.stdout]).toEqual([1, '']);
    relay.faults = { info: { chainId: 1 } };
    const elsewhere = await cost(['--relay', relay.url]);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      1,
      expect.stringContaining('wants to be paid elsewhere'),
    ]);
  });

  it.each<[string[], RegExp]>([
    [[], /^USAGE: --chain needs --network or --relay/],
    [['--relay', 'ftp://x'], /^USAGE: “ftp:\/\/x” is no relay/],
    [['--relay', 'http://127.0.0.1:1', '--relay', 'http://127.0.0.1:1'], /^USAGE: .* is named twice/],
    [['--relay', 'http://127.0.0.1:1', '--rpc', 'https://u:p@rpc.example'], /^USAGE: The RPC endpoint/],
  ])('ends with code 2 for %j', async (args, message) => {
    const { code, stderr } = await cost(args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
    expect(stderr).not.toContain('u:p');
  });
});
