import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { shortAddress } from '../../src/address.ts';
import { OwnerKey } from '../../src/owner/owner-key.ts';
import { seedOfPhrase } from '../../src/owner/recovery-phrase.ts';
import { expect, openShellIn, openWorkerIn, sceneOfFile, test } from '../support/chromium.ts';
import { openFreshPage } from '../support/fresh-shell.ts';
import {
  createPointer,
  openFreshPublish,
  passphrase,
  publishPage,
  section,
  startPublisher,
} from '../support/lasting-address.ts';
import { publish } from '../support/publish.ts';
import { writeFiles } from '../support/publish-screen.ts';
import { keyFileOf, listedFile, signatureFields, tarWithFields } from '../support/signatures.ts';
import { untilViewed } from '../support/viewer.ts';

// Keys are derived in 1,000,000 rounds, several times in each test.
test.describe.configure({ timeout: 120_000 });

const scene = sceneOfFile(async ({ startPeer, folder, context }) => {
  const { peer, root } = await startPublisher(startPeer, folder);
  return { peer, root, empty: await openWorkerIn(context, root) };
});

async function openFiles(page: Page, root: string, address: string): Promise<void> {
  await page.goto('about:blank');
  await page.goto(`${root}/#view=${address}/`);
  await untilViewed(page, `/${address}/`);
  await page.getByRole('button', { name: 'Files', exact: true }).click();
}

test('a signed publication has the same address each time, and its files show the user’s key', {
  tag: '@full',
}, async ({ browser, folder }) => {
  const { root } = scene();
  const page = await openFreshPublish(scene().empty);
  await publishPage(page, 'First');
  const words = await createPointer(page, 'My garden');
  await page.getByRole('button', { name: 'Publish something else' }).click();
  const { address: key } = new OwnerKey(seedOfPhrase(words.map((word) => word.trim()).join(' ')));
  const site = writeFiles(mkdtempSync(join(folder, 'site-')), {
    'index.html': '<!doctype html><title>Garden</title><h1>Garden</h1>',
    'docs/a b.txt': 'blanks',
  });
  const publishSigned = async (typed: string) => {
    await page.locator('input[name=folder]').setInputFiles(site);
    await page.getByLabel('Sign the files').check();
    await page.getByLabel('Passphrase of the key').fill(typed);
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
  };
  await publishSigned('another passphrase');
  await expect(page.getByRole('region', { name: 'Where' }).getByRole('alert')).toContainText('REFUSED');
  const addresses: string[] = [];
  for (let run = 0; run < 2; run++) {
    if (run === 0) await page.getByLabel('Passphrase of the key').fill(passphrase);
    if (run === 0) await page.getByRole('button', { name: 'Publish', exact: true }).click();
    else await publishSigned(passphrase);
    const done = page.getByRole('region', { name: 'Published', exact: true });
    await expect(done).toBeVisible({ timeout: 45_000 });
    addresses.push(/[0-9a-f]{64}/.exec((await done.textContent())!)![0]);
    await page.getByRole('button', { name: 'Publish something else' }).click();
  }
  expect(addresses[1]).toBe(addresses[0]);

  await openFiles(page, root, addresses[0]!);
  const by = `Signed by you (My garden), ${shortAddress(key.hex)}`;
  await expect(listedFile(page, 'index.html')).toContainText(by, { timeout: 45_000 });
  await expect(listedFile(page, 'archive.tar.key')).toContainText(by);
  await page.getByRole('button', { name: 'docs/' }).click();
  await expect(listedFile(page, 'a b.txt')).toContainText(by);

  // Another profile does not have the key.
  const visitor = await browser.newContext();
  const shell = await openShellIn(visitor, root);
  await openFiles(shell, root, addresses[0]!);
  await expect(listedFile(shell, 'index.html')).toContainText(`Signed by ${shortAddress(key.hex)}`, {
    timeout: 45_000,
  });
  await visitor.close();
});

test('does not publish without the signatures that the user wants', async ({ folder }) => {
  const page = await openFreshPublish(scene().empty);
  await expect(section(page)).toContainText('New lasting address');
  await page
    .locator('input[name=folder]')
    .setInputFiles(writeFiles(mkdtempSync(join(folder, 'site-')), { 'index.html': '<h1>Garden</h1>' }));
  await page.getByLabel('Sign the files').check();
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(page.getByRole('region', { name: 'Where' }).getByRole('alert')).toContainText(
    'Create one below first',
  );
});

test('shows the user’s name for a signer, unsigned files and archives, in both languages', {
  tag: '@full',
}, async ({ browser }) => {
  const { peer, root } = scene();
  const alice = new OwnerKey(new Uint8Array(32).fill(1));
  const text = '<!doctype html><title>Low Tide</title>';
  const files = { 'index.html': text, 'plain.txt': 'plain', 'archive.tar.key': keyFileOf(alice) };
  const tar = await tarWithFields(files, (path) =>
    path === 'index.html' ? signatureFields(alice, text) : '',
  );
  const signed = await publish(tar, peer);
  const unsigned = await publish(await tarWithFields({ 'index.html': text }, () => ''), peer);
  const page = await openFreshPage(scene().empty, '', { names: { alice: alice.address.hex } });

  await openFiles(page, root, signed);
  const short = shortAddress(alice.address.hex);
  await expect(listedFile(page, 'index.html')).toContainText(`Signed by ~alice, ${short}`, {
    timeout: 45_000,
  });
  await expect(listedFile(page, 'plain.txt')).toContainText('Not signed');
  await expect(listedFile(page, 'index.html').getByRole('link')).toHaveAttribute(
    'href',
    `/${signed}/index.html`,
  );
  await openFiles(page, root, unsigned);
  await expect(listedFile(page, 'index.html')).toBeVisible();
  await expect(page.locator('.site-panel')).not.toContainText(/sign/i);

  const german = await browser.newContext({ locale: 'de-DE' });
  const shell = await openShellIn(german, root);
  await shell.goto(`${root}/#view=${signed}/`);
  await untilViewed(shell, `/${signed}/`);
  await shell.getByRole('button', { name: 'Dateien', exact: true }).click();
  await expect(listedFile(shell, 'index.html')).toContainText(`Signiert von ${short}`, { timeout: 45_000 });
  await german.close();
});
