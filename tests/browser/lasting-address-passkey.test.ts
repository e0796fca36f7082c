import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Locator, Page } from '@playwright/test';
import { toHex } from '../../src/address.ts';
import { seedOfKeyFile } from '../../src/owner/owned-pointers.ts';
import { seedOfPhrase } from '../../src/owner/recovery-phrase.ts';
import { saveBackup, sectionIn } from '../support/backup-screen.ts';
import { expect, openShellIn, openWorkerIn, sceneOfFile, test } from '../support/chromium.ts';
import {
  action,
  addressOf,
  confirmWords,
  contains,
  createPointer,
  filesIn,
  fillNewPassphrase,
  openFreshPublish,
  openPublish,
  passphrase,
  publishPage,
  row,
  section,
  startPublisher,
} from '../support/lasting-address.ts';
import { addAuthenticator, askForPrf, decryptSeed, storedPasskey } from '../support/passkeys.ts';
import { writeFiles } from '../support/publish-screen.ts';

let root: string;

// Keys of passphrases are derived in 1,000,000 rounds, several times in each test.
test.describe.configure({ timeout: 120_000 });

const scene = sceneOfFile(async ({ startPeer, folder, context }) => {
  const { root } = await startPublisher(startPeer, folder);
  return { root, context, empty: await openWorkerIn(context, root) };
});

test.beforeEach(() => {
  root = scene().root;
});

const formIn = (page: Page) => section(page).getByRole('form');
const alertIn = (page: Page) => formIn(page).getByRole('alert');
const send = (page: Page, button: string) => formIn(page).getByRole('button', { name: button }).click();

/**
 * Opens the screen with a published page, in a tab with an authenticator.
 * @param own another context than that of the scene.
 */
async function openWithPage({ own, ...options }: { own?: BrowserContext; hasPrf?: boolean } = {}) {
  const page = await (own ? openPublish(own, root) : openFreshPublish(scene().empty));
  const authenticator = await addAuthenticator(page, options);
  await publishPage(page, 'First');
  return { page, authenticator };
}

/** Opens the form of an action with the key. */
async function start(page: Page, what: string): Promise<Locator> {
  await action(page, what, 'Garden').click();
  return formIn(page);
}

test('a passkey alone creates a lasting address, signs an update after a reload, and exports the key', {
  tag: '@full',
}, async () => {
  const { page, authenticator } = await openWithPage();
  const words = await createPointer(page, 'Garden', 'passkey');
  await expect(row(page, 'Garden')).toContainText('Leads to First');
  expect(await authenticator.credentials()).toMatchObject([{ rpId: 'antway.localhost', userName: 'Garden' }]);

  await page.reload();
  await publishPage(page, 'Second');
  const move = await start(page, 'Change where it leads');
  await expect(move.getByLabel('Passphrase', { exact: true })).toHaveCount(0);
  await send(page, 'Change it');
  await expect(row(page, 'Garden')).toContainText('Leads to Second');
  await expect(row(page, 'Garden')).toContainText('state 1');

  await start(page, 'Show the 24 words');
  // Without a field, the form has the focus.
  await expect(formIn(page)).toBeFocused();
  await send(page, 'Show');
  await expect(row(page, 'Garden').locator('.phrase-words li')).toHaveText(words);

  // A key file has no passkey, so it gets a passphrase of its own.
  const file = await start(page, 'Save key file');
  await send(page, 'Save');
  await expect(alertIn(page)).toContainText('Too short');
  await fillNewPassphrase(file);
  const [download] = await Promise.all([page.waitForEvent('download'), send(page, 'Save')]);
  const seed = await seedOfKeyFile(readFileSync(await download.path(), 'utf8'), passphrase);
  expect(toHex(seed)).toBe(toHex(seedOfPhrase(words.join(' '))));

  // The passkey goes with the key.
  await start(page, 'Remove from this browser');
  await send(page, 'Remove the key');
  await expect(section(page)).toContainText('None yet.');
  await expect.poll(() => authenticator.credentials()).toEqual([]);
});

test('a passkey signs the files of a folder', { tag: '@full' }, async ({ folder }) => {
  const { page } = await openWithPage();
  await createPointer(page, 'Garden', 'passkey');
  await page.getByRole('button', { name: 'Publish something else' }).click();
  const site = writeFiles(mkdtempSync(join(folder, 'signed-')), { 'index.html': '<h1>Signed</h1>' });
  await page.locator('input[name=folder]').setInputFiles(site);
  await page.getByLabel('Sign the files').check();
  await expect(page.getByLabel('Passphrase of the key')).toHaveCount(0);
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  const done = page.getByRole('region', { name: 'Published', exact: true });
  await expect(done).toBeVisible({ timeout: 45_000 });
  const [published] = /[0-9a-f]{64}/.exec((await done.textContent())!)!;
  const key = await page.evaluate(
    (path) => fetch(path).then((answer) => answer.text()),
    `/${published}/archive.tar.key`,
  );
  // 1,952 bytes in hex: the public key.
  expect(key.trim()).toMatch(/^[0-9a-f]{3904}$/);
});

