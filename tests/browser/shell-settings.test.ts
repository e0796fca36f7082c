import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { expect, type Gateway, sceneOfFile, test } from '../support/chromium.ts';
import { openFreshShell } from '../support/fresh-shell.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import { openAdvancedOptions } from '../support/settings.ts';

const scene = sceneOfFile(async ({ startPeer, openWorker }) => {
  const first = await startPeer();
  const gateway = await openWorker({ peers: [first.url], names: { hosts: 'ab'.repeat(32) } });
  return { first, gateway };
});

let first: PeerProcess;
let gateway: Gateway;
let shell: Page;

test.beforeEach(async () => {
  first = scene().first;
  gateway = await openFreshShell(scene().gateway, '#settings');
  shell = gateway.shell;
});

const section = (name: string) => shell.getByRole('region', { name });
const config = async () => JSON.parse((await gateway.fetch('/-/config')).text);

test('a peer is added, tested and removed, and the host’s list is used again', {
  tag: '@smoke',
}, async ({ startPeer }) => {
  const second = await startPeer();
  const peers = section('Peers');
  await expect(peers.getByRole('listitem')).toHaveText(new RegExp(first.url));
  await expect(peers).toContainText('This list comes from the host.');

  await peers.getByLabel('Add a peer').fill('ftp://no.peer');
  await peers.getByLabel('Add a peer').press('Enter');
  await expect(peers.getByRole('alert')).toContainText('Enter an https:// URL');
  await peers.getByLabel('Add a peer').fill(first.url);
  await peers.getByLabel('Add a peer').press('Enter');
  await expect(peers.getByRole('alert')).toHaveText('This peer is already in the list.');
  await peers.getByLabel('Add a peer').fill(second.url);
  await peers.getByLabel('Add a peer').press('Enter');
  await expect(peers.getByRole('listitem')).toHaveCount(2);
  await expect(peers).toContainText('This is your list.');

  await peers.getByRole('button', { name: `Test ${second.url}` }).click();
  await expect(peers.getByRole('listitem').nth(1)).toContainText(/answers over (WebTransport|HTTP) in/);
  await second.kill();
  await peers.getByRole('button', { name: `Test ${second.url}` }).click();
  await expect(peers.getByRole('listitem').nth(1)).toContainText('PEERS_UNREACHABLE');

  await expect.poll(async () => (await config()).peers).toEqual([first.url, second.url]);
  await peers.getByRole('button', { name: `Remove ${first.url}` }).click();
  await expect(peers.getByRole('heading')).toBeFocused();
  await expect.poll(async () => (await config()).peers).toEqual([second.url]);
  await peers.getByRole('button', { name: 'Use the host’s list' }).click();
  await expect.poll(async () => (await config()).peers).toEqual([first.url]);
});

test('a user sets the transport, peers of peers and the limit, and they stay after a reload', {
  tag: '@full',
}, async () => {
  await openAdvancedOptions(shell);
  const transport = section('Ways to the peers');
  await transport.getByRole('radio', { name: 'HTTP only' }).check();
  await transport.getByLabel('Also use peers that these peers know').check();
  const ceiling = section('Storage').getByLabel('Storage limit');
  for (const text of ['lots', '0.0001', '1e3', '-1', '']) {
    await ceiling.fill(text);
    await ceiling.press('Enter');
    await expect(section('Storage')).toContainText('Enter a number of at least 0.01');
  }
  await ceiling.fill('90000');
  await ceiling.press('Enter');
  await expect(section('Storage')).toContainText('Saved.');
  await expect(section('Storage')).toContainText('above the storage that the browser allows');
  await ceiling.fill('2.5');
  await ceiling.press('Enter');
  await expect
    .poll(async () => {
      const { transport, usePeersOfPeers, cache } = await config();
      return [transport, usePeersOfPeers, cache.maxBytes];
    })
    .toEqual(['http', true, 2_500_000_000]);
  await expect(section('Storage')).not.toContainText('above the storage');
  await shell.reload();
  await openAdvancedOptions(shell);
  await expect(transport.getByRole('radio', { name: 'HTTP only' })).toBeChecked();
  await expect(section('Storage').getByLabel('Storage limit')).toHaveValue('2.5');
});

