import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, CDPSession } from '@playwright/test';
import { expect, Gateway, test } from '../support/chromium.ts';
import { makePrivateManifest } from '../support/manifests.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { expectPin, pinAction } from '../support/pins.ts';
import { publish } from '../support/publish.ts';
import { knownPeers } from '../support/publish-screen.ts';
import { untilViewed } from '../support/viewer.ts';
import { UploadGate } from './upload-gate.ts';

/**
 * Launches of the installed app, as the system makes them. The browser writes what it tells the system of an app into
 * the user's home, so it gets one of its own.
 */
test.describe('the installed app', () => {
  let peer: PeerProcess;
  let context: BrowserContext;
  let gateway: Gateway;
  let session: CDPSession;

  test.beforeEach(async ({ playwright, launchOptions, startPeer, startHost, folder }) => {
    test.slow();
    peer = await startPeer();
    const host = await startHost({ peers: [peer.url] });
    const home = join(folder, 'home');
    mkdirSync(home);
    const env = {
      ...process.env,
      HOME: home,
      XDG_DATA_HOME: join(home, 'data'),
      XDG_CONFIG_HOME: join(home, 'config'),
    };
    const profile = join(folder, 'profile');
    context = await playwright.chromium.launchPersistentContext(profile, { ...launchOptions, env });
    gateway = await Gateway.open(host, await context.newPage());
    session = await context.newCDPSession(gateway.shell);
    const { url } = gateway;
    await session.send('PWA.install', { manifestId: `${url}/`, installUrlOrBundleUrl: `${url}/` });
  });

  test.afterEach(async () => {
    await context.close();
  });

  const windows = () => context.pages().length;

  test('declares its file types and links to the system', { tag: '@full' }, async () => {
    const { fileHandlers } = await session.send('PWA.getOsAppState', { manifestId: `${gateway.url}/` });
    expect(fileHandlers).toEqual([
      {
        action: `${gateway.url}/#open`,
        accepts: [
          { mediaType: 'application/vnd.autonomi.datamap', fileExtensions: ['.datamap'] },
          { mediaType: 'application/vnd.autonomi.manifest', fileExtensions: ['.ant'] },
        ],
        displayName: '',
      },
      {
        action: `${gateway.url}/#open`,
        accepts: [{ mediaType: 'application/vnd.antway.site', fileExtensions: ['.antsite'] }],
        displayName: '',
      },
    ]);
  });

  test('opens a launched file while another screen is visible, and back returns to that screen', {
    tag: '@full',
  }, async ({ folder }) => {
    const letter = await publish(Buffer.from('a letter'), peer);
    const { shell } = gateway;
    const before = windows();
    for (const [name, from, isStart] of [
      ['first', '/', true],
      ['second', '/#settings', false],
      ['third', `/${letter}`, false],
    ] as const) {
      const file = join(folder, `${name}.ant`);
      writeFileSync(file, await makePrivateManifest(name, { [`${name}.txt`]: `It is the ${name}.` }, peer));
      await shell.goto(gateway.url + from);
      await session.send('PWA.launchFilesInApp', { manifestId: `${gateway.url}/`, files: [file] });
      const content = await untilViewed(shell, /^\/[0-9a-f]{64}\/$/);
      await expect(content.getByRole('heading')).toHaveText(`Contents of ${name}`);
      expect(windows()).toBe(before);
      // The start page is on the way, and opens nothing again.
      await shell.goBack();
      await expect(shell).toHaveURL(`${gateway.url}/`);
      if (!isStart) await shell.goBack();
      await expect(shell).toHaveURL(gateway.url + from);
    }
  });

  test('imports a launched export into the library, which offers to open it', { tag: '@full' }, async ({
    folder,
  }) => {
    const letter = await publish(Buffer.from('a letter'), peer);
    const { shell, url } = gateway;
    await pinAction(shell, letter, 'pin');
    await expectPin(shell, letter, { state: 'complete' });
    const exported = await shell.evaluate(async (address) => {
      const form = new FormData();
      form.append('title', 'A letter');
      const answer = await fetch(`/-/export?address=${address}`, { method: 'POST', body: form });
      return [...new Uint8Array(await answer.arrayBuffer())];
    }, letter);
    const file = join(folder, 'letter.antsite');
    writeFileSync(file, Uint8Array.from(exported));
    await shell.goto(`${url}/#settings`);
    await session.send('PWA.launchFilesInApp', { manifestId: `${url}/`, files: [file] });
    await expect(shell).toHaveURL(`${url}/#library`);
    const card = shell.locator('.imported');
    await expect(card).toContainText('A letter, 1 file.');
    await card.getByRole('link', { name: 'Open' }).click();
    await expect(shell.getByText('a letter')).toBeVisible();
  });

  test('explains why a file is not a manifest, and stays on its screen', { tag: '@full' }, async ({
    folder,
  }) => {
    const file = join(folder, 'other.ant');
    writeFileSync(file, 'just some text');
    for (const screen of ['Open', 'Settings']) {
      await gateway.shell.getByRole('link', { name: screen, exact: true }).click();
      await session.send('PWA.launchFilesInApp', { manifestId: `${gateway.url}/`, files: [file] });
      await expect(gateway.shell.locator('#address-note')).toHaveText(
        'This is not a valid manifest: it does not begin as one. CORRUPT',
      );
      await expect(gateway.shell).toHaveURL(`${gateway.url}/`);
    }
  });

  test('opens a launched link in the open window', { tag: '@full' }, async () => {
    const letter = await publish(Buffer.from('a letter'), peer);
    const before = windows();
    const url = `${gateway.url}/#open=${encodeURIComponent(`web+ant:${letter}/letter.txt`)}`;
    await session.send('PWA.launch', { manifestId: `${gateway.url}/`, url });
    const content = await untilViewed(gateway.shell, `/${letter}/letter.txt`);
    await expect(content.getByText('a letter')).toBeVisible();
    expect(windows()).toBe(before);
  });

  test('continues an upload when the system opens a link or a file', { tag: '@full' }, async ({ folder }) => {
    const letter = await publish(Buffer.from('a letter'), peer);
    const file = join(folder, 'diary.ant');
    writeFileSync(file, await makePrivateManifest('Diary', { 'diary.txt': 'Fog again.' }, peer));
    const gate = await UploadGate.start(peer.url);
    const { shell } = gateway;
    try {
      await shell.goto(`${gateway.url}/#publish`);
      await shell
        .locator('input[name=files]')
        .setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('something') });
      await knownPeers(shell).uncheck();
      await shell.getByLabel('Another peer').fill(gate.url);
      gate.holdAfter(1);
      await shell.getByRole('button', { name: 'Publish', exact: true }).click();
      await gate.held;
      // Where the browser opens no tab unasked it asks whether to leave: no.
      shell.on('dialog', (dialog) => dialog.dismiss());
      const manifestId = `${gateway.url}/`;
      const box = shell.getByRole('combobox', { name: 'Search or open an address' });
      const opening = () => Promise.race([context.waitForEvent('page'), shell.waitForEvent('dialog')]);
      const fileOpening = opening();
      await session.send('PWA.launchFilesInApp', { manifestId, files: [file] });
      await fileOpening;
      await expect(box).toBeVisible();
      await shell.bringToFront();
      await shell.getByRole('link', { name: 'Publish' }).click();
      await expect(shell.getByRole('button', { name: 'Cancel' })).toBeVisible();
      // The last window is used again: that of the file, if there is one.
      for (const page of context.pages()) if (page !== shell) await page.close();
      const url = `${gateway.url}/#open=${encodeURIComponent(`web+ant:${letter}/letter.txt`)}`;
      const linkOpening = opening();
      await session.send('PWA.launch', { manifestId, url });
      await linkOpening;
      await expect(box).toHaveValue(`web+ant:${letter}/letter.txt`);
      await shell.getByRole('link', { name: 'Publish' }).click();
      gate.open();
      await expect(shell.getByRole('region', { name: 'Published', exact: true })).toBeVisible({
        timeout: 60_000,
      });
    } finally {
      await gate.stop();
    }
  });
});
