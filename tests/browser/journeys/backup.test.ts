import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from '@playwright/test';
import type { Settings } from '../../../src/server-config.ts';
import type { ListedSite } from '../../../src/shell/gateway-api.ts';
import { expectAccessible } from '../../support/accessibility.ts';
import { openBackup, saveBackup, sectionIn } from '../../support/backup-screen.ts';
import { expect, fetchIn, openShellIn, openWithoutScripts, test, trustSite } from '../../support/chromium.ts';
import { makePrivateManifest } from '../../support/manifests.ts';
import type { PeerProcess } from '../../support/peer-process.ts';
import { expectPin, pinAction } from '../../support/pins.ts';
import { noise, publish } from '../../support/publish.ts';
import { publishedRows, publishPath, token, writeFiles } from '../../support/publish-screen.ts';
import { makeTarchive } from '../../support/tarchive.ts';
import { viewed } from '../../support/viewer.ts';
import { visitCounts } from '../../support/visits.ts';

const siteFiles = (name: string) => ({
  'index.html': `<!doctype html><title>${name}, still</title><script>document.title = '${name}, running'</script>`,
  'film.bin': noise(name.length, 1_500_000),
});
const blocked = 'dd'.repeat(32);

let peer: PeerProcess;
let host: PeerProcess;
/** The gateway at another origin. */
let elsewhere: PeerProcess;
let device: BrowserContext;
let other: BrowserContext;

test.beforeEach(async ({ startPeer, startHost, browser }) => {
  peer = await startPeer();
  host = await startHost({ peers: ['http://127.0.0.1:9'] });
  elsewhere = await startHost({ peers: ['http://127.0.0.1:9'] });
  device = await browser.newContext();
  other = await browser.newContext();
});

test.afterEach(() => Promise.all([device.close(), other.close()]));

const publishSite = async (name: string) => publish(await makeTarchive(siteFiles(name)), peer);

async function asked<T>(shell: Page, path: string): Promise<T> {
  return JSON.parse((await fetchIn(shell, `/-/${path}`)).text);
}

const sites = async (shell: Page) => (await asked<{ sites: ListedSite[] }>(shell, 'sites')).sites;
const setSettings = (shell: Page, settings: Settings) =>
  fetchIn(shell, '/-/settings', { method: 'PUT', body: JSON.stringify(settings) });

async function visit(context: BrowserContext, address: string, answer: (page: Page) => Promise<void>) {
  const page = await context.newPage();
  await page.goto(`${host.url}/${address}/`);
  await answer(page);
  await page.waitForURL(`${host.url}/${address}/`);
  await visitCounts(page);
  await page.close();
}

async function audit(shell: Page): Promise<void> {
  await expectAccessible(shell, { include: '.backup' });
}