test('a change stays on the screen when the answer about the settings before it arrives', {
  tag: '@full',
}, async () => {
  await openAdvancedOptions(shell);
  const transport = section('Ways to the peers');
  const others = transport.getByLabel('Also use peers that these peers know');
  await shell.evaluate(() => {
    const held: (() => void)[] = [];
    const { fetch } = window;
    window.fetch = async (...args) => {
      const answer = await fetch(...args);
      if (String(args[0]).endsWith('/-/settings') && (args[1]?.method ?? 'GET') === 'GET')
        await new Promise<void>((resolve) => held.push(resolve));
      return answer;
    };
    Object.assign(window, { held });
  });
  const untilHeld = (count: number) => expect.poll(() => shell.evaluate('held.length')).toBe(count);
  const release = () => shell.evaluate('held.splice(0, held.length).forEach((give) => give())');
  await transport.getByRole('radio', { name: 'HTTP only' }).check();
  await untilHeld(1); // the change asks what it changes
  await release();
  await untilHeld(2); // the screen and the list of names ask what holds now
  await others.check();
  await untilHeld(3);
  await shell.evaluate('held.splice(0, 2).forEach((give) => give())');
  await shell.evaluate(() => new Promise((resolve) => setTimeout(resolve, 200)));
  expect(await others.isChecked()).toBe(true);
  await release();
  await untilHeld(2);
  await release();
  await expect.poll(async () => (await config()).usePeersOfPeers).toBe(true);
  expect(await others.isChecked()).toBe(true);
});

test('a user names an address, opens it by the name and removes the name; the host’s names stay', {
  tag: '@full',
}, async () => {
  const letter = await publish(Buffer.from('a letter'), first);
  const names = shell.getByRole('region', { name: 'Names', exact: true });
  await expect(names.getByRole('listitem')).toHaveText(/hosts.*from the host/);
  await names.getByRole('textbox', { name: 'Name' }).fill('not a name');
  await names.getByLabel('Address').fill(letter);
  await names.getByRole('button', { name: 'Add a name' }).click();
  await expect(names.getByRole('alert')).toContainText('A name has only letters');
  await expect(names.getByRole('textbox', { name: 'Name' })).toBeFocused();
  await names.getByRole('textbox', { name: 'Name' }).fill('letter');
  await names.getByLabel('Address').fill('12');
  await names.getByRole('button', { name: 'Add a name' }).click();
  await expect(names.getByRole('alert')).toHaveText('An address has 64 hex digits.');
  await names.getByLabel('Address').fill(letter);
  await names.getByRole('button', { name: 'Add a name' }).click();
  await expect(names.getByRole('link', { name: '~letter' })).toHaveAttribute('href', `/${letter}/`);
  const saved = names.getByText('~letter is saved.');
  await expect(saved).toBeVisible();
  // The worker and the host do not know the user's names.
  expect((await config()).names).toEqual({ hosts: 'ab'.repeat(32) });
  await names.getByRole('textbox', { name: 'Name' }).fill('not a name');
  await names.getByRole('button', { name: 'Add a name' }).click();
  await expect(names.getByRole('alert')).toContainText('A name has only letters');
  await expect(saved).toHaveCount(0);
  await names.getByRole('button', { name: 'Remove: ~letter' }).click();
  await expect(names.getByRole('link', { name: '~letter' })).toHaveCount(0);
  await expect(names.getByRole('link', { name: 'hosts' })).toBeVisible();
});

test('bookmarks of fetch>it become names, and names become a bookmark file', { tag: '@full' }, async () => {
  const names = shell.getByRole('region', { name: 'Names', exact: true });
  const choose = async (text: string) => {
    const chooser = shell.waitForEvent('filechooser');
    await names.getByRole('button', { name: 'Import from fetch>it…' }).click();
    await (await chooser).setFiles({
      name: 'b.json',
      mimeType: 'application/json',
      buffer: Buffer.from(text),
    });
  };
  await choose('{"version":2,"bookmarks":[]}');
  await expect(names).toContainText('This is not a bookmark file of fetch>it.');
  const bookmark = { id: '1', label: 'My <b>letter</b>', address: 'cd'.repeat(32), addedAt: 1 };
  await choose(JSON.stringify({ version: 1, exportedAt: 1, bookmarks: [bookmark] }));
  await expect(names.getByRole('link', { name: '~My-b-letter-b' })).toHaveAttribute(
    'href',
    `/${'cd'.repeat(32)}/`,
  );

  const download = shell.waitForEvent('download');
  await names.getByRole('button', { name: 'Export for fetch>it' }).click();
  const file = JSON.parse(readFileSync(await (await download).path(), 'utf8'));
  const labels = file.bookmarks.map(({ label }: { label: string }) => label);
  expect([file.version, ...labels]).toEqual([1, 'hosts', 'My-b-letter-b']);
});

