import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { seedOfPhrase } from '../../src/owner/recovery-phrase.ts';
import { openBackup, saveBackup, sectionIn } from '../support/backup-screen.ts';
import { expect, fetchIn, openShellIn, openWorkerIn, sceneOfFile, test } from '../support/chromium.ts';
import {
  action,
  addressOf,
  contains,
  createPointer,
  filesIn,
  fillNewPassphrase,
  fillPointerForm,
  openFreshPublish,
  openPublish,
  passphrase,
  publishPage,
  row,
  section,
  sendWords,
  startPublisher,
} from '../support/lasting-address.ts';
import { writeFiles } from '../support/publish-screen.ts';

let root: string;

// Keys are derived in 1,000,000 rounds, several times in each test.
test.describe.configure({ timeout: 120_000 });

const scene = sceneOfFile(async ({ startPeer, folder, context }) => {
  const { root } = await startPublisher(startPeer, folder);
  return { root, context, empty: await openWorkerIn(context, root) };
});

test.beforeEach(() => {
  root = scene().root;
});

async function confirm(page: Page, button: string, typed = passphrase): Promise<void> {
  const form = section(page).getByRole('form');
  await form.getByLabel('Passphrase', { exact: true }).fill(typed);
  await form.getByRole('button', { name: button }).click();
}

/** The title of the content for a visitor with another profile. */
async function titleForVisitors(page: Page, address: string): Promise<string> {
  const visitor = await page.context().browser()!.newContext();
  const shell = await openWorkerIn(visitor, root);
  const { text } = await fetchIn(shell, `/${address}`);
  await visitor.close();
  return /<title>(.*)<\/title>/.exec(text)?.[1] ?? text;
}

test('an address stays while its content changes, returns to an earlier state, and freezes', {
  tag: '@full',
}, async () => {
  const page = await openFreshPublish(scene().empty);
  await publishPage(page, 'First');
  await createPointer(page, 'My garden');
  const address = await addressOf(page, 'My garden');
  expect(await titleForVisitors(page, address)).toBe('First');

  await publishPage(page, 'Second');
  await action(page, 'Change where it leads', 'My garden').click();
  await confirm(page, 'Change it', 'another passphrase');
  await expect(section(page).getByRole('alert')).toContainText('REFUSED');
  await confirm(page, 'Change it');
  await expect(row(page, 'My garden')).toContainText('Leads to Second');
  await expect(row(page, 'My garden')).toContainText('state 1');
  expect(await titleForVisitors(page, address)).toBe('Second');

  await page.reload();
  await row(page, 'My garden').getByText('Earlier states').click();
  await row(page, 'My garden').getByRole('button', { name: 'Return to this state… 0' }).click();
  await confirm(page, 'Return to it');
  await expect(row(page, 'My garden')).toContainText('state 2');
  expect(await titleForVisitors(page, address)).toBe('First');

  await action(page, 'Freeze', 'My garden').click();
  await confirm(page, 'Freeze for ever');
  await expect(row(page, 'My garden')).toContainText('frozen for ever');
  await expect(action(page, 'Change where it leads', 'My garden')).toHaveCount(0);
  expect(await titleForVisitors(page, address)).toBe('First');
});

test('a new address that one peer did not take is marked with the name of the peer until it is stored', {
  tag: '@full',
}, async ({ startPeer }) => {
  const refusing = await startPeer({ token: 'open sesame', webTransport: 'none' });
  const page = await openFreshPublish(scene().empty);
  await publishPage(page, 'First');
  await section(page).getByRole('button', { name: 'New lasting address' }).click();
  const form = section(page).getByRole('form');
  await form.getByLabel('Your name for it').fill('Garden');
  await form.getByText('Stored at').click();
  await form.getByLabel('Another peer').fill(refusing.url);
  await fillNewPassphrase(form);
  await form.getByRole('button', { name: 'Continue' }).click();
  await sendWords(page);
  await expect(section(page).getByRole('alert')).toContainText('REFUSED');
  await form.getByRole('button', { name: 'Cancel' }).click();
  await expect(row(page, 'Garden')).toContainText('not stored everywhere');
  await expect(row(page, 'Garden')).toContainText(`The newest state is not stored at ${refusing.url}`);

  await action(page, 'Store it again', 'Garden').click();
  await form.getByText('Stored at').click();
  await form.getByLabel('Write token').fill('open sesame');
  await form.getByRole('button', { name: 'Store it' }).click();
  await expect(section(page)).toContainText('Garden is stored.');
  await expect(row(page, 'Garden')).not.toContainText('not stored');
});

