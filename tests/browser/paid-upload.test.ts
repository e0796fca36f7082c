import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { batchRecords, makeBatchFile } from '../support/batch-file.ts';
import { expect, openShellIn, test } from '../support/chromium.ts';
import { openPublish, startPublisher } from '../support/lasting-address.ts';
import { installWallet, walletIn } from '../support/page-wallet.ts';
import { fillNetwork, payButton, price, published, seePrice } from '../support/payment-screen.ts';
import { RelayDouble, type RelayFaults } from '../support/relay-double.ts';
import { TestChain } from '../support/test-chain.ts';

/** The price of a record at nodes without records: three times 0.00390625 ANT. */
const recordPrice = 11_718_750_000_000_000n;

let chain: TestChain;
let relay: RelayDouble;
let root: string;

test.describe.configure({ timeout: 120_000 });

test.beforeAll(async () => {
  chain = await TestChain.start();
});
test.afterAll(() => chain.stop());
test.beforeEach(async ({ startPeer, folder, context }) => {
  relay = await RelayDouble.start(chain);
  ({ root } = await startPublisher(startPeer, folder));
  await installWallet(context, chain);
});
test.afterEach(() => relay.stop());

/** Chooses a file that is published nowhere, or one with this text. */
async function choose(page: Page, text = randomBytes(16).toString('hex')): Promise<string> {
  const buffer = Buffer.from(`<!doctype html><title>${text}</title>`);
  await page
    .locator('input[name=files]')
    .setInputFiles({ name: 'garden.html', mimeType: 'text/html', buffer });
  return text;
}

async function askForPrice(page: Page, { atPeers = false } = {}): Promise<void> {
  await fillNetwork(page, chain, { atPeers, relay: relay.url });
  await seePrice(page);
}

/** The peer at this root also answers at its address. */
const peerOf = (url: string) => url.replace('antway.localhost', '127.0.0.1');

const problem = (page: Page) => page.locator('.note-problem:not(:empty)');

async function connect(page: Page): Promise<void> {
  await price(page).getByRole('button', { name: 'Connect Test Wallet' }).click();
  await expect(price(page).getByText(chain.accounts[0]!, { exact: true })).toBeVisible();
}

/** Gives the permission, and leaves the payment in the wallet. */
async function permitOnly(page: Page): Promise<void> {
  await walletIn(page).set({ mode: 'hold' });
  await payButton(page).click();
  await expect(price(page)).toContainText('Your wallet asks for the permission');
  await walletIn(page).agreeLate();
  await expect(price(page)).toContainText('Your wallet asks for the payment');
}

/** The balance of the paying account, in atto. */
async function balance(): Promise<bigint> {
  const data = `0x70a08231${chain.accounts[0]!.slice(2).padStart(64, '0')}`;
  return BigInt((await chain.request('eth_call', [{ to: chain.token, data }, 'latest'])) as string);
}

test('a wallet pays what the screen says, and the network gets everything', {
  tag: '@smoke',
}, async ({ context }) => {
  const page = await openPublish(context, root);
  const before = await balance();
  await choose(page);
  await page.getByRole('checkbox', { name: /^In the Autonomi network/ }).check();
  await expect(page.getByLabel('Another peer that brings it to the network')).toBeVisible();
  await expectAccessible(page);
  await askForPrice(page);
  await expect(price(page)).toContainText('0.046875 ANT, and the fees of the chain');
  await expect(price(page).locator('.other-chain')).toContainText('Chain 31337 is a test chain');
  expect(await walletIn(page).asked()).toEqual([]);
  await connect(page);
  await expect(price(page)).toContainText(/Fees \(estimate\)\s*0\.\d+ ETH/);
  await expectAccessible(page);
  await expect(payButton(page)).toHaveText('Pay 0.046875 ANT');
  await payButton(page).click();
  await expect(published(page)).toBeVisible();
  expect(before - (await balance())).toBe(4n * recordPrice);
  expect(relay.stored.size).toBe(4);
  await expect(published(page)).toContainText('This time, you paid 0.046875 ANT, and fees of 0.');

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    published(page).getByRole('button', { name: 'Save the receipt' }).click(),
  ]);
  const receipt = JSON.parse(readFileSync(await download.path(), 'utf8'));
  expect(receipt.payments).toHaveLength(4);
  expect(relay.stored.has(receipt.address)).toBe(true);
});

test('one payment of a wallet covers many records, and costs no more than the screen says', {
  tag: '@full',
}, async ({ context, folder }) => {
  test.setTimeout(1_200_000);
  const path = join(folder, 'film.bin');
  await makeBatchFile(path);
  const page = await openPublish(context, root);
  const before = await balance();
  await page.locator('input[name=files]').setInputFiles(path);
  await askForPrice(page);
  const atMost = { timeout: 600_000 };
  await expect(price(page)).toContainText('One payment covers 64 chunks, which saves fees.', atMost);
  await expect(price(page)).toContainText('At most 0.75 ANT, and the fees of the chain');
  await expectAccessible(page);
  await connect(page);
  const asked = (await walletIn(page).asked()).length;
  await payButton(page).click();
  await expect(published(page)).toBeVisible(atMost);
  const sent = (await walletIn(page).asked()).slice(asked);
  expect(sent.filter((method) => method === 'eth_sendTransaction')).toHaveLength(2);
  expect(before - (await balance())).toBe(BigInt(batchRecords) * recordPrice);
  expect(relay.stored.size).toBe(batchRecords);
});

