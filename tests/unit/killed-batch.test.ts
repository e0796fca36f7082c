// @module-tag unix
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchRecords, makeBatchFile } from '../support/batch-file.ts';
import { type CliOutcome, runCli } from '../support/cli-process.ts';
import { fromRoot } from '../support/paths.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { richKey, TestChain } from '../support/test-chain.ts';

/** The price of a record at nodes without records: three times 0.00390625 ANT. */
const recordPrice = 11_718_750_000_000_000n;

let chain: TestChain;
let relay: RelayDouble;
let folder: string;

beforeAll(async () => {
  chain = await TestChain.start();
  relay = await RelayDouble.start(chain);
  folder = await mkdtemp(join(tmpdir(), 'antway-killed-'));
});
afterAll(async () => {
  await relay.stop();
  await chain.stop();
  await rm(folder, { recursive: true, force: true });
});

function publish(path: string, env: NodeJS.ProcessEnv = {}): Promise<CliOutcome> {
  const { token, vault, rpc } = chain;
  const args = [
    ...['publish', path, '--network', '--json', '--journal', `${path}-journal`, '--max-cost', '10'],
    ...['--chain', `${TestChain.chainId},${token},${vault}`, '--rpc', rpc, '--relay', relay.url],
  ];
  return runCli(args, { env: { ANTWAY_PRIVATE_KEY: richKey, ...env } });
}

/** The balance of the paying account, in atto. */
async function balance(): Promise<bigint> {
  const data = `0x70a08231${chain.accounts[0]!.slice(2).padStart(64, '0')}`;
  return BigInt((await chain.request('eth_call', [{ to: chain.token, data }, 'latest'])) as string);
}

// The permission has three steps: its note, the request and the end of the note. Then come the batch, its 64 records and
// the note of the transaction (69), the request (70), the note of the payment (71), the end of the first note (72), and
// for each record its upload and its note.
it.each([
  ['after the payment is noted', 69],
  ['after the payment is sent', 70],
  ['while it stores the records', 99],
])(
  'a command that is killed %s pays once for a batch',
  { tags: 'full', timeout: 600_000 },
  async (_, step) => {
    const path = join(folder, `file-${step}`);
    await makeBatchFile(path);
    relay.stored.clear();
    const before = await balance();
    const preload = pathToFileURL(fromRoot('tests/support/kill-at.mjs')).href;
    const killed = await publish(path, { NODE_OPTIONS: `--import=${preload}`, KILL_AFTER_STEPS: `${step}` });
    expect([killed.code, killed.stderr]).toEqual([null, '']);
    expect(relay.stored.size).toBeLessThan(batchRecords);

    const resumed = await publish(path);
    expect([resumed.stderr, resumed.code]).toEqual(['', 0]);
    expect(before - (await balance())).toBe(BigInt(batchRecords) * recordPrice);
    expect(relay.stored.size).toBe(batchRecords);
    const [chainFolder] = await readdir(`${path}-journal`);
    const notes = await readdir(join(`${path}-journal`, chainFolder!));
    expect(notes.filter((name) => name.startsWith('transaction-'))).toEqual([]);
    await rm(path);
  },
);
