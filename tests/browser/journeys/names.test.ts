import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { Address } from '../../../src/address.ts';
import { parseNameList } from '../../../src/names/name-list.ts';
import { expectAccessible } from '../../support/accessibility.ts';
import { expect, type Gateway, sceneOfFile, stopWorkers, test } from '../../support/chromium.ts';
import { openFreshShell } from '../../support/fresh-shell.ts';
import { openBySearch, region, setSettings, settingsOf } from '../../support/names-screen.ts';
import type { PeerProcess } from '../../support/peer-process.ts';
import { PointerOwner } from '../../support/pointers.ts';
import { publish } from '../../support/publish.ts';
import { makeTarchive } from '../../support/tarchive.ts';
import { untilViewed } from '../../support/viewer.ts';

const files = {
  'index.html': '<!doctype html><title>Low Tide</title><h1>Shore</h1><a href="docs/second.html">Second</a>',
  'docs/second.html': '<!doctype html><title>Second</title><p>The second page</p>',
};

let peer: PeerProcess;
let site: string;
let letter: string;

const bar = (page: Page) => page.locator('.site-bar');
const nameFields = (page: Page) => page.locator('.site-names').first();

async function giveName(page: Page, name: string): Promise<void> {
  await nameFields(page)
    .getByRole('button', { name: /^Give it a name…:/ })
    .click();
  await nameFields(page).getByRole('textbox').fill(name);
  await nameFields(page).getByRole('button', { name: 'Save the name' }).click();
}

// Each journey opens several pages.
test.describe.configure({ timeout: 180_000 });

const scene = sceneOfFile(async ({ startPeer, openWorker }) => {
  const peer = await startPeer();
  const site = await publish(await makeTarchive(files), peer);
  const letter = await publish(Buffer.from('a letter'), peer);
  return {
    ...{ peer, site, letter },
    gateway: await openWorker({ peers: [peer.url] }),
    withNames: await openWorker({ peers: [peer.url], names: { news: letter, start: site } }),
  };
});

test.beforeEach(() => {
  ({ peer, site, letter } = scene());
});

test('a user names a site in its bar, opens it by that name, renames it in the library and removes the name there', {
  tag: '@smoke',
}, async () => {
  const gateway = await openFreshShell(scene().gateway);
  const { shell } = gateway;
  await setSettings(shell, { names: { home: letter } });
  await openBySearch(shell, site);
  await untilViewed(shell, `/${site}/`);
  await shell.locator('.site-state').click();
  await giveName(shell, ' ~mu\u0308ller ');
  await expect(nameFields(shell).getByRole('list')).toContainText('~müller');
  await expect(bar(shell).locator('.address')).toHaveText('~müller');
  expect(await settingsOf(shell)).toEqual({ names: { home: letter, müller: site } });
  await expectAccessible(shell, { include: '.site-panel' });

  await shell.goto(`${gateway.url}/~m%C3%BCller/docs/second.html?a=b#c`);
  await untilViewed(shell, `/${site}/docs/second.html?a=b#c`);

  await shell.goto(`${gateway.url}/`);
  await openBySearch(shell, '~müller/docs/second.html');
  await untilViewed(shell, `/${site}/docs/second.html`);

  await shell.goto(`${gateway.url}/#library`);
  const row = shell.locator('.site-row');
  await expect(row.locator('.site-facts')).toContainText('~müller');
  await row.getByRole('button', { name: /^More/ }).click();
  await row.getByRole('button', { name: 'Rename…: ~müller' }).click();
  await row.getByRole('textbox', { name: 'Name' }).fill('shore');
  await row.getByRole('button', { name: 'Save the name' }).click();
  await expect(row.locator('.site-facts')).toContainText('~shore');
  expect(await settingsOf(shell)).toEqual({ names: { home: letter, shore: site } });
  await row.getByRole('button', { name: 'Remove: ~shore' }).click();
  await expect(row.locator('.site-facts')).not.toContainText('~shore');
  expect(await settingsOf(shell)).toEqual({ names: { home: letter } });

  await shell.goto(`${gateway.url}/~shore/`);
  await expect(shell.locator('#address-note')).toContainText('no name “~shore” in this browser');
});

test('the bar refuses a name that is invalid or taken, with the reason', { tag: '@full' }, async () => {
  const { shell } = await openFreshShell(scene().gateway);
  await setSettings(shell, { names: { home: letter } });
  await openBySearch(shell, site);
  await untilViewed(shell, `/${site}/`);
  await shell.locator('.site-state').click();
  for (const [bad, problem] of [
    ['', 'Type a name.'],
    ['two words', 'only letters'],
    ['pаypal', 'one script'],
    ['a\u202eb', 'invisible'],
    [letter, 'looks like an address'],
    ['home', 'for another address'],
    ['H0me', 'looks like your name ~home'],
  ] as const) {
    await giveName(shell, bad);
    await expect(nameFields(shell).getByRole('alert')).toContainText(problem);
    await expect(nameFields(shell).getByRole('textbox')).toBeFocused();
    await nameFields(shell).getByRole('button', { name: 'Cancel' }).click();
  }
  expect(await settingsOf(shell)).toEqual({ names: { home: letter } });
});