test('a key can have a passphrase and a passkey, and a backup needs the passphrase', {
  tag: '@full',
}, async () => {
  test.slow();
  const { page, authenticator } = await openWithPage();
  const words = await createPointer(page, 'Garden');
  const ways = () => start(page, 'Passphrase and passkey');
  const changed = async () => {
    // The text may still be that of the change before.
    await expect(formIn(page)).toHaveCount(0);
    await expect(section(page).getByText('The way to unlock Garden was changed.')).toBeVisible();
  };

  let form = await ways();
  await form.getByLabel('Add a passkey').check();
  await form.getByLabel('Passphrase', { exact: true }).fill('another passphrase');
  await send(page, 'Change it');
  await expect(alertIn(page)).toContainText('The passphrase is wrong');
  expect(await authenticator.credentials()).toEqual([]);
  await form.getByLabel('Passphrase', { exact: true }).fill(passphrase);
  await send(page, 'Change it');
  await changed();
  expect(await authenticator.credentials()).toHaveLength(1);

  // Either of them unlocks the key.
  const shown = row(page, 'Garden').locator('.phrase-words li');
  form = await start(page, 'Show the 24 words');
  await expect(form.getByLabel('a passkey')).toBeChecked();
  await send(page, 'Show');
  await expect(shown).toHaveText(words);
  form = await start(page, 'Show the 24 words');
  await form.getByLabel('a passphrase').check();
  await form.getByLabel('Passphrase', { exact: true }).fill(passphrase);
  await send(page, 'Show');
  await expect(shown).toHaveText(words);

  form = await ways();
  await expect(form).toContainText('One of them is enough.');
  await form.getByLabel('Remove the passphrase').check();
  await send(page, 'Change it');
  await changed();
  await page.goto(`${root}/#settings`);
  const backup = sectionIn(page);
  await backup.getByRole('button', { name: 'Create a backup…' }).click();
  await fillNewPassphrase(backup);
  await backup.getByRole('button', { name: 'Save the backup' }).click();
  await expect(backup).toContainText('One lasting address is not in the backup.');
  await backup.getByRole('button', { name: 'Done' }).click();

  await page.goto(`${root}/#publish`);
  form = await ways();
  await expect(form).toContainText('A passkey unlocks the key.');
  await fillNewPassphrase(form);
  await send(page, 'Change it');
  await expect(formIn(page)).toHaveCount(0);
  form = await ways();
  await form.getByLabel('Remove the passkey').check();
  await form.getByLabel('Passphrase', { exact: true }).fill(passphrase);
  await send(page, 'Change it');
  await expect(formIn(page)).toHaveCount(0);
  await expect.poll(() => authenticator.credentials()).toEqual([]);
  await page.goto(`${root}/#settings`);
  await saveBackup(sectionIn(page), passphrase, false);

  await page.goto(`${root}/#publish`);
  form = await ways();
  await form.getByLabel('Current passphrase').fill(passphrase);
  await form.getByLabel('Passphrase', { exact: true }).fill('mellow crab harbour');
  await form.getByLabel('Repeat the passphrase').fill('mellow crab harbour');
  await send(page, 'Change it');
  await expect(formIn(page)).toHaveCount(0);
  form = await start(page, 'Show the 24 words');
  await form.getByLabel('Passphrase', { exact: true }).fill('mellow crab harbour');
  await send(page, 'Show');
  await expect(shown).toHaveText(words);
});

