import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, Gateway, test } from '../support/chromium.ts';
import { makePrivateManifest } from '../support/manifests.ts';
import { noise, publish } from '../support/publish.ts';
import { makeTarchive, sha256 } from '../support/tar.ts';

test('sites are served from memory if no database opens, and the shell says so', { tag: '@full' }, async ({
  playwright,
  launchOptions,
  startPeer,
  startHost,
  folder,
}) => {
  const peer = await startPeer();
  const index = '<title>Open</title><p>a page</p><script>document.title = "ran"</script>';
  const address = await publish(makeTarchive(folder, { 'index.html': index, 'a.txt': 'a text' }), peer);
  const host = await startHost({ peers: [peer.url] });
  const profile = join(folder, 'profile');
  const before = await playwright.chromium.launchPersistentContext(profile, launchOptions);
  await Gateway.open(host, await before.newPage());
  await before.close();
  // A file where the browser wants a folder: it can open no database. (Folders without rights do not stop root.)
  const databases = join(profile, 'Default/IndexedDB');
  rmSync(databases, { recursive: true });
  writeFileSync(databases, '');

  const after = await playwright.chromium.launchPersistentContext(profile, launchOptions);
  const gateway = await Gateway.open(host, await after.newPage());
  expect(await gateway.fetch(`/${address}/a.txt`)).toMatchObject({ status: 200, text: 'a text' });
  const { available, reason } = JSON.parse((await gateway.fetch('/-/cache')).text);
  expect({ available, reason }).toEqual({ available: false, reason: expect.stringContaining('indexedDB') });
  // The browser stores nothing to list, and that is no failure.
  for (const name of ['trust', 'manifests', 'sites', 'pins']) {
    const { status, text } = await gateway.fetch(`/-/${name}`);
    expect([status, Object.values(JSON.parse(text)).flat()], name).toEqual([200, []]);
  }

  // A manifest is not stored either, and opens as long as the worker lives.
  const manifest = await makePrivateManifest('Letters', { 'a.txt': 'a private text' }, peer);
  const added = await gateway.shell.evaluate(async (body) => {
    const bytes = Uint8Array.from(body, (character) => character.charCodeAt(0));
    return (await fetch('/-/manifests', { method: 'POST', body: bytes })).json();
  }, manifest.toString('latin1'));
  expect(added).toMatchObject({ name: 'Letters', isStored: false });
  expect(await gateway.fetch(`/${added.id}/a.txt`)).toMatchObject({ status: 200, text: 'a private text' });
  expect(JSON.parse((await gateway.fetch('/-/manifests')).text)).toEqual([added]);

  // The browser could not store an answer to the question of a first visit, so it is not asked, and no script runs.
  const page = await after.newPage();
  const response = await page.goto(`${gateway.url}/${address}/`);
  expect(response!.status()).toBe(200);
  expect(response!.headers()['content-security-policy']).toContain("script-src 'none'");
  await expect(page.getByText('a page')).toBeVisible();
  expect(await page.title()).toBe('Open');

  await gateway.shell.reload();
  await expect(gateway.shell.getByRole('banner').getByRole('button')).toHaveText(
    'This browser stores nothing',
  );
  await after.close();
});

test('the same worker uses a database once it is open, even if it opens late', { tag: '@full' }, async ({
  startPeer,
  startHost,
  page,
}) => {
  const peer = await startPeer();
  const letter = await publish(Buffer.from('a letter'), peer);
  const host = await startHost({ peers: [peer.url] });
  // A page that has no worker, with the database in its first version: no worker can open a later one meanwhile.
  await page.goto(`${host.url}/icon.svg`);
  await page.evaluate(async () => {
    const holder = await new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open('antway-chunks', 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore('chunks');
        request.result.createObjectStore('metadata').createIndex('lastUsed', 'lastUsed');
        request.result.createObjectStore('totals');
      };
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    Object.assign(globalThis, { holder });
  });
  const gateway = await Gateway.open(host, await page.context().newPage());
  expect((await gateway.fetch(`/${letter}`)).text).toBe('a letter');
  expect(await gateway.cache()).toMatchObject({
    available: false,
    reason: expect.stringContaining('did not open'),
    count: 0,
  });
  const { startedAt } = await gateway.stats();

  await page.evaluate(() => (globalThis as typeof globalThis & { holder: IDBDatabase }).holder.close());
  await expect
    .poll(() => gateway.cache(), { timeout: 60_000 })
    .toMatchObject({ available: true, reason: null });
  const other = await publish(Buffer.from('another letter'), peer);
  expect((await gateway.fetch(`/${other}`)).text).toBe('another letter');
  await expect.poll(() => gateway.cache()).toMatchObject({ count: 4, waiting: 0 });
  expect((await gateway.stats()).startedAt).toBe(startedAt);
});

test('the shell says that the browser blocks site data', { tag: '@smoke' }, async ({
  playwright,
  launchOptions,
  startHost,
  folder,
}) => {
  const host = await startHost({ peers: [] });
  const profile = join(folder, 'profile');
  mkdirSync(join(profile, 'Default'), { recursive: true });
  const preferences = { profile: { default_content_setting_values: { cookies: 2 } } };
  writeFileSync(join(profile, 'Default/Preferences'), JSON.stringify(preferences));
  const context = await playwright.chromium.launchPersistentContext(profile, launchOptions);
  const page = await context.newPage();
  const alert = page.getByRole('alert');
  for (const path of ['/', `/${'ab'.repeat(32)}/`]) {
    await page.goto(host.url + path);
    await expect(alert).toContainText('The browser does not allow this site to install its gateway');
    await expect(alert).toContainText('Allow site data (cookies) for this site');
    await expect(alert).toContainText('REGISTRATION_REFUSED');
  }
  await context.close();
});

test('a file that does not fit into the browser’s quota is served all the same', { tag: '@full' }, async ({
  page,
  startPeer,
  startHost,
}) => {
  const peer = await startPeer();
  const file = noise(41, 20_000_000);
  const address = await publish(file, peer);
  const host = await startHost({ peers: [peer.url], cache: { memoryBytes: 1 } });
  const session = await page.context().newCDPSession(page);
  // Before the database is open: Chromium remembers for half a minute how much room there was.
  await session.send('Storage.overrideQuotaForOrigin', { origin: host.url, quotaSize: 6_000_000 });
  const gateway = await Gateway.open(host, page);
  for (let i = 0; i < 2; i++) {
    const { size, sha256: hash } = await gateway.fetch(`/${address}`);
    expect({ size, hash }).toEqual({ size: file.length, hash: sha256(file) });
  }
  await gateway.settled();
  expect((await gateway.stats()).chunks.unstored).toBeGreaterThan(0);
  expect((await gateway.cache()).bytes).toBeLessThan(6_000_000);
});
