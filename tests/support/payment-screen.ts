import type { Locator, Page } from '@playwright/test';
import { TestChain } from './test-chain.ts';

/** Fills in the fields for an upload to the network of a test chain. @param relay is named besides those that the app finds. */
export async function fillNetwork(
  page: Page,
  { token, vault }: Pick<TestChain, 'token' | 'vault'>,
  { atPeers = false, relay }: { atPeers?: boolean; relay?: string } = {},
): Promise<void> {
  await page.getByRole('checkbox', { name: 'At peers' }).setChecked(atPeers);
  await page.getByRole('checkbox', { name: /^In the Autonomi network/ }).check();
  await fillNetworkFields(page, { token, vault }, relay);
}

/** Fills in the fields that come a moment after the network is chosen. @param place the screen, or a form in it. */
export async function fillNetworkFields(
  place: Page | Locator,
  { token, vault }: Pick<TestChain, 'token' | 'vault'>,
  relay?: string,
): Promise<void> {
  const chainField = place.getByLabel('Chain, token and vault');
  const anotherChain = place.getByText('Another chain', { exact: true });
  // They are already unfolded if the app remembers a chain.
  await anotherChain.waitFor();
  if (!(await chainField.isVisible())) await anotherChain.click();
  await chainField.fill(`${TestChain.chainId},${token},${vault}`);
  if (relay !== undefined) await place.getByLabel('Another peer that brings it to the network').fill(relay);
}

/** The relays that the app found among its peers. */
export function foundRelays(page: Page): Locator {
  return page.getByRole('group', { name: 'Peers that bring it' }).getByRole('checkbox');
}

export function seePrice(page: Page): Promise<void> {
  return page.getByRole('button', { name: 'See the price' }).click();
}

export function price(page: Page): Locator {
  return page.getByRole('region', { name: 'What it costs' });
}

export function payButton(page: Page): Locator {
  return price(page).getByRole('button', { name: /^Pay / });
}

/** The result of an upload. */
export function published(page: Page): Locator {
  return page.getByRole('region', { name: 'Published', exact: true });
}