test('a passkey that the user refuses, forgets or has lost signs nothing, and the words bring the key back', {
  tag: '@full',
}, async ({ context }) => {
  await context.clock.install();
  const { page, authenticator } = await openWithPage({ own: context });
  const words = await createPointer(page, 'Garden', 'passkey');
  const address = await addressOf(page, 'Garden');
  await publishPage(page, 'Second');

  await start(page, 'Change where it leads');
  await authenticator.setPresent(false);
  await send(page, 'Change it');
  await expect(formIn(page).getByRole('status')).toContainText('Asking the peers');
  await page.clock.fastForward('05:01');
  await expect(alertIn(page)).toContainText('not confirmed in time');
  await send(page, 'Change it');
  await send(page, 'Cancel');
  await expect(formIn(page)).toHaveCount(0);
  await authenticator.setPresent(true);
  await expect(row(page, 'Garden')).toContainText('state 0');
  await start(page, 'Change where it leads');
  await send(page, 'Change it');
  await expect(row(page, 'Garden')).toContainText('state 1');

  await start(page, 'Freeze');
  await authenticator.setUserVerified(false);
  await send(page, 'Freeze for ever');
  await expect(alertIn(page)).toContainText('The passkey was not confirmed. You or your browser refused it');
  await expect(alertIn(page)).toContainText('REFUSED');

  // Another authenticator, as after the loss of a security key.
  await authenticator.remove();
  await addAuthenticator(page);
  await send(page, 'Freeze for ever');
  await expect(alertIn(page)).toContainText('bring the address back with the 24 words');
  await send(page, 'Cancel');
  await expect(row(page, 'Garden')).toContainText('state 1');

  await section(page).getByRole('button', { name: 'Bring one' }).click();
  const form = formIn(page);
  await form.getByLabel('The 24 words').check();
  await form.getByLabel('Your name for it').fill('Garden');
  await form.getByRole('textbox', { name: '24 words' }).fill(words.join(' '));
  await form.getByLabel('a passkey').check();
  await send(page, 'Bring it here');
  await expect(section(page)).toContainText('Garden is in this browser now.');
  expect(await addressOf(page, 'Garden')).toBe(address);
  await publishPage(page, 'Third');
  await start(page, 'Change where it leads');
  await send(page, 'Change it');
  await expect(row(page, 'Garden')).toContainText('state 2');
});

test('an authenticator without a PRF leaves the user with the passphrase, and no passkey stays', {
  tag: '@full',
}, async () => {
  const { page, authenticator } = await openWithPage({ hasPrf: false });
  await section(page).getByRole('button', { name: 'New lasting address' }).click();
  const form = formIn(page);
  await form.getByLabel('Your name for it').fill('Garden');
  await form.getByLabel('a passkey').check();
  await send(page, 'Continue');
  await expect(alertIn(page)).toContainText('no passkeys that can encrypt a key. Use a passphrase.');
  await expect(alertIn(page)).toContainText('UNSUPPORTED');
  await expect.poll(() => authenticator.credentials()).toEqual([]);
  await form.getByLabel('a passphrase').check();
  await fillNewPassphrase(form);
  await send(page, 'Continue');
  await confirmWords(page, 'Garden');
  await expect(row(page, 'Garden')).toContainText('Leads to First');

  await start(page, 'Passphrase and passkey');
  await form.getByLabel('Add a passkey').check();
  await form.getByLabel('Passphrase', { exact: true }).fill(passphrase);
  await send(page, 'Change it');
  await expect(alertIn(page)).toContainText('UNSUPPORTED');
  await form.getByRole('button', { name: 'Cancel' }).click();
  await start(page, 'Show the 24 words');
  await form.getByLabel('Passphrase', { exact: true }).fill(passphrase);
  await send(page, 'Show');
  await expect(row(page, 'Garden').locator('.phrase-words li')).toHaveCount(24);
});

test('a passkey that gives no secret any more is not called useless, as the key may need it', {
  tag: '@full',
}, async () => {
  const { page, authenticator } = await openWithPage();
  await createPointer(page, 'Garden', 'passkey');
  await authenticator.loseThePrf();
  await start(page, 'Show the 24 words');
  await send(page, 'Show');
  await expect(alertIn(page)).toContainText('UNSUPPORTED');
  await expect(alertIn(page)).toContainText('Keep it');
  await expect(alertIn(page)).not.toContainText('you can delete it');
});

test('a passkey that a key uses stays, although its form was closed before all was stored', {
  tag: '@full',
}, async () => {
  const { page, authenticator } = await openWithPage();
  const words = await createPointer(page, 'Garden');
  // Another tab signs an update.
  const other = await openPublish(scene().context, root);
  const address = await addressOf(page, 'Garden');
  await other.evaluate(
    (name) =>
      new Promise<void>((held) => {
        void navigator.locks.request(name, () => {
          held();
          return new Promise(() => {});
        });
      }),
    `antway-pointer-${address}`,
  );
  // A page in the background gets no passkey.
  await page.bringToFront();
  await section(page).getByRole('button', { name: 'Bring one' }).click();
  const form = formIn(page);
  await form.getByLabel('The 24 words').check();
  await form.getByRole('textbox', { name: '24 words' }).fill(words.join(' '));
  await form.getByLabel('a passkey').check();
  await send(page, 'Bring it here');
  const credential = async () => (await storedPasskey(page, address).catch(() => null))?.credential;
  await expect.poll(credential).toBeTruthy();
  await send(page, 'Cancel');
  await expect(form).toHaveCount(0);
  await page.reload();
  await start(page, 'Show the 24 words');
  await send(page, 'Show');
  await expect(row(page, 'Garden').locator('.phrase-words li')).toHaveText(words);
  expect(await authenticator.credentials()).toHaveLength(1);
});

