import assert from 'node:assert/strict';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from '@playwright/test';
import { Address } from '../../src/address.ts';
import { parsePointer } from '../../src/content/pointer.ts';
import { runCli } from '../support/cli-process.ts';
import { noise } from '../support/publish.ts';
import { richKey, TestChain } from '../support/test-chain.ts';
import { Devnet, killAll } from './devnet.ts';
import { NetworkPeer } from './network-peer.ts';
import { payMeanwhile, publishFromPage } from './publish-from-page.ts';
import { makeSite, readBack, siteFiles } from './published.ts';
import { PublishingApp } from './publishing-app.ts';
import { type Row, seconds } from './rows.ts';

/** More than the sixteen of a pool. */
const nodeCount = 25;
/** Of more than 64 chunks, so that one payment covers most of them. */
const fileBytes = 300_000_000;
const smallBytes = 40_000_000;

const readStep = 'paid upload → nodes → peer → command';

/** Nodes that take payments on a local chain, and two peers that bring them records. */
interface PaidNetwork {
  folder: string;
  chain: TestChain;
  /** As `--chain` takes it. */
  parameters: string;
  network: Devnet;
  relays: readonly NetworkPeer[];
  /** Starts a peer that has nothing yet. */
  startPeer(): Promise<NetworkPeer>;
}