test('the result of a publication leads to a lasting address for it, a new one or an own one', {
  tag: '@full',
}, async () => {
  const page = await openFreshPublish(scene().empty);
  const result = page.getByRole('region', { name: 'Published', exact: true });
  const form = section(page).getByRole('form');
  await publishPage(page, 'First');
  await result.getByRole('button', { name: 'Give it a lasting address' }).click();
  await expect(form.getByLabel('Your name for it')).toBeFocused();
  await expect(form.getByLabel('Your name for it')).toBeInViewport();
  await expect(form.getByLabel('Leads to').locator('option:checked')).toContainText('First');
  await fillPointerForm(page, 'My garden');
  await expect(row(page, 'My garden')).toContainText('Leads to First');

  await publishPage(page, 'Second');
  await result.getByRole('button', { name: 'Show it at your lasting address' }).click();
  await expect(form.getByLabel('Leads to').locator('option:checked')).toContainText('Second');
  await confirm(page, 'Change it');
  await expect(row(page, 'My garden')).toContainText('Leads to Second');

  // With several addresses, the user chooses one.
  await createPointer(page, 'My orchard');
  await publishPage(page, 'Third');
  await result.getByRole('button', { name: 'Show it at your lasting address' }).click();
  await expect(page.getByRole('heading', { name: 'Lasting addresses' })).toBeFocused();
  await expect(form).toHaveCount(0);

  await page.getByRole('button', { name: 'Publish something else' }).click();
  await page.locator('input[name=files]').setInputFiles({
    name: 'secret.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('for few'),
  });
  await page.getByRole('radio', { name: 'Private' }).check();
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  const ofPrivate = page.getByRole('region', { name: 'Published privately' });
  await expect(ofPrivate.getByRole('button', { name: 'Publish something else' })).toBeVisible();
  await expect(ofPrivate.getByRole('button', { name: /lasting address/ })).toHaveCount(0);
});

