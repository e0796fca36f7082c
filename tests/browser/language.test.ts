import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { shortAddress } from '../../src/address.ts';
import { expect, Gateway, sceneOfFile, test } from '../support/chromium.ts';
import { openFreshShell } from '../support/fresh-shell.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tar.ts';

const unknown = 'ab'.repeat(32);

const scene = sceneOfFile(async ({ startPeer, openWorker, folder }) => {
  const peer = await startPeer();
  return {
    site: await publish(makeTarchive(folder, { 'a/b.txt': 'text' }), peer),
    home: await publish(makeTarchive(folder, { 'index.html': '<title>Home</title>' }), peer),
    gateway: await openWorker({ peers: [peer.url] }),
  };
});

test('pages of the worker use the language chosen in the settings', { tag: '@full' }, async () => {
  const { site, home } = scene();
  const gateway = await openFreshShell(scene().gateway, '#settings');
  const { shell } = gateway;
  await shell.getByLabel('Language').selectOption('Deutsch');
  await expect
    .poll(async () => JSON.parse((await gateway.fetch('/-/appearance')).text))
    .toEqual({ language: 'de', theme: null });

  await expectPage(shell, `${gateway.url}/${unknown}`, 'de', 'Nicht gefunden');
  await expectPage(shell, `${gateway.url}/${site}/`, 'de', `Inhalt von ${shortAddress(site)}`);
  await expectPage(shell, `${gateway.url}/${home}/`, 'de', 'Erster Besuch auf dieser Website');
  await shell.getByRole('button', { name: 'Ohne Skripte öffnen' }).click();
  await expect(shell).toHaveTitle('Home');
  // A page without scripts may ask nothing.
  await shell.goto(gateway.url);
  // Programs read English, whatever people do.
  const { status, text } = await gateway.fetch(`/${unknown}`);
  expect([status, JSON.parse(text).message]).toEqual([404, expect.stringContaining('peer')]);
  const wrong = { method: 'PUT', body: JSON.stringify({ language: 'tlh', theme: null }) };
  expect((await gateway.fetch('/-/appearance', wrong)).status).toBe(403);

  await shell.goto(`${gateway.url}/#settings`);
  await shell.getByLabel('Sprache').selectOption('English');
  await expect
    .poll(async () => JSON.parse((await gateway.fetch('/-/appearance')).text))
    .toEqual({ language: 'en', theme: null });
  await expectPage(shell, `${gateway.url}/${unknown}`, 'en', 'Not found');
});

test('pages of the worker have the theme chosen in the settings', { tag: '@full' }, async () => {
  const { site, home } = scene();
  const gateway = await openFreshShell(scene().gateway);
  const { shell } = gateway;
  await shell.emulateMedia({ colorScheme: 'light' });
  const ground = async (url: string) => {
    await shell.goto(url);
    return shell.evaluate(() => getComputedStyle(document.body).backgroundColor);
  };
  const pages = [unknown, `${site}/`, `${home}/`].map((path) => `${gateway.url}/${path}`);
  const grounds = async () => {
    const found = [];
    for (const url of pages) found.push(await ground(url));
    return [...new Set(found)];
  };
  const light = await grounds();
  expect(light).toHaveLength(1);

  const choose = async (name: string, theme: string | null) => {
    await shell.goto(`${gateway.url}/#settings`);
    await shell.getByRole('radio', { name }).check();
    await expect
      .poll(async () => JSON.parse((await gateway.fetch('/-/appearance')).text))
      .toEqual({ language: null, theme });
  };
  await choose('Dark', 'dark');
  const dark = await grounds();
  expect(dark).toHaveLength(1);
  expect(dark).not.toEqual(light);
  await choose('Light', 'light');
  await shell.emulateMedia({ colorScheme: 'dark' });
  expect(await grounds()).toEqual(light);
  await choose('System', null);
  expect(await grounds()).toEqual(dark);
});

test('messages of the worker are English and marked as English in a translated shell', {
  tag: '@full',
}, async ({ startPeer }) => {
  const gone = await startPeer();
  await gone.kill();
  const { shell } = await openFreshShell(scene().gateway, '#settings', { peers: [gone.url] });
  const peers = shell.locator('.peers');
  await peers.getByRole('button', { name: /^Test/ }).click();
  const problem = peers.locator('.setting-note.note-problem');
  await expect(problem).toContainText('PEERS_UNREACHABLE');
  expect(await problem.locator('[lang]').count()).toBe(0);

  await shell.getByLabel('Language').selectOption('Deutsch');
  await peers.getByRole('button', { name: /testen$/ }).click();
  await expect(problem).toContainText('Kein Peer antwortet: ');
  await expect(problem.locator('[lang=en]')).toContainText(new URL(gone.url).host);
  await expect(problem.locator('.code')).toHaveText('PEERS_UNREACHABLE');
});

test('pages use the browser’s language if the user chose none', { tag: '@smoke' }, async ({
  playwright,
  launchOptions,
  startHost,
  folder,
}) => {
  const host = await startHost({ peers: [] });
  const profile = join(folder, 'profile');
  mkdirSync(join(profile, 'Default'), { recursive: true });
  const languages = 'fr-FR,de-AT,en';
  const preferences = { intl: { accept_languages: languages, selected_languages: languages } };
  writeFileSync(join(profile, 'Default/Preferences'), JSON.stringify(preferences));
  // Else Playwright sets one for pages, and not for their worker.
  const asTheBrowser = { locale: undefined } as object;
  const context = await playwright.chromium.launchPersistentContext(profile, {
    ...launchOptions,
    ...asTheBrowser,
  });
  const gateway = await Gateway.open(host, await context.newPage());
  expect(await gateway.shell.evaluate(() => navigator.languages)).toEqual(languages.split(','));
  await expect(gateway.shell.getByRole('heading', { level: 1 })).toHaveText(
    'Das Autonomi-Netzwerk entdecken',
  );
  await expectPage(gateway.shell, `${gateway.url}/${unknown}`, 'de', 'Kein Peer antwortet');
  await context.close();
});

async function expectPage(page: Page, url: string, language: string, heading: string): Promise<void> {
  const response = await page.goto(url);
  expect(response!.headers()['content-language']).toBe(language);
  expect(response!.headers().vary).toContain('Accept-Language');
  await expect(page.locator('html')).toHaveAttribute('lang', language);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(heading);
}