test('only a chain for tests is said to be one', { tag: '@full' }, async ({ context }) => {
  const page = await openPublish(context, root);
  await choose(page);
  await page.getByRole('checkbox', { name: /^In the Autonomi network/ }).check();
  const contracts = `${chain.token},${chain.vault}`;
  await page.getByText('Another chain', { exact: true }).click();
  const field = page.getByLabel('Chain, token and vault');
  for (const [id, text] of [
    ['31337', 'Chain 31337 is a test chain. Payments there have no value'],
    ['1', 'Chain 1 is not the chain of the Autonomi network. Payments there may have value'],
    ['42161', 'Chain 42161 is not the chain of the Autonomi network. Payments there may have value'],
  ]) {
    await field.fill(`${id},${contracts}`);
    await expect(page.locator('.other-chain')).toContainText(text!);
  }
  await field.fill('');
  await expect(page.locator('.other-chain')).toHaveCount(0);
});

test('one action stores at the network and at a peer', { tag: '@full' }, async ({ context }) => {
  const page = await openPublish(context, root);
  await choose(page);
  await askForPrice(page, { atPeers: true });
  await connect(page);
  await payButton(page).click();
  await expect(published(page)).toBeVisible();
  const stored = [...relay.stored.keys()];
  expect(stored).toHaveLength(4);
  for (const address of stored) {
    const answer = await fetch(`${peerOf(root)}/chunk/${address}`);
    expect([address, answer.status]).toEqual([address, 200]);
  }
});

test('a refused payment costs nothing, and the user can pay later', { tag: '@full' }, async ({ context }) => {
  const page = await openPublish(context, root);
  const before = await balance();
  await choose(page);
  await askForPrice(page);
  await connect(page);
  await walletIn(page).set({ mode: 'refuse' });
  await payButton(page).click();
  await expect(problem(page)).toContainText('REJECTED');
  await price(page).getByLabel('Pay at most').fill('0.04');
  await payButton(page).click();
  await expect(price(page)).toContainText('The price is higher than what you want to pay at most.');
  expect(await balance()).toBe(before);
  const other = await openPublish(context, root);
  await expect(other.getByRole('region', { name: 'Lasting addresses' })).toContainText('None yet.');
  await expect(other.getByRole('region', { name: 'Paid, and not stored yet' })).toBeHidden();
  await other.close();
  await price(page).getByLabel('Pay at most').fill('1');
  await walletIn(page).set({ mode: 'agree' });
  await payButton(page).click();
  await expect(published(page)).toBeVisible();
  expect(before - (await balance())).toBe(4n * recordPrice);
});

test('a wallet on another chain, or without the account, pays nothing', { tag: '@full' }, async ({
  context,
}) => {
  const page = await openPublish(context, root);
  const before = await balance();
  await choose(page);
  await askForPrice(page);
  await walletIn(page).set({ chainId: '0x1' });
  await price(page).getByRole('button', { name: 'Connect Test Wallet' }).click();
  await expect(problem(page)).toContainText('does not know the chain 31337');
  await walletIn(page).set({ chainId: '0x7a69' });
  await connect(page);
  await walletIn(page).set({ accounts: [chain.accounts[1]!] });
  await payButton(page).click();
  await expect(problem(page)).toContainText('ACCOUNT');
  expect(await balance()).toBe(before);
});

test('a payment that waits in the wallet survives a reload, and is paid once', { tag: '@full' }, async ({
  context,
}) => {
  const page = await openPublish(context, root);
  const before = await balance();
  const text = await choose(page);
  await askForPrice(page);
  await connect(page);
  await permitOnly(page);
  const other = await openPublish(context, root);
  await page.close();
  await expect(other.getByRole('region', { name: 'Paid, and not stored yet' })).toContainText('garden.html');
  await choose(other, text);
  await askForPrice(other);
  await connect(other);
  await expect(price(other)).toContainText('may still wait in your wallet');
  await payButton(other).click();
  await expect(published(other)).toBeVisible();
  expect(before - (await balance())).toBe(4n * recordPrice);
  await other.reload();
  await expect(other.getByRole('region', { name: 'What to publish' })).toBeVisible();
  await expect(other.getByRole('region', { name: 'Paid, and not stored yet' })).toBeHidden();
});

