import { randomBytes } from 'node:crypto';
import type { Page } from '@playwright/test';
import { expect, test } from '../support/chromium.ts';
import { openPublish, startPublisher } from '../support/lasting-address.ts';
import { installWallet } from '../support/page-wallet.ts';
import { fillNetwork, payButton, price, published, seePrice } from '../support/payment-screen.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { TestChain } from '../support/test-chain.ts';

/** The price of a record at nodes without records: three times 0.00390625 ANT. */
const recordPrice = 11_718_750_000_000_000n;

const problem = (page: Page) => page.locator('.note-problem:not(:empty)');

test('a payment that the chain has lost is due again, once the wallet shows that', { tag: '@full' }, async ({
  startPeer,
  folder,
  context,
}) => {
  test.setTimeout(180_000);
  // Of its own: its time jumps.
  const chain = await TestChain.start();
  const relay = await RelayDouble.start(chain);
  try {
    const { root } = await startPublisher(startPeer, folder);
    await installWallet(context, chain);
    const text = randomBytes(16).toString('hex');
    const askForPrice = async (page: Page) => {
      await page
        .locator('input[name=files]')
        .setInputFiles({ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from(text) });
      await fillNetwork(page, chain, { relay: relay.url });
      await seePrice(page);
    };
    const connect = (page: Page) => price(page).getByRole('button', { name: 'Connect Test Wallet' }).click();

    const page = await openPublish(context, root);
    await askForPrice(page);
    const before = await chain.request('evm_snapshot', []);
    await connect(page);
    relay.faults.putStatus = 402;
    await payButton(page).click();
    await expect(problem(page)).toContainText('UNPAID', { timeout: 90_000 });
    await page.close();
    relay.faults = {};
    expect(await chain.request('evm_revert', [before])).toBe(true);
    await chain.request('evm_increaseTime', [700]);
    await chain.request('evm_mine', []);

    const again = await openPublish(context, root);
    const { token } = await chain.balances();
    await askForPrice(again);
    await expect(price(again)).toContainText('The nodes did not see the payment for 4 chunks.');
    await expect(price(again)).not.toContainText('ANT');
    await connect(again);
    await expect(problem(again)).toContainText('The chain has lost an earlier payment');
    await price(again).getByRole('button', { name: 'Back' }).click();
    await seePrice(again);
    await expect(price(again)).toContainText('0.046875 ANT, and the fees of the chain');
    await connect(again);
    await payButton(again).click();
    await expect(published(again)).toBeVisible();
    expect(relay.stored.size).toBe(4);
    expect(token - (await chain.balances()).token).toBe(4n * recordPrice);
  } finally {
    await relay.stop();
    await chain.stop();
  }
});
