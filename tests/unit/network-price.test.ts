// @module-tag slow
// @module-tag unix
import '../support/remembered-signatures.ts';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { buildCli } from '../../src/cli/setup.mjs';
import { runCli } from '../support/cli-process.ts';
import { RelayDouble, type RelayFaults } from '../support/relay-double.ts';
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

type Offer = Parameters<NonNullable<RelayFaults['offer']>>[0];
type Quote = Offer['plan']['quotes'][number];
const withOffer = (change: object): RelayFaults => ({ offer: (offer) => ({ ...offer, ...change }) });
const withPlan = (change: object): RelayFaults => ({
  offer: (offer) => ({ ...offer, plan: { ...offer.plan, ...change } }),
});
const withQuotes = (change: (quotes: Quote[]) => object[]): RelayFaults => ({
  offer: (offer) => ({ ...offer, plan: { ...offer.plan, quotes: change(offer.plan.quotes) } }),
});
const withQuote = (change: object) =>
  withQuotes(([first, ...others]) => [{ ...first, ...change }, ...others]);

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

  it('estimates the fees with an RPC endpoint, as JSON too', { tags: 'full' }, async () => {
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

  it('counts only what the network has not', { tags: 'full' }, async () => {
    const { address } = JSON.parse((await cost(['--relay', relay.url, '--json'])).stdout);
    relay.stored.set(address, new Uint8Array(1));
    const { stdout, stderr } = await cost(['--relay', relay.url]);
    expect(stdout).toContain('In the network: 3 records (1 more are stored already): 0.03515625 ANT');
    expect(stderr).toContain(`Only ${relay.url} says that the network has 1 record already.`);
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
    expect([differing.code, differing.stdout]).toEqual([5, '']);
    expect(differing.stderr).toContain('name different nodes');
  });

  it.each<[string, RelayFaults, problem: string, RegExp]>([
    ['a lower sum', withOffer({ amount: '1' }), 'QUOTE', /three times/],
    ['another account', withOffer({ rewardsAddress: `0x${'08'.repeat(20)}` }), 'QUOTE', /another account/],
    ['another hash', withOffer({ quoteHash: `0x${'08'.repeat(32)}` }), 'QUOTE', /hash/],
    ['another record', withPlan({ address: 'ab'.repeat(32) }), 'QUOTE', /another record/],
    ['too few nodes', withQuotes((quotes) => quotes.slice(1)), 'QUOTE', /6 quotes instead of 7/],
    ['a node twice', withQuotes((quotes) => [...quotes.slice(1), quotes[6]!]), 'QUOTE', /in it twice/],
    ['a price of its own', withQuote({ price: '1' }), 'QUOTE', /rule of the network/],
    ['a time that no node signed', withQuote({ timestamp: 1_795_000_001 }), 'QUOTE', /did not sign/],
    ['a time after all dates', { timestamp: 253_402_300_800 }, 'QUOTE', /before the year 10000/],
    ['nodes with too many records', { committed: Array(14).fill(1_000_001) }, 'QUOTE', /too many records/],
    ['no offer', { offer: () => '\u001b[31mfree' }, 'QUOTE', /cannot be read/],
    ['another chain', { info: { chainId: 1 } }, 'CHAIN', /wants to be paid elsewhere/],
    ['commands for the terminal', { info: { token: '\u001b[31m' } }, 'QUOTE', /cannot be read/],
  ])('has no price of a relay with %s', async (_, faults, problem, message) => {
    relay.faults = faults;
    const { code, stdout, stderr } = await cost(['--relay', relay.url, '--json']);
    expect([code, stdout]).toEqual([problem === 'CHAIN' ? 6 : 5, '']);
    const error = JSON.parse(stderr);
    expect(error).toMatchObject({ details: { payment: problem }, message: expect.stringMatching(message) });
    expect(stderr).not.toContain('\u001b');
  });

  it('says who claims it if all is stored already', async () => {
    const { address } = JSON.parse((await cost(['--relay', relay.url, '--json'])).stdout);
    relay.faults = { offer: ({ address }) => ({ address, status: 'stored' }) };
    const { code, stdout, stderr } = await cost(['--relay', relay.url]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('In the network: 0 records (4 more are stored already): 0 ANT'),
    ]);
    expect(stdout).toContain(address);
    expect(stderr).toContain(`Only ${relay.url} says that the network has 4 records already.`);
    expect(stderr).not.toContain('signed');
    const second = await RelayDouble.start(chain);
    onTestFinished(() => second.stop());
    const both = await cost(['--relay', relay.url, '--relay', second.url]);
    expect([both.code, both.stdout, both.stderr]).toEqual([5, '', expect.stringContaining('Only one of')]);
  });

  it.each<[string[], RegExp]>([
    [[], /^USAGE: --chain needs --network or --relay/],
    [['--network', '--peer', 'antd+http://127.0.0.1:1'], /^USAGE: antd\+http:\S+ cannot be written to/],
    [['--relay', 'ftp://x'], /^USAGE: “ftp:\/\/x” is no relay/],
    [['--relay', 'http://127.0.0.1:1', '--relay', 'http://127.0.0.1:1'], /^USAGE: .* is named twice/],
    [['--relay', 'http://127.0.0.1:1', '--rpc', 'https://u:p@rpc.example'], /^USAGE: The RPC endpoint/],
  ])('ends with code 2 for %j', async (args, message) => {
    const { code, stderr } = await cost(args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
    expect(stderr).not.toContain('u:p');
  });
});
