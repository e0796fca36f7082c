import { readFileSync } from 'node:fs';
import type { BrowserContext, Page } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { expect, fetchIn, openShellIn, test } from '../support/chromium.ts';
import {
  action,
  addressOf,
  fillNewPassphrase,
  openPublish,
  publishPage,
  row,
  section,
  sendWords,
  startPublisher,
} from '../support/lasting-address.ts';
import { installWallet, walletIn } from '../support/page-wallet.ts';
import {
  chooseNetwork,
  confirm,
  connect,
  createInNetwork,
  form,
  network,
  pay,
  problem,
  publishPaid,
} from '../support/paid-address.ts';
import { payButton, price, published } from '../support/payment-screen.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { TestChain } from '../support/test-chain.ts';

/** The price of a record at nodes without records: three times 0.00390625 ANT. */
const recordPrice = 11_718_750_000_000_000n;
/** Three chunks and the data map. */
const fileRecords = 4n;

let chain: TestChain;
let relay: RelayDouble;

// Keys are derived in 1,000,000 rounds, several times in each test.
test.describe.configure({ timeout: 180_000 });

test.beforeAll(async () => {
  chain = await TestChain.start();
});
test.afterAll(() => chain.stop());
test.beforeEach(async ({ context }) => {
  relay = await RelayDouble.start(chain);
  await installWallet(context, chain);
});
test.afterEach(() => relay.stop());

const unfinished = (page: Page) => page.getByRole('region', { name: 'Paid, and not stored yet' });
const balance = async () => (await chain.balances()).token;

/** The title of the content for a visitor whose gateway reads from the network through the relay. */
async function titleForVisitors(context: BrowserContext, root: string, address: string): Promise<string> {
  const visitor = await context.browser()!.newContext();
  const shell = await openShellIn(visitor, root);
  const { text } = await fetchIn(shell, `/${address}`);
  await visitor.close();
  return /<title>(.*)<\/title>/.exec(text)?.[1] ?? text;
}

test('a user without a peer pays for an address and each change of it, and visitors read them', {
  tag: '@full',
}, async ({ context, startHost }) => {
  const host = await startHost({ peers: [] });
  const page = await openPublish(context, host.url.replace('127.0.0.1', 'antway.localhost'));
  const readers = (await startHost({ peers: [relay.url] })).url;
  const before = await balance();
  await publishPaid(page, 'First', chain, relay);

  // A paid publication leads to a form for the network.
  await published(page).getByRole('button', { name: 'Give it a lasting address' }).click();
  await expect(network(page)).toBeChecked();
  await expect(form(page).getByLabel('Another peer that brings it')).toHaveValue(relay.url);
  await expectAccessible(page);
  await form(page).getByLabel('Your name for it').fill('My garden');
  await fillNewPassphrase(form(page));
  await form(page).getByRole('button', { name: 'Continue' }).click();
  await sendWords(page);
  await expect(price(page).getByRole('heading')).toBeFocused();
  await expect(price(page)).toContainText('0.01171875 ANT, and the fees of the chain');
  await expect(price(page)).toContainText('You pay once for each new state.');
  await expect(form(page)).toBeHidden();
  await connect(page, chain);
  await expectAccessible(page);
  await expect(payButton(page)).toHaveText('Pay 0.01171875 ANT');
  await payButton(page).click();
  await expect(section(page)).toContainText('My garden is ready.');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    section(page).getByRole('button', { name: 'Save the receipt' }).click(),
  ]);
  const receipt = JSON.parse(readFileSync(await download.path(), 'utf8'));
  expect(receipt.payments).toMatchObject([{ amount: `${recordPrice}`, stateId: expect.any(String) }]);
  expect(before - (await balance())).toBe((fileRecords + 1n) * recordPrice);
  const address = await addressOf(page, 'My garden');
  expect(await titleForVisitors(context, readers, address)).toBe('First');

  await publishPaid(page, 'Second', chain, relay);
  await published(page).getByRole('button', { name: 'Show it at your lasting address' }).click();
  await expect(network(page)).toBeChecked();
  await confirm(page, 'Change it');
  await pay(page, chain);
  await expect(row(page, 'My garden')).toContainText('Leads to Second');
  expect(await titleForVisitors(context, readers, address)).toBe('Second');

  await row(page, 'My garden').getByText('Earlier states').click();
  await row(page, 'My garden').getByRole('button', { name: 'Return to this state… 0' }).click();
  await confirm(page, 'Return to it');
  await pay(page, chain);
  await expect(row(page, 'My garden')).toContainText('state 2');
  expect(await titleForVisitors(context, readers, address)).toBe('First');
  expect(before - (await balance())).toBe((2n * fileRecords + 3n) * recordPrice);
});