test('a payment that the wallet sends late is found, and not asked for again', { tag: '@full' }, async ({
  context,
}) => {
  const page = await openPublish(context, root);
  const before = await balance();
  await choose(page);
  await askForPrice(page);
  await connect(page);
  await permitOnly(page);
  await price(page).getByRole('button', { name: 'Stop waiting' }).click();
  await expect(price(page)).toContainText('If you agree to it later, this app finds it');
  const [hash] = await walletIn(page).agreeLate();
  await chain.mined(String(hash));
  await walletIn(page).set({ mode: 'agree' });
  await price(page).getByRole('button', { name: 'Another wallet' }).click();
  await price(page).getByRole('button', { name: 'Connect Test Wallet' }).click();
  await expect(published(page)).toBeVisible();
  expect(before - (await balance())).toBe(4n * recordPrice);
});

test('a payment that the wallet sends before the user says that it is gone is not made twice', {
  tag: '@full',
}, async ({ context }) => {
  const page = await openPublish(context, root);
  const before = await balance();
  await choose(page);
  await askForPrice(page);
  await connect(page);
  await permitOnly(page);
  await price(page).getByRole('button', { name: 'Stop waiting' }).click();
  await price(page).getByRole('button', { name: 'Another wallet' }).click();
  await price(page).getByRole('button', { name: 'Connect Test Wallet' }).click();
  await expect(price(page)).toContainText('may still wait in your wallet');
  const [hash] = await walletIn(page).agreeLate();
  await chain.mined(String(hash));
  await price(page).getByRole('button', { name: 'forget the payment' }).click();
  await expect(published(page)).toBeVisible();
  expect(before - (await balance())).toBe(4n * recordPrice);
});

test('nothing is deleted while another tab pays', { tag: '@full' }, async ({ context }) => {
  const page = await openPublish(context, root);
  const before = await balance();
  await choose(page);
  await askForPrice(page);
  await connect(page);
  await walletIn(page).set({ mode: 'hold' });
  await payButton(page).click();
  await expect(price(page)).toContainText('Your wallet asks for the permission');
  const other = await openShellIn(context, `${root}/#settings`);
  await other.getByRole('button', { name: 'Delete everything…' }).click();
  await other.getByRole('button', { name: 'Delete everything', exact: true }).click();
  await expect(other.getByRole('alert').filter({ hasText: 'BUSY' })).toContainText(
    'Another tab of this app is paying',
  );
  await walletIn(page).agreeLate();
  await expect(price(page)).toContainText('Your wallet asks for the payment');
  await walletIn(page).agreeLate();
  await expect(published(page)).toBeVisible();
  expect(before - (await balance())).toBe(4n * recordPrice);
  await other.getByRole('button', { name: 'Delete everything…' }).click();
  await other.getByRole('button', { name: 'Delete everything', exact: true }).click();
  await expect(other.getByRole('button', { name: 'Delete everything…' })).toBeVisible();
  await expect(other.getByRole('alert').filter({ hasText: 'BUSY' })).toHaveCount(0);
});

test('a paid upload is stored after a failure, without a further payment', { tag: '@full' }, async ({
  context,
}) => {
  const page = await openPublish(context, root);
  const before = await balance();
  const text = await choose(page);
  await askForPrice(page);
  await connect(page);
  relay.faults = { putStatus: 410, putFailures: 1, putDelayMs: 5_000 };
  await payButton(page).click();
  await expect(page.getByText('1 chunk failed so far. The upload first stores the others.')).toBeVisible();
  await expect(problem(page)).toContainText('QUOTE_EXPIRED');
  expect(relay.stored.size).toBe(2);
  await page.close();
  relay.faults = {};
  const other = await openPublish(context, root);
  await choose(other, text);
  await askForPrice(other);
  await expect(published(other)).toBeVisible();
  expect(relay.stored.size).toBe(4);
  expect(before - (await balance())).toBe(4n * recordPrice);
});

test('a relay that lies about the price, the vault or the payee gets nothing', { tag: '@full' }, async ({
  context,
}) => {
  const page = await openPublish(context, root);
  const lies: [RelayFaults, string][] = [
    [{ info: { vault: `0x${'66'.repeat(20)}` } }, 'CHAIN'],
    [{ offer: (offer) => ({ ...offer, amount: `${BigInt(offer.amount) * 2n}` }) }, 'QUOTE'],
    [{ offer: (offer) => ({ ...offer, rewardsAddress: `0x${'66'.repeat(20)}` }) }, 'QUOTE'],
    [{ offer: (offer) => ({ ...offer, quoteHash: `0x${'66'.repeat(32)}` }) }, 'QUOTE'],
  ];
  await choose(page);
  for (const [faults, code] of lies) {
    relay.faults = faults;
    await askForPrice(page);
    await expect(problem(page)).toContainText(code);
  }
  expect(await walletIn(page).asked()).toEqual([]);
});

test('a gateway whose sites share its origin does not pay', { tag: '@full' }, async ({
  context,
  startHost,
}) => {
  const host = await startHost({ peers: [], isolation: 'path' });
  const page = await openPublish(context, host.url);
  await choose(page);
  await page.getByRole('checkbox', { name: /^In the Autonomi network/ }).check();
  await expect(page.getByText('Their scripts could change what you pay for')).toBeVisible();
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(problem(page)).toContainText('The app cannot pay for uploads at this address.');
  await expect(published(page)).toBeHidden();
});
