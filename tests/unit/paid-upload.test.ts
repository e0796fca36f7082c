// @module-tag slow
// @module-tag unix
import '../support/remembered-signatures.ts';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { priceOf } from '../../src/payment/node-price.ts';
import { paidSink } from '../../src/payment/upload.ts';
import { delay } from '../../src/util/delay.ts';
import { type CliOutcome, runCli } from '../support/cli-process.ts';
import { memoryJournal } from '../support/memory-journal.ts';
import { fromRoot } from '../support/paths.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { richKey, TestChain } from '../support/test-chain.ts';

/** The price of a record at nodes without records: three times 0.00390625 ANT. */
const recordPrice = 11_718_750_000_000_000n;
/** A file of three chunks, and its data map. */
const fileRecords = 4;
/** A command takes three seconds on a quiet machine. */
const commandMs = 40_000;

let chain: TestChain;
let relay: RelayDouble;
let folder: string;
let files = 0;

beforeAll(async () => {
  chain = await TestChain.start();
});
afterAll(() => chain.stop());
beforeEach(async () => {
  relay = await RelayDouble.start(chain);
  folder = await mkdtemp(join(tmpdir(), 'antway-paid-'));
});
afterEach(async () => {
  await relay.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A file with content that no other file has. */
async function newFile(): Promise<string> {
  const path = join(folder, `file-${++files}`);
  await writeFile(path, `content ${files}`);
  return path;
}

interface PublishOptions {
  relays?: readonly string[];
  env?: NodeJS.ProcessEnv;
  chain?: string;
  rpc?: string;
}

function publish(path: string, more: readonly string[], options: PublishOptions = {}): Promise<CliOutcome> {
  const { token, vault, rpc } = chain;
  const args = [
    ...['publish', path, '--network', '--json', '--journal', join(folder, 'journal')],
    ...['--chain', options.chain ?? `${TestChain.chainId},${token},${vault}`, '--rpc', options.rpc ?? rpc],
    ...(options.relays ?? [relay.url]).flatMap((url) => ['--relay', url]),
  ];
  return runCli([...args, ...more], { env: { ANTWAY_PRIVATE_KEY: richKey, ...options.env } });
}

const lines = ({ stdout }: CliOutcome) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** The balance of the paying account, in atto. */
async function balance(): Promise<bigint> {
  const data = `0x70a08231${chain.accounts[0]!.slice(2).padStart(64, '0')}`;
  return BigInt((await chain.request('eth_call', [{ to: chain.token, data }, 'latest'])) as string);
}

/** @returns what the work cost, in atto. */
async function spentBy(work: () => Promise<unknown>): Promise<bigint> {
  const before = await balance();
  await work();
  return before - (await balance());
}

/** The files of the journal about transactions that have not come to their end. */
async function transactions(): Promise<string[]> {
  const [name] = await readdir(join(folder, 'journal'));
  const files = await readdir(join(folder, 'journal', name!));
  return files.filter((file) => file.startsWith('transaction-'));
}

/** The error of a command that failed. */
function failure(outcome: CliOutcome): { code: string; payment: string } {
  expect(outcome.code).not.toBe(0);
  const { code, details } = JSON.parse(outcome.stderr.trim().split('\n').at(-1)!);
  return { code, payment: details.payment };
}

describe('publish --network', () => {
  it('pays the price that it names, and stores everything', async () => {
    const path = await newFile();
    const receipt = join(folder, 'receipt.json');
    let outcome!: CliOutcome;
    const spent = await spentBy(async () => {
      outcome = await publish(path, ['--max-cost', '1', '--receipt', receipt]);
    });
    expect(outcome.stderr).toBe('');
    const [price, paid, published] = lines(outcome);
    expect(spent).toBe(BigInt(fileRecords) * recordPrice);
    expect(price).toMatchObject({
      event: 'price',
      records: fileRecords,
      due: fileRecords,
      stored: 0,
      paid: 0,
    });
    expect([price.amount, paid.amount]).toEqual([`${spent}`, `${spent}`]);
    expect(BigInt(price.fees)).toBeGreaterThanOrEqual(BigInt(paid.fees));
    expect(published).toMatchObject({ network: true, size: 9, address: price.address });
    expect(relay.stored.size).toBe(fileRecords);
    expect(relay.stored.has(published.address)).toBe(true);

    const { payments, chain: payee } = JSON.parse(await readFile(receipt, 'utf8'));
    expect(payee).toEqual({ chainId: TestChain.chainId, token: chain.token, vault: chain.vault });
    expect(payments.map(({ address }: { address: string }) => address).sort()).toEqual(
      [...relay.stored.keys()].sort(),
    );
    expect(new Set(payments.map(({ transaction }: { transaction: string }) => transaction))).toEqual(
      new Set([paid.transactions.at(-1)]),
    );
  });

  it('pays nothing for records that the network has', { tags: 'full' }, async () => {
    const path = await newFile();
    await publish(path, ['--max-cost', '1']);
    await rm(join(folder, 'journal'), { recursive: true });
    const spent = await spentBy(async () => {
      const [price, published] = lines(await publish(path, ['--max-cost', '0']));
      expect(price).toMatchObject({ due: 0, stored: fileRecords, amount: '0', fees: '0' });
      expect(published.network).toBe(true);
    });
    expect(spent).toBe(0n);
  });

  it('only estimates with --estimate, without a key', async () => {
    const spent = await spentBy(async () => {
      const outcome = await publish(await newFile(), ['--estimate'], { env: { ANTWAY_PRIVATE_KEY: '' } });
      expect(lines(outcome)).toMatchObject([{ event: 'price', amount: `${4n * recordPrice}` }]);
    });
    expect([spent, relay.stored.size]).toEqual([0n, 0]);
  });

  it('sends no interrupted payment with --estimate', { tags: 'full' }, async () => {
    const path = await newFile();
    const preload = pathToFileURL(fromRoot('tests/support/kill-at.mjs')).href;
    // The approval has three steps, and the payment is sent after 4 records and the transaction are written down.
    const env = { NODE_OPTIONS: `--import=${preload}`, KILL_AFTER_STEPS: '8' };
    expect((await publish(path, ['--max-cost', '1'], { env })).code).toBe(null);
    expect(await transactions()).toHaveLength(1);
    const spent = await spentBy(async () => {
      const [price] = lines(await publish(path, ['--estimate'], { env: { ANTWAY_PRIVATE_KEY: '' } }));
      expect(price).toMatchObject({ due: fileRecords, amount: `${4n * recordPrice}` });
    });
    expect(spent).toBe(0n);
    expect((await publish(path, ['--max-cost', '1'])).code).toBe(0);
    expect(await transactions()).toEqual([]);
  });

  it('tells the price in words', { tags: 'full' }, async () => {
    const args = ['publish', await newFile(), '--network', '--estimate', '--relay', relay.url];
    const test = ['--chain', `31337,${chain.token},${chain.vault}`, '--rpc', chain.rpc];
    const { stdout, stderr } = await runCli([...args, ...test, '--journal', join(folder, 'journal')]);
    expect(stdout).toMatch(/^4 records: 0\.046875 ANT, and fees of about 0\.\d+ ETH\n$/);
    expect(stderr).toContain('Chain 31337 is a test chain: payments there have no value.');
  });

  it('reads the key from a keystore file', { tags: 'full' }, async () => {
    const keystore = fromRoot('tests/fixtures/payments/keystore.json');
    const env = { ANTWAY_PRIVATE_KEY: '', ANTWAY_KEYSTORE_PASSPHRASE: 'correct horse' };
    const more = ['--max-cost', '1', '--keystore', keystore];
    const outcome = await publish(await newFile(), more, { env });
    expect([outcome.stderr, outcome.code]).toEqual(['', 0]);
    const wrong = await publish(await newFile(), more, {
      env: { ...env, ANTWAY_KEYSTORE_PASSPHRASE: 'wrong' },
    });
    expect(failure(wrong)).toEqual({ code: 'REFUSED', payment: undefined });
  });

  it('continues with --resume only what was paid for', { tags: 'full' }, async () => {
    const path = await newFile();
    const nothing = await publish(path, ['--resume']);
    expect([nothing.code, nothing.stderr]).toEqual([
      2,
      expect.stringContaining('4 records are not paid for.'),
    ]);
    relay.faults = { putStatus: 410 };
    await publish(path, ['--max-cost', '1']);
    relay.faults = {};
    const spent = await spentBy(async () => {
      const [price] = lines(await publish(path, ['--resume'], { env: { ANTWAY_PRIVATE_KEY: '' } }));
      expect(price).toMatchObject({ due: 0, paid: fileRecords });
    });
    expect([spent, relay.stored.size]).toEqual([0n, fileRecords]);
  });

  it.each([
    [['--estimate'], '--estimate needs --network.'],
    [['--max-cost', '1'], '--max-cost needs --network.'],
    [['--network'], '--network needs an RPC endpoint'],
    [['--network', '--rpc', 'http://example.org'], 'The RPC endpoint must be an https:// URL'],
    [['--network', '--rpc', 'https://user:secret@127.0.0.1:1'], 'without a user name and a password'],
    [['--network', '--rpc', 'http://127.0.0.1:1'], '--network needs the key of an account'],
    [['--network', '--rpc', 'http://127.0.0.1:1', '--max-cost', 'much'], '--max-cost is an amount in ANT'],
    [['--network', '--rpc', 'http://127.0.0.1:1', '--chain', '1'], '--chain has the form id,token,vault'],
    [['--network', '--relay', 'http://example.org'], 'A relay is https://host[:port]'],
    [['--network', '--out', 'x'], 'Give --out or --network, not both.'],
  ])('refuses %s', async (args, message) => {
    const { code, stderr } = await runCli(['publish', await newFile(), ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).not.toContain('secret');
  });

  it('asks before it pays, and pays nothing without a terminal', async () => {
    const spent = await spentBy(async () => {
      const outcome = await publish(await newFile(), []);
      expect([outcome.code, outcome.stderr]).toEqual([2, expect.stringContaining('Nothing was paid. Agree')]);
    });
    expect(spent).toBe(0n);
  });
});

describe('pointer --network', () => {
  const passphrase = { ANTWAY_KEY_PASSPHRASE: 'correct horse', ANTWAY_PRIVATE_KEY: richKey };

  const key = () => join(folder, 'owner.key');

  async function pointer(action: string, ...more: string[]): Promise<CliOutcome> {
    const { token, vault, rpc } = chain;
    const args = [
      ...['pointer', action, '--key', key(), '--network', '--json', '--relay', relay.url],
      ...['--journal', join(folder, 'journal'), '--chain', `31337,${token},${vault}`, '--rpc', rpc],
    ];
    return runCli([...args, ...more], { env: passphrase });
  }

  it('pays for each new state, and for no state twice', { tags: 'full' }, async () => {
    const [, , first] = lines(await publish(await newFile(), ['--max-cost', '1']));
    const [, , second] = lines(await publish(await newFile(), ['--max-cost', '1']));
    const price = async (work: () => Promise<CliOutcome>) => {
      let outcome!: CliOutcome;
      const spent = await spentBy(async () => {
        outcome = await work();
        expect([outcome.stderr, outcome.code]).toEqual(['', 0]);
      });
      return { spent, last: lines(outcome).at(-1) };
    };
    const receipt = join(folder, 'receipt.json');
    const created = await price(() =>
      pointer('create', first.address, '--max-cost', '1', '--receipt', receipt),
    );
    expect(created.spent).toBe(recordPrice);
    expect(created.last).toMatchObject({ counter: '0', target: first.address, stored: [relay.url] });
    const { address } = created.last;
    expect(relay.pointers.get(address)).toHaveLength(5303);
    expect(JSON.parse(await readFile(receipt, 'utf8'))).toMatchObject({
      antway: 'receipt',
      address,
      payments: [{ address, stateId: expect.any(String), amount: `${recordPrice}` }],
    });

    const updated = await price(() => pointer('update', second.address, '--max-cost', '1'));
    expect(updated.spent).toBe(recordPrice);
    expect(updated.last).toMatchObject({ address, counter: '1', target: second.address });
    const again = await price(() => pointer('update', second.address, '--max-cost', '1'));
    expect(again.spent).toBe(0n);
    expect(again.last).toMatchObject({ counter: '1', stored: [], present: [relay.url] });
    const shown = await price(() => pointer('show'));
    expect([shown.spent, shown.last]).toMatchObject([0n, { counter: '1', target: second.address }]);
    const frozen = await price(() => pointer('freeze', '--yes', '--max-cost', '1'));
    expect([frozen.spent, frozen.last]).toMatchObject([recordPrice, { frozen: true }]);
  });

  it('sends a state that was paid for again after a failure', { tags: 'full' }, async () => {
    const [, , content] = lines(await publish(await newFile(), ['--max-cost', '1']));
    relay.faults = { putStatus: 410 };
    const spent = await spentBy(async () => {
      const failed = await pointer('create', content.address, '--max-cost', '1');
      expect(failure(failed).payment).toBe('QUOTE_EXPIRED');
      relay.faults = {};
      const outcome = await pointer('update', content.address, '--max-cost', '0');
      expect([outcome.stderr, outcome.code]).toEqual(['', 0]);
    });
    expect([spent, relay.pointers.size]).toEqual([recordPrice, 1]);
  });

  it('sends a state again that a relay took and did not store', { tags: 'full' }, async () => {
    const [, , content] = lines(await publish(await newFile(), ['--max-cost', '1']));
    relay.faults = { forgets: true };
    const spent = await spentBy(async () => {
      expect((await pointer('create', content.address, '--max-cost', '1')).code).toBe(0);
      expect(relay.pointers.size).toBe(0);
      relay.faults = {};
      const outcome = await pointer('update', content.address, '--max-cost', '0');
      expect([outcome.stderr, outcome.code]).toEqual(['', 0]);
      expect(lines(outcome).at(-1)).toMatchObject({ counter: '0', stored: [relay.url] });
    });
    expect([spent, relay.pointers.size]).toEqual([recordPrice, 1]);
  });

  it('stores a state in the network that only the store of the relay has', { tags: 'full' }, async () => {
    const [, , content] = lines(await publish(await newFile(), ['--max-cost', '1']));
    expect((await pointer('create', content.address, '--max-cost', '1')).code).toBe(0);
    for (const [address, record] of relay.pointers) relay.ownPointers.set(address, record);
    relay.pointers.clear();
    const shown = await pointer('show');
    expect(lines(shown).at(-1)).toMatchObject({ peers: [{ url: relay.url, counter: null }] });
    const again = await pointer('update', content.address, '--max-cost', '0');
    expect(lines(again).at(-1)).toMatchObject({ counter: '0', stored: [relay.url], present: [] });
    expect(relay.pointers.size).toBe(1);
    relay.faults = { readAnswer: [405, { code: 'METHOD', message: '' }] };
    expect(failure(await pointer('show'))).toMatchObject({ code: 'UNSUPPORTED', payment: 'OLD_RELAY' });
  });

  it('finds the newest state at any relay, so that no counter is signed twice', {
    tags: 'full',
  }, async () => {
    const [, , first] = lines(await publish(await newFile(), ['--max-cost', '1']));
    const [, , second] = lines(await publish(await newFile(), ['--max-cost', '1']));
    const other = await RelayDouble.start(chain, relay.stored, relay.pointers);
    try {
      const pay = ['--relay', other.url, '--max-cost', '1'];
      expect((await pointer('create', first.address, ...pay)).code).toBe(0);
      // As on a new device.
      await rm(`${key()}.states`);
      relay.faults = { hidesPointers: true };
      const updated = await pointer('update', second.address, ...pay);
      expect([updated.stderr, updated.code]).toEqual(['', 0]);
      expect(lines(updated).at(-1)).toMatchObject({ counter: '1', target: second.address });
      // A relay without the state gets it again.
      relay.pointers.clear();
      const again = await pointer('update', second.address, ...pay);
      expect(lines(again).at(-1)).toMatchObject({ counter: '1', stored: [relay.url] });
      expect(relay.pointers.size).toBe(1);
    } finally {
      await other.stop();
    }
  });

  it('freezes nothing if the price is refused', { tags: 'full' }, async () => {
    const [, , first] = lines(await publish(await newFile(), ['--max-cost', '1']));
    const [, , second] = lines(await publish(await newFile(), ['--max-cost', '1']));
    await pointer('create', first.address, '--max-cost', '1');
    const refused = await pointer('freeze', '--yes', '--max-cost', '0');
    expect(failure(refused).payment).toBe('OVER_LIMIT');
    const updated = await pointer('update', second.address, '--max-cost', '1');
    expect([updated.stderr, updated.code]).toEqual(['', 0]);
    expect(lines(updated).at(-1)).toMatchObject({ counter: '1', target: second.address, frozen: false });
  });

  it('pays nothing for a state that is too expensive', { tags: 'full' }, async () => {
    const [, , content] = lines(await publish(await newFile(), ['--max-cost', '1']));
    const spent = await spentBy(async () => {
      expect(failure(await pointer('create', content.address, '--max-cost', '0')).payment).toBe('OVER_LIMIT');
    });
    expect([spent, relay.pointers.size]).toEqual([0n, 0]);
  });
});

describe('nothing is paid', () => {
  const dishonest: [string, RelayDouble['faults'], string][] = [
    ['a relay of another chain', { info: { chainId: 42161 } }, 'CHAIN'],
    ['a relay with another vault', { info: { vault: `0x${'66'.repeat(20)}` } }, 'CHAIN'],
    ['a relay with another token', { info: { token: `0x${'66'.repeat(20)}` } }, 'CHAIN'],
    ['a relay with other rules of payment', { info: { settlementVersion: 2 } }, 'CHAIN'],
    [
      'a relay that asks for more',
      { offer: (offer) => ({ ...offer, amount: `${recordPrice * 2n}` }) },
      'QUOTE',
    ],
    [
      'a relay with another hash',
      { offer: (offer) => ({ ...offer, quoteHash: `0x${'66'.repeat(32)}` }) },
      'QUOTE',
    ],
    [
      'a relay with another payee',
      { offer: (offer) => ({ ...offer, rewardsAddress: `0x${'66'.repeat(20)}` }) },
      'QUOTE',
    ],
  ];
  // The command, the app and the package check an offer with the same code: one relay of each kind of problem is enough.
  const samples = ['a relay with another vault', 'a relay that asks for more'];
  for (const [what, faults, problem] of dishonest) {
    it(`to ${what}`, { tags: samples.includes(what) ? [] : 'full' }, async () => {
      relay.faults = faults;
      const spent = await spentBy(async () => {
        const outcome = await publish(await newFile(), ['--max-cost', '1']);
        expect(failure(outcome).payment).toBe(problem);
      });
      expect([spent, relay.stored.size]).toEqual([0n, 0]);
    });
  }

  it('if two relays name different nodes', { tags: 'full' }, async () => {
    const other = await RelayDouble.start(chain, relay.stored);
    try {
      other.faults = { firstNode: 7 };
      const spent = await spentBy(async () => {
        const outcome = await publish(await newFile(), ['--max-cost', '1'], {
          relays: [relay.url, other.url],
        });
        expect(failure(outcome)).toEqual({ code: 'CORRUPT', payment: 'RELAYS_DIFFER' });
      });
      expect(spent).toBe(0n);
    } finally {
      await other.stop();
    }
  });

  it('to a node that only one of two relays names', { tags: 'full' }, async () => {
    const other = await RelayDouble.start(chain, relay.stored);
    try {
      // Four of seven nodes are the same: those with 10, 20, 40 and 50 records. One of the other three is in the middle.
      const committed = [15, 25, 35, 10, 20, 40, 50, 30, 60, 5];
      relay.faults = { firstNode: 3, committed };
      other.faults = { committed };
      const relays = [relay.url, other.url];
      for (const order of [relays, relays.toReversed()]) {
        const [price] = lines(await publish(await newFile(), ['--max-cost', '1'], { relays: order }));
        expect(price).toMatchObject({ due: fileRecords, amount: `${4n * 3n * priceOf(40)}` });
      }
      expect(relay.stored.size).toBe(2 * fileRecords);
    } finally {
      await other.stop();
    }
  });

  it('if one of two relays says that a record is stored', { tags: 'full' }, async () => {
    const path = await newFile();
    const other = await RelayDouble.start(chain);
    try {
      await publish(path, ['--max-cost', '1'], { relays: [other.url] });
      await rm(join(folder, 'journal'), { recursive: true });
      for (const relays of [
        [relay.url, other.url],
        [other.url, relay.url],
      ]) {
        const outcome = await publish(path, ['--max-cost', '1'], { relays });
        expect(failure(outcome).payment).toBe('RELAYS_DIFFER');
      }
    } finally {
      await other.stop();
    }
  });

  it('for files that changed after the price', async () => {
    const address = Address.fromHex('ab'.repeat(32));
    const sink = paidSink(new Set(['cd'.repeat(32)]), { relays: [], journal: memoryJournal() });
    const storing = sink.store({ address, bytes: new Uint8Array(1) }, new AbortController().signal);
    await expect(storing).rejects.toMatchObject({ code: 'REFUSED', details: { payment: 'CHANGED' } });
  });

  it.each([
    ['as it is', (url: string) => url],
    ['in another spelling', (url: string) => `${url.toUpperCase()}/`],
  ])('if a relay is to check itself, and is named twice %s', async (_, spelled) => {
    const path = await newFile();
    const spent = await spentBy(async () => {
      const outcome = await publish(path, ['--max-cost', '1'], { relays: [relay.url, spelled(relay.url)] });
      expect(outcome.code).toBe(2);
      expect(outcome.stderr).toContain(`${relay.url} is named twice.`);
    });
    expect(spent).toBe(0n);
    expect(relay.stored.size).toBe(0);
  });

  it.each([
    [
      'a folder that does not exist',
      (folder: string) => join(folder, 'no-folder', 'receipt.json'),
      'NOT_FOUND',
    ],
    ['a folder in its place', (folder: string) => folder, 'BAD_CONFIG'],
  ])('if the receipt has %s', async (_, receiptIn, code) => {
    const path = await newFile();
    const spent = await spentBy(async () => {
      const outcome = await publish(path, ['--max-cost', '1', '--receipt', receiptIn(folder)]);
      expect(failure(outcome).code).toBe(code);
    });
    expect(spent).toBe(0n);
  });

  it('above the limit', async () => {
    const outcome = await publish(await newFile(), ['--max-cost', '0.046874999999999999']);
    expect(failure(outcome)).toEqual({ code: 'REFUSED', payment: 'OVER_LIMIT' });
    expect((await publish(await newFile(), ['--max-cost', '0.046875'])).code).toBe(0);
  });

  it('by an account without the token, or without ether', { tags: 'full' }, async () => {
    const poor = { ANTWAY_PRIVATE_KEY: `0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d` };
    const outcome = await publish(await newFile(), ['--max-cost', '1'], { env: poor });
    expect(failure(outcome)).toEqual({ code: 'REFUSED', payment: 'FUNDS' });
    expect(outcome.stderr).toContain('has 0 ANT');
    const [account] = chain.accounts as [string];
    const ether = await chain.request('eth_getBalance', [account, 'latest']);
    await chain.request('anvil_setBalance', [account, '0x1']);
    try {
      const broke = await publish(await newFile(), ['--max-cost', '1']);
      expect(failure(broke).payment).toBe('FUNDS');
      expect(broke.stderr).toContain('has 0.000000000000000001 ETH');
    } finally {
      await chain.request('anvil_setBalance', [account, ether]);
    }
  });

  it('on another chain than the one that is named', async () => {
    const outcome = await publish(await newFile(), ['--max-cost', '1'], {
      chain: `1,${chain.token},${chain.vault}`,
    });
    expect(failure(outcome).payment).toBe('CHAIN');
  });

  it('without an RPC endpoint that answers', async () => {
    const outcome = await publish(await newFile(), ['--max-cost', '1'], { rpc: 'http://127.0.0.1:1' });
    expect(failure(outcome)).toEqual({ code: 'PEERS_UNREACHABLE', payment: 'RPC' });
  });
});

describe('a payment stays in the journal', () => {
  it('if the relay takes it and stores nothing', { tags: 'full' }, async () => {
    const path = await newFile();
    const honest = await RelayDouble.start(chain);
    try {
      relay.faults = { forgets: true };
      const spent = await spentBy(async () => {
        const outcome = await publish(path, ['--max-cost', '1'], { relays: [relay.url, honest.url] });
        expect(failure(outcome).payment).toBe('NOT_STORED');
        expect((await publish(path, ['--max-cost', '0'], { relays: [honest.url] })).code).toBe(0);
      });
      expect(spent).toBe(4n * recordPrice);
      expect(honest.stored.size).toBe(fileRecords);
    } finally {
      await honest.stop();
    }
  });

  it('if its quote has expired, and is used when the node is back', { tags: 'full' }, async () => {
    const path = await newFile();
    relay.faults = { putStatus: 410 };
    const spent = await spentBy(async () => {
      expect(failure(await publish(path, ['--max-cost', '1'])).payment).toBe('QUOTE_EXPIRED');
      relay.faults = {};
      expect((await publish(path, ['--max-cost', '1'])).code).toBe(0);
    });
    expect([spent, relay.stored.size]).toEqual([4n * recordPrice, fileRecords]);
  });

  it('if one chunk fails, and the other chunks are stored before that is reported', {
    tags: 'full',
  }, async () => {
    const path = await newFile();
    relay.faults = { putStatus: 410, putFailures: 1 };
    const spent = await spentBy(async () => {
      expect(failure(await publish(path, ['--max-cost', '1'])).payment).toBe('QUOTE_EXPIRED');
      // The data map comes last, so that an address that opens is complete.
      expect(relay.stored.size).toBe(2);
      const again = await publish(path, ['--max-cost', '0']);
      expect(again.code).toBe(0);
      expect(lines(again)[0]).toMatchObject({ stored: 2, paid: 2, due: 0 });
    });
    expect([spent, relay.stored.size]).toEqual([4n * recordPrice, fileRecords]);
  });

  it('if the relay dies, and another one finishes', { tags: 'full' }, async () => {
    const path = await newFile();
    const other = await RelayDouble.start(chain);
    try {
      relay.faults = { putStatus: 422 };
      const outcome = await publish(path, ['--max-cost', '1'], { relays: [relay.url, other.url] });
      expect([outcome.stderr, outcome.code]).toEqual(['', 0]);
      expect(other.stored.size).toBe(fileRecords);
    } finally {
      await other.stop();
    }
  });

  /** A command waits for minutes for a payment that the nodes do not see. */
  async function inTime(command: Promise<CliOutcome>): Promise<CliOutcome> {
    const ended = new AbortController();
    const isLate = delay(commandMs, ended.signal).then(() => {
      throw new Error('The command does not end. It may wait for a payment that is not in the journal.');
    });
    try {
      return await Promise.race([command, isLate]);
    } finally {
      ended.abort();
    }
  }

  // Each step is a durable change of the journal, or a request that pays or stores.
  async function killAfter(step: number): Promise<boolean> {
    const preload = pathToFileURL(fromRoot('tests/support/kill-at.mjs')).href;
    const path = await newFile();
    relay.stored.clear();
    let wasKilled = false;
    const spent = await spentBy(async () => {
      const env = { NODE_OPTIONS: `--import=${preload}`, KILL_AFTER_STEPS: `${step}` };
      const first = await inTime(publish(path, ['--max-cost', '1'], { env }));
      wasKilled = first.code === null;
      if (!wasKilled) expect(first.stderr).toBe('');
      const second = await inTime(publish(path, ['--max-cost', '1']));
      expect([second.stderr, second.code], `step ${step}`).toEqual(['', 0]);
    });
    expect(spent, `step ${step}`).toBe(4n * recordPrice);
    expect(relay.stored.size, `step ${step}`).toBe(fileRecords);
    return wasKilled;
  }

  it('if the command is killed after the transaction of the payment', async () => {
    expect(await killAfter(9)).toBe(true);
  });

  it('if the command is killed before or after any step', { tags: 'full', timeout: 240_000 }, async () => {
    let step = 0;
    while (await killAfter(step)) step++;
    // 4 quotes, the approval (3), the payment (3), 4 entries of it, and 4 records (2 each).
    expect(step).toBeGreaterThan(20);
    expect(await transactions()).toEqual([]);
  });
});
