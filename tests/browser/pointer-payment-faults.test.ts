import type { BrowserContext, Page } from '@playwright/test';
import { Address } from '../../src/address.ts';
import { OwnerKey } from '../../src/owner/owner-key.ts';
import { seedOfPhrase } from '../../src/owner/recovery-phrase.ts';
import { signPointer } from '../../src/owner/sign-pointer.ts';
import { expectAccessible } from '../support/accessibility.ts';
import { expect, test } from '../support/chromium.ts';
import {
  action,
  addressOf,
  createPointer,
  openPublish,
  passphrase,
  publishPage,
  row,
  section,
  startPublisher,
} from '../support/lasting-address.ts';
import { installWallet, walletIn } from '../support/page-wallet.ts';
import {
  chooseNetwork,
  confirm,
  connect,
  createInNetwork,
  form,
  pay,
  problem,
  publishPaid,
} from '../support/paid-address.ts';
import { payButton, price, published } from '../support/payment-screen.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { TestChain } from '../support/test-chain.ts';

/** The price of a record at nodes without records: three times 0.00390625 ANT. */
const recordPrice = 11_718_750_000_000_000n;

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

const balance = async () => (await chain.balances()).token;

/** A publisher's screen, with a page that peers have. */
async function publishFirst(
  context: BrowserContext,
  ...at: Parameters<typeof startPublisher>
): Promise<Page> {
  const { root } = await startPublisher(...at);
  const page = await openPublish(context, root);
  await publishPage(page, 'First');
  return page;
}

/** Stores the newest state of “Garden” again, for no payment. */
async function storeAgain(page: Page): Promise<void> {
  await action(page, 'Store it again', 'Garden').click();
  await chooseNetwork(page, chain, relay);
  await form(page).getByRole('button', { name: 'Store it' }).click();
  await expect(section(page)).toContainText('Garden is stored.');
}

async function saveKeyFile(page: Page, name: string): Promise<void> {
  await action(page, 'Save key file', name).click();
  const rowForm = row(page, name).getByRole('form');
  await rowForm.getByLabel('Passphrase', { exact: true }).fill(passphrase);
  const download = page.waitForEvent('download');
  await rowForm.getByRole('button', { name: 'Save' }).click();
  await download;
  await expect(rowForm).toBeHidden();
}

test('a state is not paid for if the key signed a newer one elsewhere while the price was shown', {
  tag: '@full',
}, async ({ context, startPeer, folder }) => {
  const page = await publishFirst(context, startPeer, folder);
  const words = await createInNetwork(page, 'Garden', chain, relay);
  // The content is only at the peer.
  await expect(price(page)).toContainText('The network does not have the content yet');
  await connect(page, chain);
  const before = await balance();
  const key = new OwnerKey(seedOfPhrase(words.join(' ')));
  const elsewhere = { kind: 'chunk', target: Address.fromHex('7'.repeat(64)) } as const;
  const { record } = signPointer(key, elsewhere, [{ counter: 4n }]);
  relay.pointers.set(key.address.hex, record);
  await payButton(page).click();
  await expect(problem(page)).toContainText('a newer state (5), which leads to 77777777…');
  await expect(problem(page)).toContainText('CHANGED');
  await expectAccessible(page);
  expect(relay.pointers.get(key.address.hex)).toEqual(record);
  expect(await balance()).toBe(before);

  // The app remembers the state that it has seen.
  relay.pointers.clear();
  await price(page).getByRole('button', { name: 'Back' }).click();
  await form(page).getByRole('button', { name: 'Create' }).click();
  await pay(page, chain);
  await expect(row(page, 'Garden')).toContainText('state 6');
  expect(before - (await balance())).toBe(recordPrice);
});