test('a user backs up everything in one browser and restores it in another one at another origin, where the pin opens without any peer', {
  tag: '@full',
}, async () => {
  test.setTimeout(240_000);
  const [pinned, visited] = [await publishSite('Pinned'), await publishSite('Visited')];
  const manifest = await makePrivateManifest('Letters', { 'index.html': '<title>Private</title>' }, peer);
  const shell = await openShellIn(device, `${host.url}/#settings`);
  await setSettings(shell, { peers: [peer.url], names: { tide: visited, both: visited }, denied: [blocked] });
  await visit(device, pinned, trustSite);
  await visit(device, visited, openWithoutScripts);
  await pinAction(shell, pinned, 'pin');
  await expectPin(shell, pinned, { state: 'complete' });
  const id: string = await shell.evaluate(
    async (bytes) =>
      (await (await fetch('/-/manifests', { method: 'POST', body: new Uint8Array(bytes) })).json()).id,
    [...manifest],
  );

  const section = sectionIn(shell);
  await section.getByRole('button', { name: 'Create a backup…' }).click();
  await section.getByLabel('Passphrase', { exact: true }).fill('short');
  await expect(section.getByRole('status')).toContainText('Too short');
  await section.getByRole('button', { name: 'Save the backup' }).click();
  await expect(section.getByRole('alert').last()).toContainText('at least 8 characters');
  await section.getByRole('button', { name: 'Suggest a passphrase' }).click();
  const passphrase = await section.getByLabel('Passphrase', { exact: true }).inputValue();
  await expect(section.getByLabel('Repeat the passphrase')).toHaveValue(passphrase);
  await section.getByLabel('Repeat the passphrase').fill('something else');
  await section.getByRole('button', { name: 'Save the backup' }).click();
  await expect(section.getByRole('alert').last()).toHaveText('The two passphrases differ.');
  await audit(shell);
  await section.getByRole('button', { name: 'Cancel' }).click();
  const file = await saveBackup(section, passphrase, true);
  expect(readFileSync(file).includes('Letters')).toBe(false);

  const there = await openShellIn(other, `${elsewhere.url}/#settings`);
  await setSettings(there, { names: { both: pinned } });
  await peer.kill();
  const restore = sectionIn(there);
  await openBackup(restore, file, passphrase);
  const preview = restore.getByRole('region', { name: 'In this backup' });
  await expect(preview).toContainText('3 sites: 1 pinned, 1 private');
  await expect(preview).toContainText(peer.url);
  await expect(preview).toContainText('1 blocked address');
  await expect(preview.getByLabel('Sites that may run scripts')).not.toBeChecked();
  await audit(there);
  // Nothing was applied yet.
  expect(await sites(there)).toEqual([]);
  await preview.getByRole('button', { name: 'Restore', exact: true }).click();
  await expect(restore.getByRole('status')).toContainText('The backup was restored.');
  await expect(restore.getByRole('status')).toContainText(
    'Added: 3 sites, 1 pin, 1 name, 1 blocked address.',
  );
  await audit(there);

  const restored = await sites(there);
  expect(restored.map(({ address }) => address).sort()).toEqual([pinned, visited, id].sort());
  for (const site of await sites(shell)) {
    const { address, title, lastOpened } = site;
    expect(restored.find((each) => each.address === address)).toMatchObject({ title, lastOpened });
  }
  // The settings of this browser stay.
  expect(await asked(there, 'settings')).toEqual({
    ...{ peers: [peer.url], names: { tide: visited, both: pinned }, denied: [blocked] },
  });
  const decisions = await asked<{ address: string; decision: string }[]>(there, 'trust');
  expect(decisions.map(({ address, decision }) => [address, decision])).toEqual([[visited, 'restricted']]);
  await expectPin(there, pinned, { state: 'complete' });
  const page = await other.newPage();
  await page.goto(`${elsewhere.url}/${pinned}/`);
  await openWithoutScripts(page);
  await expect(page).toHaveTitle('Pinned, still');
  await page.close();

  // A second restore adds the trust only, because the user selects it now.
  await restore.getByRole('button', { name: 'Done' }).click();
  await fetchIn(there, `/-/trust?address=${pinned}`, { method: 'DELETE' });
  await openBackup(restore, file, passphrase);
  await preview.getByLabel('Sites that may run scripts').check({ timeout: 30_000 });
  await preview.getByRole('button', { name: 'Restore', exact: true }).click();
  await expect(restore.getByRole('status')).toContainText('Added: 1 site that may run scripts.');
  const trusted = await asked<{ address: string; decision: string; content: string }[]>(there, 'trust');
  expect(trusted).toContainEqual(
    expect.objectContaining({ address: pinned, decision: 'trusted', content: pinned }),
  );
});

test('a backup without contents has a restored pin fetch its chunks from peers', {
  tag: '@full',
}, async () => {
  test.slow();
  const pinned = await publishSite('Pinned');
  const shell = await openShellIn(device, `${host.url}/#settings`);
  await setSettings(shell, { peers: [peer.url] });
  await visit(device, pinned, openWithoutScripts);
  await pinAction(shell, pinned, 'pin');
  await expectPin(shell, pinned, { state: 'complete' });
  const file = await saveBackup(sectionIn(shell), 'mellow crab harbour', false);
  expect(readFileSync(file).length).toBeLessThan(20_000);

  const there = await openShellIn(other, `${host.url}/#settings`);
  const restore = sectionIn(there);
  await openBackup(restore, file, 'mellow crab harbour');
  await expect(restore).toContainText('Peers supply the content of pinned sites.');
  await restore.getByRole('button', { name: 'Restore', exact: true }).click();
  await expect(restore.getByRole('status')).toContainText('1 pin.');
  await expectPin(there, pinned, { state: 'complete' });
});

