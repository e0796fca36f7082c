import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from '@playwright/test';
import { Address } from '../../src/address.ts';
import { parsePointer } from '../../src/content/pointer.ts';
import { formatAnt, formatEther } from '../../src/payment/amounts.ts';
import { openShellIn } from '../support/chromium.ts';
import { runCli } from '../support/cli-process.ts';
import { installWallet } from '../support/page-wallet.ts';
import { distFolder } from '../support/paths.ts';
import {
  fillNetwork,
  foundRelays,
  payButton,
  price,
  published,
  seePrice,
} from '../support/payment-screen.ts';
import { PeerProcess } from '../support/peer-process.ts';
import { noise } from '../support/publish.ts';
import { richKey, TestChain } from '../support/test-chain.ts';
import { Devnet } from './devnet.ts';
import { NetworkPeer } from './network-peer.ts';
import { type Row, seconds } from './rows.ts';

/** More than the sixteen of a pool. */
const nodeCount = 25;
const siteFiles = 300;
/** Of more than 64 chunks, so that one payment covers most of them. */
const fileBytes = 300_000_000;
/** The longest time until the app has the prices, or has stored everything, in milliseconds. */
const mostPaidMs = 240_000;

/** Publishes with payments on a local chain, and reads it back from the nodes. */
export async function publishPaid(browser: Browser, folder: string): Promise<Row[]> {
  const stops: (() => Promise<void>)[] = [];
  try {
    const chain = await TestChain.start();
    stops.push(() => chain.stop());
    const network = await Devnet.start(nodeCount, join(folder, 'paid-nodes'), { chain });
    stops.push(() => network.stop());
    const bootstrapFile = join(folder, 'paid-network.txt');
    await writeFile(bootstrapFile, `${network.bootstrap.join('\n')}\n`);
    const { token, vault } = chain;
    const parameters = `${TestChain.chainId},${token},${vault}`;
    const startPeer = async (...flags: string[]) => {
      const peer = await NetworkPeer.start(bootstrapFile, ...flags);
      stops.push(() => peer.stop());
      await peer.reached('connected');
      return peer;
    };
    const relays = [
      await startPeer(`--allow-paid-uploads=${parameters}`),
      await startPeer(`--allow-paid-uploads=${parameters}`),
    ];
    const site = join(folder, 'paid-site');
    await makeSite(site);
    const film = join(folder, 'paid-film.bin');
    await writeFile(film, noise(7, fileBytes));

    const run = async (...command: string[]) => {
      const args = ['--network', '--json', '--chain', parameters, '--rpc', chain.rpc];
      const journal = ['--journal', join(folder, 'journal')];
      const urls = relays.flatMap(({ url }) => ['--relay', url]);
      const env = { ANTWAY_PRIVATE_KEY: richKey, ANTWAY_KEY_PASSPHRASE: 'correct horse' };
      const outcome = await runCli([...command, ...args, ...journal, ...urls], { env });
      const lines = outcome.stdout.trim().split('\n');
      assert.equal(outcome.code, 0, outcome.stderr + outcome.stdout);
      return lines.map((line) => JSON.parse(line));
    };
    const publish = (path: string, ...more: string[]) => run('publish', path, ...more);

    const rows: Row[] = [];
    const addresses: string[] = [];
    for (const [item, path] of [
      [`a site of ${siteFiles} files`, site],
      [`a file of ${fileBytes / 1e6} MB`, film],
    ] as const) {
      const [price] = await publish(path, '--estimate');
      assert.equal(price.event, 'price');
      const before = await balances(chain);
      const startedMs = performance.now();
      const [bill, paid, published] = await publish(path, '--max-cost', '10');
      rows.push({ step: 'paid upload', item, bytes: published.size, seconds: seconds(startedMs) });
      const after = await balances(chain);
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
      assert.deepEqual(await balances(chain), after, 'a second run costs nothing');

      addresses.push(published.address);
      const reader = await startPeer();
      const readMs = performance.now();
      const bytes = await readBack(reader, published.address, path, folder);
      rows.push({ step: 'paid upload → nodes → peer → command', item, bytes, seconds: seconds(readMs) });
    }

    const garden = join(folder, 'paid-garden');
    await makeSite(garden, 'in the app');
    const { row, address } = await payInApp(browser, folder, garden, chain, relays);
    const appMs = performance.now();
    const bytes = await readBack(await startPeer(), address, garden, folder);
    const step = 'paid upload → nodes → peer → command';
    rows.push(row, { step, item: row.item, bytes, seconds: seconds(appMs) });

    const key = ['--key', join(folder, 'paid-owner.key'), '--max-cost', '1'];
    const [site0, film0] = addresses as [string, string];
    for (const [step, target] of [
      ['create', site0],
      ['update', film0],
      ['update', site0],
    ] as const) {
      const startedMs = performance.now();
      const [price, paid, moved] = await run('pointer', step, target, ...key);
      rows.push({ step: 'paid pointer', item: step, bytes: 5303, seconds: seconds(startedMs) });
      assert.equal(price.amount, paid.amount);
      const { status, body } = await (await startPeer()).get(`/pointer/${moved.address}`);
      assert.equal(status, 200);
      const pointer = parsePointer(Uint8Array.from(body), Address.fromHex(moved.address));
      assert.deepEqual([pointer.target.hex, String(pointer.counter)], [target, moved.counter]);
    }
    return rows;
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

/** Publishes a folder in the app, to the network only. A wallet of the page pays. */
async function payInApp(
  browser: Browser,
  folder: string,
  site: string,
  chain: TestChain,
  relays: readonly NetworkPeer[],
): Promise<{ row: Row; address: string }> {
  const config = join(folder, 'antway-paid.json');
  await writeFile(config, JSON.stringify({ peers: relays.map(({ url }) => url) }));
  const host = await PeerProcess.start({
    flags: ['--web', distFolder, '--web-config', config],
    webTransport: 'none',
  });
  const context = await browser.newContext();
  try {
    await installWallet(context, chain);
    const root = `http://antway.localhost:${new URL(host.url).port}`;
    const page = await openShellIn(context, `${root}/#publish`);
    await page.locator('input[name=folder]').setInputFiles(site);
    await fillNetwork(page, chain);
    await foundRelays(page)
      .nth(relays.length - 1)
      .waitFor();

    const before = await balances(chain);
    const startedMs = performance.now();
    await seePrice(page);
    await price(page).getByRole('button', { name: 'Connect Test Wallet' }).click({ timeout: mostPaidMs });
    const shown = await payButton(page).textContent();
    await payButton(page).click();
    const done = published(page);
    await done.waitFor({ timeout: mostPaidMs });
    const took = seconds(startedMs);
    const after = await balances(chain);
    const paid = formatAnt(before.token - after.token);
    assert.equal(shown, `Pay ${paid}`, 'the chain charged the price');
    const fees = formatEther(before.ether - after.ether);
    assert.ok((await done.textContent())!.includes(`you paid ${paid}, and fees of ${fees}.`), 'the fees');
    const [, address] = /ant:\/\/([0-9a-f]{64})/.exec((await done.textContent())!)!;
    return {
      row: { step: 'paid upload in the app', item: `a site of ${siteFiles} files`, seconds: took },
      address: address!,
    };
  } finally {
    await context.close();
    await host.stop();
  }
}

async function makeSite(folder: string, words = 'text'): Promise<void> {
  await mkdir(folder);
  for (let i = 0; i < siteFiles; i++) {
    const name = i === 0 ? 'index.html' : `page-${i}.html`;
    await writeFile(
      join(folder, name),
      `<!doctype html><title>Page ${i}</title>${`${words} `.repeat(i * 10)}`,
    );
  }
}

/** Of the account of {@link richKey}. */
async function balances(chain: TestChain): Promise<{ token: bigint; ether: bigint }> {
  const [account] = chain.accounts as [string];
  const data = `0x70a08231${account.slice(2).padStart(64, '0')}`;
  const [token, ether] = await Promise.all([
    chain.request('eth_call', [{ to: chain.token, data }, 'latest']),
    chain.request('eth_getBalance', [account, 'latest']),
  ]);
  return { token: BigInt(token as string), ether: BigInt(ether as string) };
}

/** Verifies every chunk by way of a peer that has nothing yet, and compares the content. @returns its length. */
async function readBack(peer: NetworkPeer, address: string, path: string, folder: string): Promise<number> {
  const out = join(folder, `read-${address.slice(0, 8)}`);
  const outcome = await runCli(['get', address, '-o', out, '--peer', peer.url]);
  assert.equal(outcome.code, 0, outcome.stderr);
  return compare(path, out);
}

async function compare(expected: string, actual: string): Promise<number> {
  const pairs = (await stat(expected)).isDirectory()
    ? (await readdir(expected)).map((name) => [join(expected, name), join(actual, name)] as const)
    : [[expected, actual] as const];
  let bytes = 0;
  for (const [a, b] of pairs) {
    const [first, second] = await Promise.all([readFile(a), readFile(b)]);
    assert.ok(first.equals(second), b);
    bytes += first.length;
  }
  return bytes;
}