test('the key comes back from its file and from its words, with the state that the peers have', {
  tag: '@full',
}, async ({ browser }) => {
  const page = await openFreshPublish(scene().empty);
  await publishPage(page, 'First');
  const words = await createPointer(page, 'Garden');
  const address = await addressOf(page, 'Garden');
  await action(page, 'Show the 24 words', 'Garden').click();
  await confirm(page, 'Show');
  await expect(row(page, 'Garden').locator('.phrase-words li')).toHaveText(words);
  await action(page, 'Save key file', 'Garden').click();
  const [download] = await Promise.all([page.waitForEvent('download'), confirm(page, 'Save')]);
  expect(download.suggestedFilename()).toBe('Garden.key');
  const keyFile = await download.path();
  await action(page, 'Remove from this browser', 'Garden').click();
  await section(page).getByRole('form').getByRole('button', { name: 'Remove the key' }).click();
  await expect(section(page)).toContainText('None yet.');

  await section(page).getByRole('button', { name: 'Bring one' }).click();
  const form = section(page).getByRole('form');
  await form.getByLabel('Your name for it').fill('Garden again');
  await form.locator('input[type=file]').setInputFiles(keyFile);
  await confirm(page, 'Bring it here', 'not the passphrase');
  await expect(form.getByRole('alert')).toContainText('REFUSED');
  await confirm(page, 'Bring it here');
  await expect(row(page, 'Garden again')).toContainText('Leads to First');
  expect(await addressOf(page, 'Garden again')).toBe(address);

  const other = await browser.newContext();
  const elsewhere = await openPublish(other, root);
  await section(elsewhere).getByRole('button', { name: 'Bring one' }).click();
  const bring = section(elsewhere).getByRole('form');
  await bring.getByLabel('The 24 words').check();
  await bring.getByLabel('Your name for it').fill('Elsewhere');
  await bring.getByRole('textbox', { name: '24 words' }).fill(`${words.slice(1).join(' ')} ${words[0]}`);
  await bring.getByLabel('Repeat the passphrase').fill(passphrase);
  await confirm(elsewhere, 'Bring it here');
  await expect(bring.getByRole('alert')).toContainText('BAD_CONFIG');
  await bring.getByRole('textbox', { name: '24 words' }).fill(words.join(' '));
  await confirm(elsewhere, 'Bring it here');
  await expect(row(elsewhere, 'Elsewhere')).toContainText('state 0');
  expect(await addressOf(elsewhere, 'Elsewhere')).toBe(address);
  // The address of a new owner, or of any other content, can be typed.
  await action(elsewhere, 'Change where it leads', 'Elsewhere').click();
  await section(elsewhere).getByRole('textbox', { name: 'Address of the content' }).fill('nothing');
  await confirm(elsewhere, 'Change it');
  await expect(section(elsewhere).getByRole('alert')).toContainText('not an address');
  await section(elsewhere).getByRole('textbox', { name: 'Address of the content' }).fill('ab'.repeat(32));
  await confirm(elsewhere, 'Change it');
  await expect(section(elsewhere).getByRole('alert')).toContainText('NOT_FOUND');
  await other.close();
});

test('a backup brings the key to another browser with the same passphrase, but not where sites share an origin', {
  tag: '@full',
}, async ({ browser }) => {
  test.slow();
  const page = await openFreshPublish(scene().empty);
  await publishPage(page, 'First');
  await createPointer(page, 'Garden');
  const address = await addressOf(page, 'Garden');
  await page.goto(`${root}/#settings`);
  const file = await saveBackup(sectionIn(page), 'mellow crab harbour', false);

  const other = await browser.newContext();
  const restoreAt = async (origin: string, warnings: number) => {
    const elsewhere = await openShellIn(other, `${origin}/#settings`);
    const backup = sectionIn(elsewhere);
    await openBackup(backup, file, 'mellow crab harbour');
    const preview = backup.getByRole('region', { name: 'In this backup' });
    await expect(preview).toContainText('1 lasting address, with its key. Garden');
    await expect(preview.getByText('Keys cannot be restored at this address')).toHaveCount(warnings);
    await preview.getByRole('button', { name: 'Restore', exact: true }).click();
    await expect(backup.getByRole('status')).toContainText('The backup was restored.');
    return { elsewhere, backup };
  };

  const ownOrigins = await restoreAt(root, 0);
  await expect(ownOrigins.backup).toContainText('Added to “Lasting addresses”: 1 lasting address');
  const { elsewhere } = ownOrigins;
  await elsewhere.goto(`${root}/#publish`);
  await expect(row(elsewhere, 'Garden')).toContainText('state 0');
  expect(await addressOf(elsewhere, 'Garden')).toBe(address);
  await publishPage(elsewhere, 'Second');
  await action(elsewhere, 'Change where it leads', 'Garden').click();
  await confirm(elsewhere, 'Change it', 'mellow crab harbour');
  await expect(section(elsewhere).getByRole('alert')).toContainText('REFUSED');
  await confirm(elsewhere, 'Change it');
  await expect(row(elsewhere, 'Garden')).toContainText('state 1');
  expect(await titleForVisitors(elsewhere, address)).toBe('Second');

  const shared = await restoreAt(root.replace('antway.localhost', '127.0.0.1'), 1);
  await expect(shared.backup.getByRole('listitem')).toContainText(
    `${address}: Scripts of sites could use keys`,
  );
  await shared.elsewhere.goto(`${new URL(shared.elsewhere.url()).origin}/#publish`);
  await expect(section(shared.elsewhere)).toContainText('None yet.');
  await other.close();
});