test('a second peer stores a state that the first one hides, forgets or refuses', { tag: '@full' }, async ({
  context,
  startHost,
}) => {
  const first = await RelayDouble.start(chain, relay.stored, relay.pointers);
  try {
    const host = await startHost({ peers: [first.url] });
    const page = await openPublish(context, host.url.replace('127.0.0.1', 'antway.localhost'));
    await publishPaid(page, 'First', chain, relay);
    await createInNetwork(page, 'Garden', chain, relay);
    const before = await balance();
    first.faults = { forgets: true };
    await pay(page, chain);
    await expect(section(page)).toContainText('Garden is ready.');
    const address = await addressOf(page, 'Garden');
    expect(relay.pointers.has(address)).toBe(false);
    await storeAgain(page);
    const stored = relay.pointers.get(address);
    expect(stored).toBeDefined();
    expect(before - (await balance())).toBe(recordPrice);

    // The first peer tells no state, and takes none.
    first.faults = { hidesPointers: true, putStatus: 410 };
    await action(page, 'Freeze', 'Garden').click();
    await chooseNetwork(page, chain, relay);
    await confirm(page, 'Freeze for ever');
    await pay(page, chain);
    await expect(row(page, 'Garden')).toContainText('frozen for ever');
    expect(relay.pointers.get(address)).not.toEqual(stored);
    expect(before - (await balance())).toBe(2n * recordPrice);

    // A peer that is away could have a newer state.
    first.faults = { readAnswer: [503, { code: 'DISCONNECTED', message: '' }] };
    await action(page, 'Store it again', 'Garden').click();
    await chooseNetwork(page, chain, relay);
    await form(page).getByRole('button', { name: 'Store it' }).click();
    await expect(problem(page)).toContainText('SHORTFALL');
    await expect(problem(page)).toContainText(first.url);
    await form(page)
      .getByRole('checkbox', { name: new URL(first.url).host })
      .uncheck();
    await form(page).getByRole('button', { name: 'Store it' }).click();
    await expect(section(page)).toContainText('Garden is stored.');

    first.faults = { readAnswer: [405, { code: 'METHOD', message: '' }] };
    await action(page, 'Store it again', 'Garden').click();
    await chooseNetwork(page, chain, relay);
    await form(page)
      .getByRole('checkbox', { name: new URL(first.url).host })
      .check();
    await form(page).getByRole('button', { name: 'Store it' }).click();
    await expect(problem(page)).toContainText('OLD_RELAY');
  } finally {
    await first.stop();
  }
});

test('a state that only the peer itself stores is paid for, and then it is in the network', {
  tag: '@full',
}, async ({ context, startHost }) => {
  const host = await startHost({ peers: [] });
  const page = await openPublish(context, host.url.replace('127.0.0.1', 'antway.localhost'));
  await publishPaid(page, 'First', chain, relay);
  await createInNetwork(page, 'Garden', chain, relay);
  await pay(page, chain);
  await expect(section(page)).toContainText('Garden is ready.');
  const address = await addressOf(page, 'Garden');
  const record = relay.pointers.get(address)!;
  relay.ownPointers.set(address, record);
  relay.pointers.clear();
  await storeAgain(page);
  expect(relay.pointers.get(address)).toEqual(record);
});

test('a payment for a lasting address goes on although the user wants one for other content', {
  tag: '@full',
}, async ({ context, startPeer, folder }) => {
  const page = await publishFirst(context, startPeer, folder);
  await createInNetwork(page, 'Garden', chain, relay);
  await connect(page, chain);
  await published(page)
    .getByRole('button', { name: /lasting address…$/ })
    .click();
  await expect(section(page).getByRole('status').first()).toContainText('Finish or cancel it first.');
  await expect(section(page).getByRole('heading', { name: 'Lasting addresses' })).toBeFocused();
  await payButton(page).click();
  await expect(section(page)).toContainText('Garden is ready.');

  // With nothing going on, the form opens.
  await published(page)
    .getByRole('button', { name: /lasting address…$/ })
    .click();
  await expect(form(page).getByRole('button', { name: 'Change it' })).toBeVisible();
});

test('a payment that was sent before the user stopped is used, also if a peer does not answer then', {
  tag: '@full',
}, async ({ context, startPeer, folder }) => {
  const page = await publishFirst(context, startPeer, folder);
  await createInNetwork(page, 'Garden', chain, relay);
  const before = await balance();
  await connect(page, chain);
  await walletIn(page).set({ mode: 'hold' });
  await payButton(page).click();
  await walletIn(page).agreeLate();
  await expect(price(page)).toContainText('Your wallet asks for the payment');
  await chain.request('evm_setAutomine', [false]);
  await walletIn(page).agreeLate();
  await expect(price(page)).toContainText('The chain confirms the payment');
  await price(page).getByRole('button', { name: 'Stop waiting' }).click();
  await expect(payButton(page)).toBeVisible();
  await chain.request('evm_setAutomine', [true]);
  await chain.request('evm_mine');
  relay.faults = { readAnswer: [503, { code: 'DISCONNECTED', message: '' }] };
  await payButton(page).click();
  await expect(section(page)).toContainText('Garden is ready.');
  expect(relay.pointers.has(await addressOf(page, 'Garden'))).toBe(true);
  expect(before - (await balance())).toBe(recordPrice);
});

test('an action with another lasting address keeps the form of a payment, and a receipt', {
  tag: '@full',
}, async ({ context, startPeer, folder }) => {
  const page = await publishFirst(context, startPeer, folder);
  await createPointer(page, 'Pond');
  await createInNetwork(page, 'Garden', chain, relay);
  await connect(page, chain);
  await saveKeyFile(page, 'Pond');
  await payButton(page).click();
  await expect(section(page)).toContainText('Garden is ready.');
  await saveKeyFile(page, 'Pond');
  await expect(section(page).getByRole('button', { name: 'Save the receipt' })).toBeVisible();
});
