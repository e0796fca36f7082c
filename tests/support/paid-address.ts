import type { Locator, Page } from '@playwright/test';
import { expect } from './chromium.ts';
import { choosePage, fillNewPassphrase, passphrase, section, sendWords } from './lasting-address.ts';
import { fillNetwork, fillNetworkFields, payButton, price, published, seePrice } from './payment-screen.ts';
import type { RelayDouble } from './relay-double.ts';
import type { TestChain } from './test-chain.ts';

/** The open form of a lasting address. */
export const form = (page: Page): Locator => section(page).getByRole('form');
export const network = (page: Page) => form(page).getByRole('radio', { name: /^In the Autonomi network/ });
export const problem = (page: Page) => section(page).locator('.note-problem:not(:empty)');

/** Chooses the network in the open form, with the relays that the app finds and this one. */
export async function chooseNetwork(page: Page, chain: TestChain, relay: RelayDouble): Promise<void> {
  if (!(await network(page).isVisible()))
    await form(page).locator('summary', { hasText: 'Stored at' }).click();
  await network(page).check();
  await fillNetworkFields(form(page), chain, relay.url);
  await expect(form(page)).not.toContainText('Asking your peers');
}

/** Unlocks the key, and sends the form. */
export async function confirm(page: Page, button: string): Promise<void> {
  await form(page).getByLabel('Passphrase', { exact: true }).fill(passphrase);
  await form(page).getByRole('button', { name: button }).click();
}

export async function connect(page: Page, chain: TestChain): Promise<void> {
  await price(page).getByRole('button', { name: 'Connect Test Wallet' }).click();
  await expect(price(page).getByText(chain.accounts[0]!, { exact: true })).toBeVisible();
}

/** Pays for one state. */
export async function pay(page: Page, chain: TestChain): Promise<void> {
  await connect(page, chain);
  await expect(payButton(page)).toHaveText('Pay 0.01171875 ANT');
  await payButton(page).click();
}

/** Publishes a page with this title in the network. */
export async function publishPaid(
  page: Page,
  title: string,
  chain: TestChain,
  relay: RelayDouble,
): Promise<void> {
  await choosePage(page, title);
  await fillNetwork(page, chain, { relay: relay.url });
  await seePrice(page);
  await connect(page, chain);
  await payButton(page).click();
  await expect(published(page)).toBeVisible();
}

/** Opens the form for a new address, fills it in, and sends it as far as the price. @returns the 24 words. */
export async function createInNetwork(
  page: Page,
  name: string,
  chain: TestChain,
  relay: RelayDouble,
): Promise<string[]> {
  await section(page).getByRole('button', { name: 'New lasting address' }).click();
  await form(page).getByLabel('Your name for it').fill(name);
  await chooseNetwork(page, chain, relay);
  await fillNewPassphrase(form(page));
  await form(page).getByRole('button', { name: 'Continue' }).click();
  const words = await sendWords(page);
  await expect(price(page)).toContainText('0.01171875 ANT, and the fees of the chain');
  return words;
}