async function withPaidNetwork<T>(parent: string, use: (paid: PaidNetwork) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(parent, 'paid-'));
  const stops: (() => Promise<void>)[] = [];
  try {
    const chain = await TestChain.start();
    stops.push(() => chain.stop());
    const network = await Devnet.start(nodeCount, join(folder, 'nodes'), { chain });
    stops.push(() => network.stop());
    const bootstrapFile = join(folder, 'paid-network.txt');
    await writeFile(bootstrapFile, `${network.bootstrap.join('\n')}\n`);
    const parameters = `${TestChain.chainId},${chain.token},${chain.vault}`;
    const startPeer = async (...flags: string[]) => {
      const peer = await NetworkPeer.start(bootstrapFile, ...flags);
      stops.push(() => peer.stop());
      await peer.reached('connected');
      return peer;
    };
    const relayFlag = `--allow-paid-uploads=${parameters}`;
    const relays = [await startPeer(relayFlag), await startPeer(relayFlag)];
    return await use({ folder, chain, parameters, network, relays, startPeer });
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

const passphrase = { ANTWAY_KEY_PASSPHRASE: 'correct horse' };

/** Runs a command that pays. @returns the lines that it prints. */
async function run({ folder, chain, parameters, relays }: PaidNetwork, ...command: string[]) {
  const args = ['--network', '--json', '--chain', parameters, '--rpc', chain.rpc];
  const journal = ['--journal', join(folder, 'journal')];
  const urls = relays.flatMap(({ url }) => ['--relay', url]);
  const env = { ANTWAY_PRIVATE_KEY: richKey, ...passphrase };
  const outcome = await runCli([...command, ...args, ...journal, ...urls], { env });
  assert.equal(outcome.code, 0, outcome.stderr + outcome.stdout);
  return outcome.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Publishes with the command and payments on a local chain, and reads it back from the nodes. */
export function publishPaid(parent: string): Promise<Row[]> {
  return withPaidNetwork(parent, async (paidNetwork) => {
    const { folder, chain, startPeer } = paidNetwork;
    const publish = (path: string, ...more: string[]) => run(paidNetwork, 'publish', path, ...more);
    const site = join(folder, 'site');
    await makeSite(site);
    const film = join(folder, 'film.bin');
    await writeFile(film, noise(7, fileBytes));

    const rows: Row[] = [];
    for (const [item, path] of [
      [`a site of ${siteFiles} files`, site],
      [`a file of ${fileBytes / 1e6} MB`, film],
    ] as const) {
      const [price] = await publish(path, '--estimate');
      assert.equal(price.event, 'price');
      const before = await chain.balances();
      const startedMs = performance.now();
      const [bill, paid, published] = await publish(path, '--max-cost', '10');
      rows.push({ step: 'paid upload', item, bytes: published.size, seconds: seconds(startedMs) });
      const after = await chain.balances();
      assert.equal(before.token - after.token, BigInt(paid.amount), 'the chain charged the price');
      assert.equal(before.ether - after.ether, BigInt(paid.fees), 'the chain charged the fees');
      // The chain chooses the nodes that a batch pays, and those that have stored something ask for more.
      assert.ok(BigInt(bill.amount) >= BigInt(paid.amount), 'the chain charged no more than the price');
      const batched = bill.batches.reduce((sum: number, chunks: number) => sum + chunks, 0);
      if (batched === 0) assert.equal(bill.amount, paid.amount);
      assert.equal(batched > 0, bill.records >= 64, 'one payment covers many chunks');
      assert.ok(BigInt(price.amount) > 0n, 'the estimate has a price');
      assert.ok(BigInt(bill.fees) >= BigInt(paid.fees), 'the estimate of the fees is not too low');
      assert.equal(bill.due, bill.records);

      const [again] = await publish(path, '--max-cost', '0');
      assert.deepEqual([again.due, again.stored], [0, bill.records]);
      assert.deepEqual(await chain.balances(), after, 'a second run costs nothing');

      const readMs = performance.now();
      const bytes = await readBack(await startPeer(), published.address, path, folder);
      rows.push({ step: readStep, item, bytes, seconds: seconds(readMs) });
    }
    return rows;
  });
}

/** Creates a pointer and moves it, the last time by a new owner, who has only the phrase. */
export function movePaidPointer(parent: string): Promise<Row[]> {
  return withPaidNetwork(parent, async (paidNetwork) => {
    const { folder, relays, startPeer } = paidNetwork;
    const targets: string[] = [];
    for (const words of ['first', 'second']) {
      const site = join(folder, words);
      await makeSite(site, words);
      const published = await run(paidNetwork, 'publish', site, '--max-cost', '1');
      targets.push(published.at(-1).address);
    }
    const [first, second] = targets as [string, string];
    const keyFile = join(folder, 'owner.key');
    const newKeyFile = join(folder, 'new-owner.key');
    const rows: Row[] = [];
    for (const [step, target, file] of [
      ['create', first, keyFile],
      ['update', second, keyFile],
      ['update', first, keyFile],
      ['update', second, newKeyFile],
    ] as const) {
      if (file === newKeyFile) await transferKey(keyFile, newKeyFile);
      const startedMs = performance.now();
      const command = ['pointer', step, target, '--key', file, '--max-cost', '1'];
      const [price, paid, moved] = await run(paidNetwork, ...command);
      const item = file === newKeyFile ? `${step} by a new owner` : step;
      rows.push({ step: 'paid pointer', item, bytes: 5303, seconds: seconds(startedMs) });
      assert.equal(price.amount, paid.amount);
      const { status, body } = await (await startPeer()).get(`/pointer/${moved.address}`);
      assert.equal(status, 200);
      const pointer = parsePointer(Uint8Array.from(body), Address.fromHex(moved.address));
      assert.deepEqual([pointer.target.hex, String(pointer.counter)], [target, moved.counter]);
      const inNetwork = await relays[0]!.get(`/network/pointer/${moved.address}`);
      assert.equal(inNetwork.status, 200);
      assert.deepEqual(Buffer.from(inNetwork.body), Buffer.from(body));
      const absent = await relays[0]!.get(`/network/pointer/${'0'.repeat(64)}`);
      assert.equal(absent.status, 404);
    }
    return rows;
  });
}

/** Brings the key of a pointer to a place that knows nothing of it, by its phrase. */
async function transferKey(from: string, to: string): Promise<void> {
  const phrase = await runCli(['pointer', 'phrase', '--key', from], { env: passphrase });
  assert.equal(phrase.code, 0, phrase.stderr);
  const recovered = await runCli(['pointer', 'recover', '--key', to], {
    env: passphrase,
    input: phrase.stdout,
  });
  assert.equal(recovered.code, 0, recovered.stderr);
}

/**
 * Publishes in the app, to the network only, with a wallet in the page. Nodes are killed while the last payment waits for
 * its confirmation.
 */
export function publishInApp(browser: Browser, parent: string): Promise<Row[]> {
  return withPaidNetwork(parent, async ({ folder, chain, relays, network, startPeer }) => {
    const step = 'paid upload in the app';
    const app = await PublishingApp.start(browser, folder, chain, { relays: relays.map(({ url }) => url) });
    try {
      const garden = join(folder, 'garden');
      await makeSite(garden, 'in the app');
      const write = async (name: string, seed: number, length: number) => {
        const path = join(folder, `${name}.bin`);
        await writeFile(path, noise(seed, length));
        return path;
      };
      const item = (bytes: number) => `file of ${bytes / 1e6} MB`;
      const dying = [network.nodes[0]!, network.nodes[3]!];
      const rows: Row[] = [];
      for (const { item: name, path, isPrivate = false, kill = false } of [
        { item: `a site of ${siteFiles} files`, path: garden },
        { item: `a ${item(fileBytes)}`, path: await write('own-film', 8, fileBytes) },
        {
          item: `a private ${item(smallBytes)}`,
          path: await write('secret', 9, smallBytes),
          isPrivate: true,
        },
        { item: `a ${item(smallBytes)}`, path: await write('other', 10, smallBytes), kill: true },
      ]) {
        const page = await app.choose(path, { isPrivate });
        const pay = kill ? () => payMeanwhile(page, chain, () => killAll(dying)) : undefined;
        const { target, seconds: took } = await publishFromPage(page, chain, pay);
        await page.close();
        const readMs = performance.now();
        const bytes = await readBack(await startPeer(), target, path, folder);
        const killed = kill ? `, ${dying.length} of ${nodeCount} nodes killed meanwhile` : '';
        rows.push({ step: step + killed, item: name, bytes, seconds: took });
        rows.push({ step: readStep, item: name, bytes, seconds: seconds(readMs) });
      }
      return rows;
    } finally {
      await app.stop();
    }
  });
}