test('a blocked address does not open until the user allows it again', { tag: '@full' }, async () => {
  const letter = await publish(Buffer.from('a letter'), first);
  await openAdvancedOptions(shell);
  const denied = section('Blocked addresses');
  await denied.getByLabel('Address to block').fill('nonsense');
  await denied.getByRole('button', { name: 'Block' }).click();
  await expect(denied.getByRole('alert')).toHaveText('An address has 64 hex digits.');
  await denied.getByLabel('Address to block').fill(letter);
  await denied.getByRole('button', { name: 'Block' }).click();
  await expect.poll(async () => (await gateway.fetch(`/${letter}`)).status).toBe(451);
  await denied.getByRole('button', { name: /^Allow again: / }).click();
  await expect.poll(async () => (await gateway.fetch(`/${letter}`)).status).toBe(200);
});

test('the theme and the language are chosen, hold after a reload, and the focus stays', {
  tag: '@full',
}, async () => {
  await shell.emulateMedia({ colorScheme: 'light' });
  const ground = () => shell.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await ground();
  await section('Appearance').getByRole('radio', { name: 'Dark' }).check();
  const dark = await ground();
  expect(dark).not.toBe(light);

  await shell.getByLabel('Language').selectOption('Deutsch');
  await expect(shell.getByRole('heading', { level: 1 })).toHaveText('Einstellungen');
  await expect(shell.getByLabel('Sprache')).toBeFocused();
  await expect(shell.locator('html')).toHaveAttribute('lang', 'de');
  await shell.reload();
  await expect(shell.getByRole('heading', { level: 1 })).toHaveText('Einstellungen');
  expect(await ground()).toBe(dark);
  await shell.getByLabel('Sprache').selectOption('Sprache des Browsers');
  await expect(shell.getByRole('heading', { level: 1 })).toHaveText('Settings');
});

test('a reset deletes all data, after a warning with the focus on its harmless answer', {
  tag: '@full',
}, async () => {
  const letter = await publish(Buffer.from('a letter'), first);
  await gateway.fetch(`/${letter}`);
  await gateway.settled();
  expect((await gateway.cache()).count).toBeGreaterThan(0);
  await section('Appearance').getByRole('radio', { name: 'Dark' }).check();
  await openAdvancedOptions(shell);
  await section('Ways to the peers').getByRole('radio', { name: 'HTTP only' }).check();
  await expect.poll(async () => (await config()).transport).toBe('http');
  // The connection stays open, as that of a page with connections to nodes.
  await shell.evaluate(() => {
    const opening = indexedDB.open('antway-nodes');
    opening.onupgradeneeded = () => opening.result.createObjectStore('nodes');
    return new Promise<void>((resolve) => {
      opening.onsuccess = () => {
        const adding = opening.result.transaction('nodes', 'readwrite').objectStore('nodes');
        adding.put(['/ip4/192.0.2.1'], 'nodes').onsuccess = () => resolve();
      };
    });
  });
  const rememberedNodes = () =>
    shell.evaluate(
      () =>
        new Promise<number>((resolve) => {
          const opening = indexedDB.open('antway-nodes');
          opening.onsuccess = () => {
            const counting = opening.result.transaction('nodes').objectStore('nodes').count();
            counting.onsuccess = () => resolve(counting.result);
          };
        }),
    );
  expect(await rememberedNodes()).toBe(1);

  const reset = section('Reset');
  await reset.getByRole('button', { name: 'Delete everything…' }).click();
  await expect(reset.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await shell.keyboard.press('Enter');
  await expect(reset.getByRole('alertdialog')).toHaveCount(0);
  await expect(reset.getByRole('button', { name: 'Delete everything…' })).toBeFocused();
  expect((await gateway.cache()).count).toBeGreaterThan(0);

  await reset.getByRole('button', { name: 'Delete everything…' }).click();
  await reset.getByRole('button', { name: 'Delete everything', exact: true }).click();
  await expect(shell.getByText('Everything was deleted.')).toBeAttached();
  await expect.poll(async () => (await gateway.cache()).count).toBe(0);
  await expect.poll(async () => (await config()).transport).toBe('auto');
  await expect(section('Ways to the peers').getByRole('radio', { name: 'Automatic' })).toBeChecked();
  expect(await rememberedNodes()).toBe(0);
  await expect(section('Appearance').getByRole('radio', { name: 'System' })).toBeChecked();
});

test('the shell uses the browser’s language if it has a catalogue for it', { tag: '@full' }, async ({
  browser,
}) => {
  const context = await browser.newContext({ locale: 'de-AT' });
  const page = await context.newPage();
  await page.goto(gateway.url);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Das Autonomi-Netzwerk entdecken');
  await context.close();
});
