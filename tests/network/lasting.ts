import assert from 'node:assert/strict';
import type { Locator, Page } from '@playwright/test';
import { formatAnt } from '../../src/payment/amounts.ts';
import { addressOf, fillNewPassphrase, passphrase, section, sendWords } from '../support/lasting-address.ts';
import { payButton, price } from '../support/payment-screen.ts';
import type { TestChain } from '../support/test-chain.ts';
import { seconds } from './rows.ts';

/** The longest time until the app has the price, or has stored the state, in milliseconds. */
const mostMs = 300_000;

/** Gives what the page has just published a lasting address, which the page's wallet pays for. */
export async function nameFromPage(
  page: Page,
  chain: TestChain,
  name: string,
): Promise<{ address: string; seconds: number }> {
  const form = await openForm(page, 'Give it a lasting address');
  await form.getByLabel('Your name for it').fill(name);
  await fillNewPassphrase(form);
  await form.getByRole('button', { name: 'Continue' }).click();
  await form.getByRole('listitem').first().waitFor();
  const startedMs = performance.now();
  await sendWords(page);
  await payForState(page, chain, `${name} is ready.`);
  const took = seconds(startedMs);
  return { address: await addressOf(page, name), seconds: took };
}

/** Leads the only lasting address to what the page has just published. @returns the time. */
export async function moveFromPage(page: Page, chain: TestChain, name: string): Promise<number> {
  const form = await openForm(page, 'Show it at your lasting address');
  await form.getByLabel('Passphrase', { exact: true }).fill(passphrase);
  const startedMs = performance.now();
  await form.getByRole('button', { name: 'Change it' }).click();
  await payForState(page, chain, `${name} leads to the chosen content now`);
  return seconds(startedMs);
}

/** The form begins with the place where the publication is: the network's nodes. */
async function openForm(page: Page, button: string): Promise<Locator> {
  await page.getByRole('button', { name: button }).click();
  const form = section(page).getByRole('form');
  await form.getByRole('radio', { name: /^In the Autonomi network/, checked: true }).waitFor();
  await form.getByRole('checkbox', { name: /^The network’s nodes, directly/, checked: true }).waitFor();
  return form;
}

/** Pays for a state, and the chain has to charge what the page says. */
async function payForState(page: Page, chain: TestChain, result: string): Promise<void> {
  const before = await chain.balances();
  await price(page).getByRole('button', { name: 'Connect Test Wallet' }).click({ timeout: mostMs });
  const shown = await payButton(page).textContent();
  await payButton(page).click();
  const done = section(page).getByText(result);
  await done.waitFor({ timeout: mostMs }).catch(async () => {
    assert.fail(`The page shows: ${await section(page).textContent()}`);
  });
  const { token } = await chain.balances();
  assert.equal(shown, `Pay ${formatAnt(before.token - token)}`, 'the chain charged the price');
}