test('a passkey of an address that was not created is deleted', { tag: '@full' }, async () => {
  const { page, authenticator } = await openWithPage();
  await section(page).getByRole('button', { name: 'New lasting address' }).click();
  await formIn(page).getByLabel('a passkey').check();
  await send(page, 'Continue');
  await expect(formIn(page).getByRole('listitem')).toHaveCount(24);
  expect(await authenticator.credentials()).toHaveLength(1);
  await send(page, 'Cancel');
  await expect.poll(() => authenticator.credentials()).toEqual([]);
});

test('without the browser’s own key, a confirmed passkey decrypts nothing, and the words bring the key back', {
  tag: '@full',
}, async () => {
  const { page } = await openWithPage();
  const words = await createPointer(page, 'Garden', 'passkey');
  await page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const opening = indexedDB.open('antway-owner');
        opening.onsuccess = () => {
          const { transaction } = opening.result
            .transaction('keys', 'readwrite')
            .objectStore('keys')
            .delete('device');
          transaction!.oncomplete = resolve;
          transaction!.onerror = reject;
        };
      }),
  );
  await page.reload();
  await start(page, 'Change where it leads');
  await send(page, 'Change it');
  await expect(alertIn(page)).toContainText('This browser’s part of the key was deleted');
  await formIn(page).getByRole('button', { name: 'Cancel' }).click();
  await section(page).getByRole('button', { name: 'Bring one' }).click();
  const form = formIn(page);
  await form.getByLabel('The 24 words').check();
  await form.getByRole('textbox', { name: '24 words' }).fill(words.join(' '));
  await fillNewPassphrase(form);
  await send(page, 'Bring it here');
  await expect(section(page)).toContainText('is in this browser now.');
  await section(page).getByRole('button', { name: 'Show the 24 words' }).click();
  await form.getByLabel('Passphrase', { exact: true }).fill(passphrase);
  await send(page, 'Show');
  await expect(section(page).locator('.phrase-words li')).toHaveText(words);
});

test('the profile on the disk has neither the seed nor the passkey’s output, and unlocks with it after a restart', {
  tag: '@full',
}, async ({ folder, playwright }) => {
  const profile = join(folder, 'profile');
  const launch = () =>
    playwright.chromium.launchPersistentContext(profile, { ...test.info().project.use.launchOptions });
  const before = await launch();
  const { page } = await openWithPage({ own: before });
  const words = await createPointer(page, 'Garden', 'passkey');
  const address = await addressOf(page, 'Garden');
  const stored = await storedPasskey(page, address);
  const prf = await askForPrf(page, stored);
  expect(prf).toMatch(/^[0-9a-f]{64}$/);
  await before.close();

  const files = filesIn(profile);
  // The search finds what is there.
  for (const bytes of [stored.wrapped, stored.salt]) {
    expect(contains(files, Buffer.from(bytes, 'hex'))).toBe(true);
  }
  const seed = Buffer.from(seedOfPhrase(words.join(' ')));
  for (const secret of [seed, Buffer.from(prf, 'hex')]) {
    for (const form of [secret, secret.toString('hex'), secret.toString('base64')]) {
      expect(contains(files, Buffer.from(form as string))).toBe(false);
      expect(contains(files, Buffer.from(String(form), 'utf16le'))).toBe(false);
    }
  }
  expect(contains(files, Buffer.from(words.join(' ')))).toBe(false);

  // A virtual authenticator ends with its browser. The stored bytes and the device key outlive it.
  const after = await launch();
  const later = await openPublish(after, root);
  await addAuthenticator(later);
  expect(await storedPasskey(later, address)).toEqual(stored);
  expect(await decryptSeed(later, { stored, prf, address })).toBe(seed.toString('hex'));
  expect(await decryptSeed(later, { stored, prf: '00'.repeat(32), address })).toBe('no key');
  await start(later, 'Show the 24 words');
  await send(later, 'Show');
  await expect(alertIn(later)).toContainText('it is not on this device');
  await after.close();
});

test('where the browser says that it has no PRF, or sites share the origin, no passkey is offered', {
  tag: '@full',
}, async ({ context }) => {
  await context.addInitScript(() => {
    if (location.hostname !== 'antway.localhost') return;
    PublicKeyCredential.getClientCapabilities = async () => ({ 'extension:prf': false });
  });
  const { page } = await openWithPage({ own: context });
  await section(page).getByRole('button', { name: 'New lasting address' }).click();
  await expect(formIn(page).getByLabel('Repeat the passphrase')).toBeVisible();
  await expect(formIn(page).getByLabel('a passkey')).toHaveCount(0);

  const shared = await openShellIn(context, `${root.replace('antway.localhost', '127.0.0.1')}/#publish`);
  await expect(section(shared)).toContainText('their scripts could reach your keys');
  await expect(section(shared).getByRole('button')).toHaveCount(0);
});