test('a name of a pointer follows the pointer, and one that the host has too is shown as a conflict', {
  tag: '@full',
}, async () => {
  const owner = new PointerOwner(7);
  const first = await publish(Buffer.from('the first'), peer);
  peer.putPointer(owner.address.hex, owner.sign(1n, Address.fromHex(first)));
  const gateway = await openFreshShell(scene().withNames);
  const { shell } = gateway;
  await setSettings(shell, { names: { news: owner.address.hex } });
  await shell.reload();
  const names = region(shell, 'Names');
  await expect(names.getByRole('listitem')).toHaveText([
    /^~news.*another address than news/,
    /^news.*another address than ~news/,
    /^start$/,
  ]);
  await openBySearch(shell, '~news');
  await untilViewed(shell, `/${owner.address.hex}`);
  await expect(shell.frameLocator('.viewer-frame').getByText('the first')).toBeVisible();
  await expect(bar(shell).locator('.address')).toHaveText('~news');
  // The host's name is still the host's.
  expect((await gateway.fetch('/news')).text).toBe('a letter');
});

test('names of a list show the list, are read again from the device, and hide nothing', {
  tag: '@full',
}, async ({ startPeer, openGateway }) => {
  // It ends.
  peer = await startPeer();
  await publish(await makeTarchive(files), peer);
  await publish(Buffer.from('a letter'), peer);
  const owner = new PointerOwner(9);
  const hostile = '<img src=x onerror="document.title=1">';
  const list = {
    antwayNames: 1,
    title: `Club ${hostile}`,
    names: { shore: site, letter: site, [site]: letter, '\u202egnab': letter, Shore: letter, blog: letter },
  };
  const content = await publish(Buffer.from(JSON.stringify(list)), peer);
  peer.putPointer(owner.address.hex, owner.sign(1n, Address.fromHex(content)));
  const broken = await publish(Buffer.from(hostile), peer);
  const gateway = await openGateway({ peers: [peer.url], nameLists: { bad: broken } });
  const { shell } = gateway;
  await setSettings(shell, { names: { letter } });
  await shell.goto(`${gateway.url}/#settings`);
  const lists = region(shell, 'Lists of names');
  await lists.getByLabel('Your label').fill('two words');
  await lists.getByRole('button', { name: 'Add a list of names' }).click();
  await expect(lists.getByRole('alert')).toContainText('only letters');
  await lists.getByLabel('Your label').fill('club');
  await lists.getByLabel('Address of the list').fill(`ant://${owner.address.hex}`);
  await lists.getByRole('button', { name: 'Add a list of names' }).click();
  const row = lists.getByRole('listitem').filter({ hasText: 'club' });
  await expect(row).toContainText(`Club ${hostile} · 3 names`);
  await expect(row).toContainText('3 names are left out');
  await expect(row.locator('img')).toHaveCount(0);
  await expect(lists.getByRole('listitem').filter({ hasText: 'bad' })).toContainText('UNSUPPORTED');
  await expectAccessible(shell, { include: '[aria-labelledby=name-lists-heading]' });

  await shell.goto(`${gateway.url}/`);
  await expect(region(shell, 'Names of the list club').getByRole('listitem')).toHaveText([
    /^shore@club$/,
    /^letter@club.*another address than ~letter/,
    /^blog@club$/,
  ]);
  // The user's own name comes first.
  await openBySearch(shell, 'letter');
  await untilViewed(shell, `/${letter}`);
  await shell.goto(`${gateway.url}/~letter@club/`);
  await untilViewed(shell, `/${site}/`);
  // An address is never a name.
  await shell.goto(`${gateway.url}/`);
  await openBySearch(shell, `ant://${site}/docs/second.html`);
  await untilViewed(shell, `/${site}/docs/second.html`);

  // The user's own names become a list for others.
  await shell.goto(`${gateway.url}/#settings`);
  const download = shell.waitForEvent('download');
  await lists.getByRole('button', { name: 'Save my names as a list…' }).click();
  const saved = parseNameList(readFileSync(await (await download).path()));
  expect(saved).toEqual({ title: '', names: { letter }, left: [] });

  // The owner leads the list to content that no peer has.
  peer.putPointer(owner.address.hex, owner.sign(2n, Address.fromHex('ab'.repeat(32))));
  // A running worker asks for a pointer again only after a minute.
  await stopWorkers(shell);
  await lists.getByRole('button', { name: 'Read the lists again' }).click();
  await expect(row).toContainText('The list could not be read', { timeout: 60_000 });
  await expect(row).toContainText('3 names');
  await peer.kill();
  await shell.goto(`${gateway.url}/~shore@club/`);
  await untilViewed(shell, `/${site}/`);

  await shell.goto(`${gateway.url}/#settings`);
  await lists.getByRole('button', { name: 'Remove the list club' }).click();
  await expect(row).toHaveCount(0);
  expect(await settingsOf(shell)).toEqual({ names: { letter }, nameLists: {} });
  await shell.goto(`${gateway.url}/~shore@club/`);
  await expect(shell.locator('#address-note')).toContainText('no name “~shore@club”');
});

test('two lists that disagree on a name are a conflict, which the user decides', { tag: '@full' }, async ({
  openGateway,
}) => {
  const [one, other] = await Promise.all(
    [letter, site].map((address) =>
      publish(Buffer.from(JSON.stringify({ antwayNames: 1, names: { blog: address } })), peer),
    ),
  );
  const gateway: Gateway = await openGateway({ peers: [peer.url], nameLists: { one: one!, other: other! } });
  const { shell } = gateway;
  await expect(region(shell, 'Names of the list other').getByRole('listitem')).toHaveText(
    /^blog@other.*another address than blog@one/,
  );
  await openBySearch(shell, 'blog');
  await expect(shell.locator('#address-note')).toContainText('several meanings');
  await expect(shell.locator('#address-note')).toContainText('blog@one, blog@other');
  await openBySearch(shell, 'blog@other');
  await untilViewed(shell, `/${site}/`);
});