test('nothing is paid, signed or stored if the user goes back, refuses or sets a low limit', {
  tag: '@full',
}, async ({ context, startPeer, folder }) => {
  const { root } = await startPublisher(startPeer, folder);
  const page = await openPublish(context, root);
  await publishPage(page, 'First');
  const before = await balance();
  await createInNetwork(page, 'Garden', chain, relay);
  expect(await walletIn(page).asked()).toEqual([]);
  await price(page).getByRole('button', { name: 'Back' }).click();
  await expect(form(page)).toBeFocused();
  await expect(problem(page)).toContainText('You went back without paying.');

  await form(page).getByRole('button', { name: 'Create' }).click();
  await connect(page, chain);
  await walletIn(page).set({ mode: 'refuse' });
  await payButton(page).click();
  await expect(problem(page)).toContainText('REJECTED');
  await price(page).getByLabel('Pay at most').fill('0.01');
  await payButton(page).click();
  await expect(price(page)).toContainText('The price is higher than what you want to pay at most.');
  // Leaving the screen ends the action.
  await page.goto(`${root}/#settings`);
  await expect(price(page)).toHaveCount(0);
  await page.goto(`${root}/#publish`);
  await expect(row(page, 'Garden')).toContainText('Leads nowhere yet');
  expect(relay.pointers.size).toBe(0);

  // The key is here, and nothing keeps its first state from being stored elsewhere.
  await action(page, 'Change where it leads', 'Garden').click();
  await form(page).getByRole('radio', { name: 'At peers' }).check();
  await confirm(page, 'Change it');
  await expect(row(page, 'Garden')).toContainText('state 0');
  expect(await balance()).toBe(before);
  await page.reload();
  await expect(page.getByRole('region', { name: 'What to publish' })).toBeVisible();
  await expect(unfinished(page)).toBeHidden();
});

test('a state is paid once and stored if the tab is closed after the payment, also one that freezes', {
  tag: '@full',
}, async ({ context, startPeer, folder }) => {
  const { root } = await startPublisher(startPeer, folder);
  const first = await openPublish(context, root);
  await publishPage(first, 'First');
  const before = await balance();
  await createInNetwork(first, 'Garden', chain, relay);
  await connect(first, chain);
  await walletIn(first).set({ mode: 'hold' });
  await payButton(first).click();
  await walletIn(first).agreeLate();
  await expect(price(first)).toContainText('Your wallet asks for the payment');
  // The payment gets into a block only after the tab is closed, so the tab cannot have saved the signed state.
  await chain.request('evm_setAutomine', [false]);
  await walletIn(first).agreeLate();
  await expect(price(first)).toContainText('The chain confirms the payment');
  await first.close();
  await chain.request('evm_setAutomine', [true]);
  await chain.request('evm_mine');

  const second = await openPublish(context, root);
  await expect(unfinished(second)).toContainText('The lasting address “Garden”');
  await expect(row(second, 'Garden')).toContainText('Leads nowhere yet');
  await action(second, 'Change where it leads', 'Garden').click();
  await chooseNetwork(second, chain, relay);
  await confirm(second, 'Change it');
  await price(second).getByRole('button', { name: 'Connect Test Wallet' }).click();
  await expect(row(second, 'Garden')).toContainText('state 0');
  await expect(unfinished(second)).toBeHidden();
  const address = await addressOf(second, 'Garden');
  const created = relay.pointers.get(address);
  expect(created).toBeDefined();
  expect(before - (await balance())).toBe(recordPrice);

  relay.faults = { putStatus: 503 };
  await action(second, 'Freeze', 'Garden').click();
  await chooseNetwork(second, chain, relay);
  await confirm(second, 'Freeze for ever');
  const storing = second.waitForRequest(
    (request) => request.method() === 'PUT' && request.url().endsWith(`/network/pointer/${address}`),
  );
  await pay(second, chain);
  await storing;
  await second.close();
  relay.faults = {};
  expect(relay.pointers.get(address)).toEqual(created);

  const third = await openPublish(context, root);
  await expect(unfinished(third)).toContainText('The lasting address “Garden”');
  await expect(row(third, 'Garden')).toContainText('frozen for ever');
  await action(third, 'Store it again', 'Garden').click();
  await chooseNetwork(third, chain, relay);
  await form(third).getByRole('button', { name: 'Store it' }).click();
  await expect(section(third)).toContainText('Garden is stored.');
  await expect(unfinished(third)).toBeHidden();
  expect(relay.pointers.get(address)).not.toEqual(created);
  expect(await walletIn(third).asked()).toEqual([]);
  expect(before - (await balance())).toBe(2n * recordPrice);
});