test('two tabs never sign one counter, and a peer that is away ends a change before it is signed', {
  tag: '@full',
}, async ({ context, startPeer, folder }) => {
  // Its peer ends.
  const own = await startPublisher(startPeer, folder);
  root = own.root;
  const page = await openPublish(context, root);
  await publishPage(page, 'First');
  await createPointer(page, 'Garden');
  await publishPage(page, 'Second');
  await publishPage(page, 'Third');
  const second = await openPublish(context, root);
  await action(page, 'Change where it leads', 'Garden').click();
  await action(second, 'Change where it leads', 'Garden').click();
  await section(second)
    .getByLabel('Leads to')
    .selectOption({ label: (await section(second).getByRole('option', { name: 'Second' }).textContent())! });
  await Promise.all([confirm(page, 'Change it'), confirm(second, 'Change it')]);
  await expect(row(page, 'Garden')).toContainText(/state [12]/);
  await expect(row(second, 'Garden')).toContainText(/state [12]/);
  await page.reload();
  await expect(row(page, 'Garden')).toContainText('state 2');

  // The page offers what needs the key only after its host has answered that keys are safe here.
  await expect(action(page, 'Change where it leads', 'Garden')).toBeVisible();
  await own.peer.kill();
  await action(page, 'Change where it leads', 'Garden').click();
  await confirm(page, 'Change it');
  await expect(section(page).getByRole('alert')).toContainText('PEERS_UNREACHABLE');
  await page.reload();
  await expect(row(page, 'Garden')).toContainText('state 2');
});

test('the profile on the disk contains neither the seed nor the words', { tag: '@full' }, async ({
  folder,
  playwright,
}) => {
  // The database compresses what it knows, so only text that is like no other is found.
  const label = 'QXJZKVWPYGHMBFTRLNDS';
  let isFound = false;
  // When the browser closes, it may compress that text, too. Then nothing can be said, and another profile is tried.
  for (let attempt = 0; attempt < 6 && !isFound; attempt++) {
    const profile = join(folder, `profile-${attempt}`);
    const launched = await playwright.chromium.launchPersistentContext(profile, {
      ...test.info().project.use.launchOptions,
    });
    const page = await openPublish(launched, root);
    await publishPage(page, 'First');
    const words = await createPointer(page, label);
    await launched.close();
    const seed = Buffer.from(seedOfPhrase(words.join(' ')));
    const stored = filesIn(profile);
    isFound = contains(stored, Buffer.from(label));
    for (const secret of [seed, seed.toString('hex'), seed.toString('base64'), words.join(' '), passphrase]) {
      expect(contains(stored, Buffer.from(secret as string))).toBe(false);
      expect(contains(stored, Buffer.from(String(secret), 'utf16le'))).toBe(false);
    }
  }
  // The search finds what is there.
  expect(isFound).toBe(true);
});

test('where sites share the gateway’s origin, no key is made and nothing is signed', {
  tag: '@smoke',
}, async ({ folder }) => {
  const page = await openShellIn(
    scene().context,
    `${root.replace('antway.localhost', '127.0.0.1')}/#publish`,
  );
  await expect(section(page)).toContainText('their scripts could reach your keys');
  await expect(section(page).getByRole('button')).toHaveCount(0);
  await publishPage(page, 'First');
  await expect(page.getByRole('button', { name: 'Publish something else' })).toBeVisible();
  await expect(page.getByRole('button', { name: /lasting address/ })).toHaveCount(0);

  const site = writeFiles(mkdtempSync(join(folder, 'site-')), { 'index.html': '<h1>Second</h1>' });
  await page.getByRole('button', { name: 'Publish something else' }).click();
  await page.locator('input[name=folder]').setInputFiles(site);
  // The worker measured the files. The fields of a key would be here by now.
  await expect(page.getByRole('region', { name: /^site-/ })).toContainText('chunks');
  await expect(page.getByLabel('Sign the files')).toHaveCount(0);
});