test('publications are restored at another origin: private ones open with their link, and those listed there stay', {
  tag: '@full',
}, async ({ startPeer, folder }) => {
  test.setTimeout(180_000);
  const writable = await startPeer({ token });
  const publishing = async (context: BrowserContext, origin: string) => {
    const shell = await openShellIn(context, `${origin}/#publish`);
    await setSettings(shell, { peers: [writable.url] });
    await shell.reload();
    return shell;
  };
  const garden = writeFiles(join(folder, 'garden'), {
    'index.html': '<!doctype html><title>Garden &amp; pond</title><h1>Spring</h1>',
  });
  writeFiles(folder, { 'diary.txt': 'Fog again.' });
  const shell = await publishing(device, host.url);
  await publishPath(shell, garden, 'folder');
  await shell.getByRole('button', { name: 'Publish something else' }).click();
  await publishPath(shell, join(folder, 'diary.txt'), 'files', true);
  await expect(publishedRows(shell)).toHaveCount(2);
  await shell.goto(`${host.url}/#settings`);
  const file = await saveBackup(sectionIn(shell), 'mellow crab harbour', false);
  expect(readFileSync(file).includes('Garden')).toBe(false);

  const there = await publishing(other, elsewhere.url);
  await publishPath(there, garden, 'folder');
  await there.goto(`${elsewhere.url}/#settings`);
  const restore = sectionIn(there);
  await openBackup(restore, file, 'mellow crab harbour');
  const preview = restore.getByRole('region', { name: 'In this backup' });
  await expect(preview).toContainText('2 publications. diary.txt, Garden & pond');
  await audit(there);
  await preview.getByLabel('Published by you').uncheck();
  await preview.getByRole('button', { name: 'Restore', exact: true }).click();
  await expect(restore.getByRole('status')).toContainText('The backup was restored.');
  await expect(restore.getByRole('status')).not.toContainText('publication');
  await restore.getByRole('button', { name: 'Done' }).click();
  await openBackup(restore, file, 'mellow crab harbour');
  await preview.getByRole('button', { name: 'Restore', exact: true }).click({ timeout: 30_000 });
  await expect(restore.getByRole('status')).toContainText('Added to “Published by you”: 1 publication.', {
    timeout: 30_000,
  });
  await expect(restore.getByRole('listitem')).toHaveCount(0);

  await there.goto(`${elsewhere.url}/#publish`);
  await there.reload();
  await expect(publishedRows(there)).toHaveCount(2);
  const diary = publishedRows(there).filter({ hasText: 'diary.txt' });
  await expect(diary.locator('.mark')).toHaveText(['File', 'Private']);
  await diary.getByRole('button', { name: 'Check availability' }).click();
  await expect(diary).toContainText(`Complete at ${new URL(writable.url).host}`);
  await diary.getByRole('link', { name: 'diary.txt' }).click();
  await expect(viewed(there).getByText('Fog again.')).toBeVisible();
});

test('a wrong passphrase and a wrong, cut, changed or newer file have a message each, and change nothing', {
  tag: '@full',
}, async ({ folder }) => {
  test.slow();
  const shell = await openShellIn(device, `${host.url}/#settings`);
  await setSettings(shell, { names: { tide: blocked } });
  const file = await saveBackup(sectionIn(shell), 'mellow crab harbour', false);
  const good = readFileSync(file);
  const there = await openShellIn(other, `${host.url}/#settings`);
  const section = sectionIn(there);
  const cases: [string, Uint8Array, string, RegExp][] = [
    ['wrong', good, 'another phrase', /passphrase is wrong.*REFUSED/],
    ['foreign', Buffer.from('<html>'), 'mellow crab harbour', /not a backup of Antway.*UNSUPPORTED/],
    ['cut', good.subarray(0, 70), 'mellow crab harbour', /end of this backup is missing.*CORRUPT/],
    ['changed', flipped(good, good.length - 30), 'mellow crab harbour', /backup is damaged.*CORRUPT/],
    ['newer', flipped(good, 9), 'mellow crab harbour', /newer version.*UNSUPPORTED/],
    ['greedy', flipped(good, 15), 'mellow crab harbour', /demands more work.*TOO_LARGE/],
  ];
  for (const [name, bytes, passphrase, message] of cases) {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    await openBackup(section, path, passphrase);
    await expect(section.getByRole('alert').first(), name).toHaveText(message);
  }
  // After a wrong passphrase, the user need not choose the file again.
  writeFileSync(join(folder, 'right'), good);
  await openBackup(section, join(folder, 'right'), 'another phrase');
  await expect(section).toContainText('Chosen: right');
  await section.getByLabel('Passphrase', { exact: true }).fill('mellow crab harbour');
  await section.getByRole('button', { name: 'Open the backup' }).click();
  await expect(section.getByRole('region', { name: 'In this backup' })).toContainText('tide', {
    timeout: 30_000,
  });
  await section.getByRole('button', { name: 'Cancel' }).click();
  await audit(there);
  expect(await asked(there, 'settings')).toEqual({});
});

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed[at]! ^= 0xff;
  return changed;
}
