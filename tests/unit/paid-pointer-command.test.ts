// @module-tag slow
// @module-tag unix
import { mkdir, mkdtemp, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { buildCli } from '../../src/cli/setup.mjs';
import { parseKeyFile } from '../../src/owner/key-file.ts';
import { OwnerKey } from '../../src/owner/owner-key.ts';
import { signPointer } from '../../src/owner/sign-pointer.ts';
import { type CliOutcome, runCli } from '../support/cli-process.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { richKey, TestChain } from '../support/test-chain.ts';

/** The price of a record at nodes without records: three times 0.00390625 ANT. */
const recordPrice = 11_718_750_000_000_000n;

const passphrase = 'correct horse battery';

let chain: TestChain;
let relay: RelayDouble;
let folder: string;
let receipt: string;

beforeAll(async () => {
  await buildCli();
  chain = await TestChain.start();
});
afterAll(() => chain.stop());
beforeEach(async () => {
  relay = await RelayDouble.start(chain);
  folder = await mkdtemp(join(tmpdir(), 'antway-paid-pointer-'));
  receipt = join(folder, 'receipt.json');
});
afterEach(async () => {
  await relay.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Stores a chunk in the network. @returns its address. */
function chunk(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const address = bytesToHex(blake3(bytes));
  relay.stored.set(address, bytes);
  return address;
}

function pointer(...args: string[]): Promise<CliOutcome> {
  const { token, vault, rpc } = chain;
  const options = [
    ...['--key', join(folder, 'site.key'), '--network', '--json', '--journal', join(folder, 'journal')],
    ...['--chain', `${TestChain.chainId},${token},${vault}`, '--rpc', rpc, '--relay', relay.url],
    ...['--max-cost', '1', '--receipt', receipt],
  ];
  const env = { ANTWAY_PRIVATE_KEY: richKey, ANTWAY_KEY_PASSPHRASE: passphrase };
  return runCli(['pointer', ...args, ...options], { env, cwd: folder });
}

/** The last line of the output. */
const result = ({ stdout }: CliOutcome) => JSON.parse(stdout.trim().split('\n').at(-1)!);
const readReceipt = async () => JSON.parse(await readFile(receipt, 'utf8'));

describe('pointer --network', () => {
  it('pays for no state if the key signed a newer one elsewhere after the command asked', async () => {
    await pointer('create', chunk('first'));
    const file = parseKeyFile(await readFile(join(folder, 'site.key'), 'utf8'));
    const key = new OwnerKey(await file.seed(passphrase));
    const elsewhere = { kind: 'chunk', target: Address.fromHex(chunk('elsewhere')) } as const;
    const { record } = signPointer(key, elsewhere, [{ counter: 4n }]);
    relay.faults = {
      offer: (offer) => {
        relay.pointers.set(key.address.hex, record);
        return offer;
      },
    };
    const before = (await chain.balances()).token;
    const refused = await pointer('update', chunk('second'));
    expect(JSON.parse(refused.stderr)).toMatchObject({
      code: 'REFUSED',
      message: expect.stringContaining('a newer state (state 5)'),
      details: { payment: 'CHANGED' },
    });
    expect((await chain.balances()).token).toBe(before);
    // The same again is above it, also if the network does not tell it any more.
    relay.faults = {};
    relay.pointers.clear();
    expect(result(await pointer('update', chunk('second')))).toMatchObject({ counter: '6' });
  });

  it('names its content with the price if the network does not have it', { tags: 'full' }, async () => {
    const target = chunk('first');
    relay.faults = { hasNoStored: true };
    const [price] = (await pointer('create', target)).stdout.split('\n');
    expect(JSON.parse(price!)).toMatchObject({ event: 'price', missing: target });
    relay.faults = {};
    const [known] = (await pointer('update', chunk('second'))).stdout.split('\n');
    expect(JSON.parse(known!)).not.toHaveProperty('missing');
  });
});

describe('pointer --network --receipt', () => {
  it('keeps a paid state whose receipt cannot be written, and the same command writes the receipt', {
    tags: 'full',
  }, async () => {
    const before = (await chain.balances()).token;
    // The path becomes a folder after the command has checked it.
    const blocked = (async () => {
      while ((await chain.balances()).token === before) await new Promise((wait) => setTimeout(wait, 10));
      await mkdir(receipt);
    })();
    relay.faults = { putDelayMs: 2_000 };
    const target = chunk('first');
    const failed = await pointer('create', target);
    await blocked;
    expect(failed.code).not.toBe(0);
    expect(JSON.parse(failed.stderr).message).toContain(
      'The state is stored, but the receipt is not written.',
    );
    expect(result(failed)).toMatchObject({ counter: '0', target, stored: [relay.url], receipt: null });
    expect(relay.pointers.size).toBe(1);

    await rmdir(receipt);
    relay.faults = {};
    const again = await pointer('update', target);
    expect(again.stderr).toBe('');
    expect(result(again)).toMatchObject({ counter: '0', present: [relay.url], receipt });
    const { payments } = await readReceipt();
    expect(payments).toMatchObject([{ amount: `${recordPrice}`, stateId: expect.any(String) }]);
    expect(before - (await chain.balances()).token).toBe(recordPrice);
  });

  it('replaces no receipt by one without a payment', { tags: 'full' }, async () => {
    await pointer('create', chunk('first'));
    const first = await readReceipt();
    expect(BigInt(first.fees)).toBeGreaterThan(0n);
    // The same again pays nothing.
    expect(result(await pointer('update', chunk('first')))).toMatchObject({ receipt });
    expect(await readReceipt()).toEqual(first);
    // Another device paid for the state.
    await rm(join(folder, 'journal'), { recursive: true });
    await writeFile(receipt, 'another file');
    expect(result(await pointer('update', chunk('first')))).toMatchObject({ receipt: null });
    expect(await readFile(receipt, 'utf8')).toBe('another file');
  });
});
