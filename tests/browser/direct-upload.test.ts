import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { expect, fetchIn, test } from '../support/chromium.ts';
import { fillNewPassphrase, openPublish, section, sendWords } from '../support/lasting-address.ts';
import { distFolder } from '../support/paths.ts';
import { fillNetwork, price, seePrice } from '../support/payment-screen.ts';

/** A node that does not exist, on this computer. */
const node = `/ip4/127.0.0.1/udp/9/webrtc-direct/certhash/uEiAkAsFZc-iV5UToJHyETA8GLBIVdzB10Qv6VuNlwqTwkQ/p2p/${'5a'.repeat(32)}`;
const chain = { token: `0x${'aa'.repeat(20)}`, vault: `0x${'bb'.repeat(20)}` };

test.describe.configure({ timeout: 120_000 });

const direct = (page: Page) => page.getByRole('checkbox', { name: /^The network’s nodes, directly/ });

async function choose(page: Page): Promise<void> {
  const buffer = Buffer.from('<!doctype html><title>Garden</title>');
  await page
    .locator('input[name=files]')
    .setInputFiles({ name: 'garden.html', mimeType: 'text/html', buffer });
  await fillNetwork(page, chain);
}

test('the nodes are offered for uploads once direct connections are on, and an error says that none answers', {
  tag: '@full',
}, async ({ startPeer, folder, context }) => {
  const configFile = join(folder, 'antway.json');
  writeFileSync(configFile, JSON.stringify({ peers: ['/'], nodes: [node] }));
  const flags = ['--web', distFolder, '--web-config', configFile];
  const peer = await startPeer({ flags, webTransport: 'none' });
  const root = `http://antway.localhost:${new URL(peer.url).port}`;
  const page = await openPublish(context, root);
  await choose(page);
  await expect(direct(page)).toHaveCount(0);
  const howTo = page.getByText('allow “Direct connections” in the settings');
  await expect(howTo).toBeVisible();
  await page.goto(`${root}/#settings`);
  await page.getByRole('region', { name: 'Direct connections' }).getByRole('checkbox').check();
  // The page that loads next would end a request that saves it.
  const isSaved = async () => JSON.parse((await fetchIn(page, '/-/settings')).text).useNodes;
  await expect.poll(isSaved).toBe(true);
  await page.goto(`${root}/#publish`);
  await page.reload();
  await choose(page);
  await expect(direct(page)).not.toBeChecked();
  // Also on the network's own chain.
  await page.getByLabel('Chain, token and vault').fill('');
  await expect(direct(page)).toBeVisible();
  await expect(howTo).toHaveCount(0);
  await fillNetwork(page, chain);
  await expect(direct(page)).toHaveAccessibleName(/the nodes learn your IP address/);
  await expectAccessible(page);
  await seePrice(page);
  await expect(page.getByText('Choose a peer or the nodes, to bring it to the network.')).toBeVisible();
  await direct(page).check();
  await seePrice(page);
  await expect(page.getByText('No node of the network answers.')).toBeVisible({ timeout: 60_000 });
  await expect(price(page)).toHaveCount(0);

  // The same for a lasting address, whose form is open beside that of the upload.
  await section(page).getByRole('button', { name: 'New lasting address' }).click();
  const form = section(page).getByRole('form');
  await form.getByLabel('Your name for it').fill('Garden');
  await form.getByRole('textbox', { name: 'Address of the content' }).fill('ab'.repeat(32));
  await form.locator('summary', { hasText: 'Stored at' }).click();
  await form.getByRole('radio', { name: /^In the Autonomi network/ }).check();
  const nodes = form.getByRole('checkbox', { name: /^The network’s nodes, directly/ });
  await nodes.uncheck();
  await fillNewPassphrase(form);
  await form.getByRole('button', { name: 'Continue' }).click();
  await expect(form.getByText('Choose a peer or the nodes, to bring it to the network.')).toBeVisible();
  await expect(form.getByLabel('Another peer that brings it to the network')).toBeFocused();
  await expectAccessible(page);
  await nodes.check();
  await form.getByRole('button', { name: 'Continue' }).click();
  await sendWords(page);
  await expect(form.getByText('No node of the network answers.')).toBeVisible({ timeout: 60_000 });
  await expect(price(page)).toHaveCount(0);
});
