import assert from 'node:assert/strict';
import type { Page } from '@playwright/test';
import { formatAnt, formatEther } from '../../src/payment/amounts.ts';
import { walletIn } from '../support/page-wallet.ts';
import { payButton, price, seePrice } from '../support/payment-screen.ts';
import type { TestChain } from '../support/test-chain.ts';
import { seconds } from './rows.ts';

/** The longest time until the app has the prices, or has stored everything, in milliseconds. */
const mostMs = 1_500_000;

/** Content that the app has published. */
interface Publication {
  /** Its address, or the link to private content. */
  target: string;
  /** From the question for the price until the network has everything. */
  seconds: number;
}

/**
 * Publishes what is chosen in the page. The page's wallet pays, and the chain has to charge what the page says.
 * @param pay presses the button, or does more.
 */
export async function publishFromPage(
  page: Page,
  chain: TestChain,
  pay: () => Promise<void> = () => payButton(page).click(),
): Promise<Publication> {
  const before = await chain.balances();
  const startedMs = performance.now();
  await seePrice(page);
  await price(page).getByRole('button', { name: 'Connect Test Wallet' }).click({ timeout: mostMs });
  const shown = await payButton(page).textContent();
  // The chain chooses the nodes that a batch pays.
  const isMost = (await price(page).textContent())!.includes('At most ');
  await pay();
  const { text, target } = await resultOf(page);
  const took = seconds(startedMs);
  const after = await chain.balances();
  const paid = formatAnt(before.token - after.token);
  if (isMost) assert.ok(amountIn(shown!) >= amountIn(paid), `the chain charged ${paid}, for “${shown}”`);
  else assert.equal(shown, `Pay ${paid}`, 'the chain charged the price');
  const fees = formatEther(before.ether - after.ether);
  assert.ok(text.includes(`you paid ${paid}, and fees of ${fees}.`), text);
  return { target, seconds: took };
}

const amountIn = (text: string) => Number(/[\d.]+/.exec(text)![0]);

/** Pays with the page's wallet, and does work after the wallet has paid and before the chain confirms it. */
export async function payMeanwhile(page: Page, chain: TestChain, work: () => Promise<void>): Promise<void> {
  const wallet = walletIn(page);
  await wallet.set({ mode: 'hold' });
  await payButton(page).click();
  // The first transaction is the permission.
  await wallet.agreeLate();
  await chain.request('evm_setAutomine', [false]);
  await wallet.agreeLate();
  await work();
  await chain.request('evm_setAutomine', [true]);
  await chain.request('evm_mine');
}

/** Publishes what is chosen in the page, and is paid for or stored already. */
export async function publishForNothing(page: Page, chain: TestChain): Promise<Publication> {
  const before = await chain.balances();
  const startedMs = performance.now();
  await seePrice(page);
  const { text, target } = await resultOf(page);
  const took = seconds(startedMs);
  assert.deepEqual(await chain.balances(), before, 'the chain charged nothing');
  assert.ok(text.includes('you paid 0 ANT, and fees of 0 ETH.'), text);
  return { target, seconds: took };
}

async function resultOf(page: Page): Promise<{ text: string; target: string }> {
  const result = page.getByRole('region', { name: /^Published( privately)?$/ });
  // The links come a moment after the rest.
  const link = await result
    .locator('.result-text', { hasText: /^ant:\/\// })
    .first()
    .textContent({ timeout: mostMs })
    .catch(async () => assert.fail(`The page shows: ${await page.locator('body').textContent()}`));
  const [, address] = /^ant:\/\/([0-9a-f]{64})\/?$/.exec(link!) ?? [];
  return { text: (await result.textContent())!, target: address ?? link! };
}
