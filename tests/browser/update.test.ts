import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import packageJson from '../../package.json' with { type: 'json' };
import { limits } from '../../src/limits.ts';
import { expect, fetchIn, openWithoutScripts, stopWorkers } from '../support/chromium.ts';
import { test } from '../support/chromium-deployments.ts';
import {
  beginDownload,
  type Deployment,
  finishDownload,
  nextVersion,
  lookForUpdate as update,
  updateAtOnce,
} from '../support/deployment.ts';
import { publishManyChunks } from '../support/many-chunks.ts';
import { distFolder } from '../support/paths.ts';
import { expectPin, pinAction } from '../support/pins.ts';
import { publish, RepeatingFile } from '../support/publish.ts';
import { shellStored } from '../support/shell-stored.ts';
import { makeTarchive } from '../support/tar.ts';
import { ChunkRelay } from './chunk-relay.ts';
import { UploadGate } from './upload-gate.ts';

const { version } = packageJson;

const notice = (page: Page) => page.locator('.banner').filter({ hasText: 'pdate' });
const reloadButton = (page: Page) => notice(page).getByRole('button', { name: 'Reload' });

async function openShell(deployment: Deployment, page: Page): Promise<Page> {
  await page.goto(deployment.url);
  await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
  await shellStored(page);
  return page;
}

/** Opens a page of a site on an origin of its own. */
async function openOnOwnOrigin(deployment: Deployment, page: Page, site: string): Promise<void> {
  await page.goto(deployment.siteUrl(site));
  await expect(page).toHaveTitle('Front');
}

/** The version of the worker that answers a page. */
async function versionFor(page: Page): Promise<string> {
  return JSON.parse((await fetchIn(page, '/-/health')).text).version;
}

async function storedChunks(page: Page): Promise<number> {
  return JSON.parse((await fetchIn(page, '/-/cache', { cache: 'no-store' })).text).count;
}

/** Has the browser look for a newer worker. */
const lookForUpdate = (page: Page) => page.evaluate(update);

/** Resolves when no new worker is being installed any more. @returns whether one waits. */
async function isWaiting(page: Page): Promise<boolean> {
  await page.waitForFunction(async () => !(await navigator.serviceWorker.getRegistration())!.installing);
  return page.evaluate(async () => (await navigator.serviceWorker.getRegistration())!.waiting !== null);
}

/** Accepts the update and waits for the page that comes. */
async function accept(page: Page): Promise<void> {
  await Promise.all([page.waitForEvent('load'), reloadButton(page).click()]);
}

/** More than a browser takes in ahead of a page that does not read. */
const file = new RepeatingFile(60_000_000);

// They build another version, encrypt a large file and open several pages, beside other tests.
test.setTimeout(240_000);

async function sha256OfFile(): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of file) hash.update(bytes);
  return hash.digest('hex');
}

/** The shell's script in a build. */
function aScript(build: string): string {
  return `assets/${readdirSync(join(build, 'assets')).find((name) => name.endsWith('.js'))}`;
}

const begin = (page: Page, path: string) => page.evaluate(beginDownload, path);
const finish = (page: Page) => page.evaluate(finishDownload);

test('an update waits until a download completes; then the new version serves from the same chunks', {
  tag: '@full',
}, async ({ page, startPeer, deploy, nextBuild, folder }) => {
  const peer = await startPeer();
  const address = await publish(file, peer);
  const site = await publish(
    makeTarchive(folder, { 'index.html': '<title>Open</title>', 'later.txt': 'asked for later' }),
    peer,
  );
  const deployment = await deploy({ peers: [peer.url], trusted: [site] });
  const shell = await openShell(deployment, page);
  const other = await openShell(deployment, await shell.context().newPage());
  const content = await shell.context().newPage();
  await content.goto(`${deployment.url}/${site}/`);
  await openWithoutScripts(content);
  await begin(other, `/${address}`);

  // The new version is installed while the page is open, and changes nothing yet.
  deployment.put(nextBuild);
  expect(await lookForUpdate(shell)).toBe('found');
  await expect(notice(shell)).toHaveText(/^Update ready: reload/);
  await expect(notice(other)).toHaveText(/^Update ready: reload/);
  expect(await versionFor(shell)).toBe(version);

  // Asked for, it waits for the download, which another tab has under way.
  const reloaded = shell.waitForEvent('load');
  await reloadButton(shell).click();
  await expect(notice(shell)).toContainText('when a running transfer has finished');
  expect(await versionFor(shell)).toBe(version);
  expect(await finish(other)).toEqual({ size: file.size, sha256: await sha256OfFile() });
  await reloaded;
  await expect.poll(() => versionFor(shell)).toBe(nextVersion);
  await expect(notice(shell)).toHaveCount(0);

  // The tab that did not ask is not reloaded under its user's hands.
  await expect(notice(other)).toContainText('updated in another tab');
  await accept(other);
  await expect.poll(() => versionFor(other)).toBe(nextVersion);
  await expect(notice(other)).toHaveCount(0);

  // An open page goes on, and all that was stored still is.
  await peer.kill();
  expect(await fetchIn(content, 'later.txt')).toMatchObject({ status: 200, text: 'asked for later' });
  expect(await fetchIn(shell, `/${address}`)).toMatchObject({
    size: file.size,
    sha256: await sha256OfFile(),
  });
});

test('the worker of a site’s own origin is replaced, too', { tag: '@full' }, async ({
  page,
  startPeer,
  deploy,
  nextBuild,
  folder,
}) => {
  const peer = await startPeer();
  const site = await publish(makeTarchive(folder, { 'index.html': '<title>Front</title>' }), peer);
  const deployment = await deploy({ peers: [peer.url] });
  await openOnOwnOrigin(deployment, page, site);
  const manage = await page.context().newPage();
  await manage.goto(new URL('/-/site', page.url()).href);
  expect(await versionFor(manage)).toBe(version);
  deployment.put(nextBuild);
  await manage.evaluate(updateAtOnce);
  expect(await versionFor(manage)).toBe(nextVersion);
  await page.reload();
  await expect(page).toHaveTitle('Front');
});

test('a site opens although its origin cannot import the gateway’s worker', { tag: '@full' }, async ({
  page,
  startPeer,
  deploy,
  folder,
}) => {
  const peer = await startPeer();
  const site = await publish(makeTarchive(folder, { 'index.html': '<title>Front</title>' }), peer);
  const deployment = await deploy({ peers: [peer.url] });
  const asked: string[] = [];
  deployment.drops = (path, host) => {
    const isOfRoot = host.startsWith('antway.localhost');
    if (!isOfRoot) asked.push(path);
    return isOfRoot && (path === '/sw.js' || path.endsWith('.wasm'));
  };
  await openOnOwnOrigin(deployment, page, site);
  expect(asked).toContain('/sw.js?whole');
  expect(asked).toContainEqual(expect.stringMatching(/brotli_dec.*\.wasm$/));
});

test('a download completes although a new version takes over at once', { tag: '@full' }, async ({
  page,
  startPeer,
  deploy,
  nextBuild,
}) => {
  const peer = await startPeer();
  const address = await publish(file, peer);
  const deployment = await deploy({ peers: [peer.url] });
  const shell = await openShell(deployment, page);
  await begin(shell, `/${address}`);
  deployment.put(nextBuild);
  await lookForUpdate(shell);
  await expect(notice(shell)).toBeVisible();
  await shell.evaluate(async () => {
    (await navigator.serviceWorker.getRegistration())!.waiting!.postMessage({ type: 'SKIP_WAITING' });
  });
  expect(await finish(shell)).toEqual({ size: file.size, sha256: await sha256OfFile() });
  await expect.poll(() => versionFor(shell)).toBe(nextVersion);
});

test('an update waits for a publication; the user can cancel it, or reload anyway', { tag: '@full' }, async ({
  page,
  startPeer,
  deploy,
  nextBuild,
}) => {
  const peer = await startPeer();
  const gate = await UploadGate.start(peer.url);
  try {
    const deployment = await deploy({ peers: [gate.url] });
    const shell = await openShell(deployment, page);
    const address = await publish(file, peer);
    await begin(await openShell(deployment, await shell.context().newPage()), `/${address}`);
    await shell.goto(`${deployment.url}/#publish`);
    await shell
      .locator('input[name=files]')
      .setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('something') });
    gate.holdAfter(1);
    await shell.getByRole('button', { name: 'Publish', exact: true }).click();
    await gate.held;
    deployment.put(nextBuild);
    await lookForUpdate(shell);
    await reloadButton(shell).click();
    await expect(notice(shell)).toContainText('when publishing has finished');
    await notice(shell).getByRole('button', { name: 'Cancel' }).click();
    await expect(notice(shell)).toHaveText(/^Update ready: reload/);

    gate.open();
    await expect(shell.getByRole('region', { name: 'Published', exact: true })).toBeVisible({
      timeout: 60_000,
    });
    await reloadButton(shell).click();
    await expect(notice(shell)).toContainText('when a running transfer has finished');
    const reloaded = shell.waitForEvent('load');
    await notice(shell).getByRole('button', { name: 'Reload anyway' }).click();
    await expect(shell.locator('.banner').filter({ hasText: 'The new version takes over' })).toBeVisible();
    const [, other] = shell.context().pages();
    expect(await finish(other!)).toEqual({ size: file.size, sha256: await sha256OfFile() });
    await reloaded;
    await expect.poll(() => versionFor(shell)).toBe(nextVersion);
  } finally {
    await gate.stop();
  }
});

test('a pin continues in the new version', { tag: '@full' }, async ({
  page,
  startPeer,
  deploy,
  nextBuild,
}) => {
  const peer = await startPeer();
  const site = await publishManyChunks(peer, 200);
  const relay = await ChunkRelay.start(peer);
  try {
    const deployment = await deploy({ peers: [relay.url] });
    const shell = await openShell(deployment, page);
    const { held } = relay.holdAfter(100);
    await pinAction(shell, site.address, 'pin');
    await held;
    deployment.put(nextBuild);
    expect(await lookForUpdate(shell)).toBe('found');
    await accept(shell);
    await expect.poll(() => versionFor(shell)).toBe(nextVersion);
    // At most, the new version repeats the requests of the old one; the rest goes on where it was.
    relay.drop();
    relay.release();
    const { chunks } = await expectPin(shell, site.address, { state: 'complete', activity: 'idle' });
    expect(chunks).toEqual({ stored: site.chunks, total: site.chunks });
    expect(new Set(relay.given.keys())).toEqual(site.addresses);
    expect(relay.repeated).toBeLessThanOrEqual(limits.parallelPinFetches);
    expect(await storedChunks(shell)).toBe(site.chunks);
  } finally {
    await relay.stop();
  }
});

test.describe('an update that fails to install leaves the former version in place:', { tag: '@full' }, () => {
  const faults: Record<string, (deployment: Deployment, build: string) => void> = {
    'a file is missing': (deployment, build) => deployment.remove(aScript(build)),
    'the host answers with its start page for a file that is not there': (deployment, build) =>
      deployment.change(aScript(build), () => '<!doctype html><title>Antway</title>'),
    'the host goes away in the middle': (deployment) => {
      deployment.drops = (path) => path.startsWith('/assets/');
    },
    'its script throws': (deployment) =>
      deployment.change('sw.js', (text) => `throw new Error('a broken build');${text}`),
    'its script is missing': (deployment) => deployment.remove('sw.js'),
  };

  for (const [name, spoil] of Object.entries(faults)) {
    test(name, { tag: name === 'a file is missing' ? [] : '@full' }, async ({
      page,
      startPeer,
      deploy,
      nextBuild,
    }) => {
      const peer = await startPeer();
      const address = await publish(Buffer.from('a letter'), peer);
      const deployment = await deploy({ peers: [peer.url] });
      const shell = await openShell(deployment, page);
      expect((await fetchIn(shell, `/${address}`)).text).toBe('a letter');
      // The letter's map and its three chunks, which are written a moment after they were answered with.
      const chunks = 4;
      await expect.poll(() => storedChunks(shell)).toBe(chunks);

      deployment.put(nextBuild);
      spoil(deployment, nextBuild);
      await lookForUpdate(shell);
      expect(await isWaiting(shell)).toBe(false);
      await stopWorkers(shell);
      expect(await versionFor(shell)).toBe(version);
      await expect(notice(shell)).toHaveCount(0);
      await shell.reload();
      expect(await isWaiting(shell)).toBe(false);
      await expect(shell.getByRole('combobox', { name: 'Search or open an address' })).toBeVisible();
      expect(await versionFor(shell)).toBe(version);
      expect(await storedChunks(shell)).toBe(chunks);

      // The page that saw it fail sees the next one, that is whole.
      deployment.drops = undefined;
      deployment.put(nextBuild);
      await lookForUpdate(shell);
      await expect(notice(shell)).toBeVisible();
      await accept(shell);
      await expect.poll(() => versionFor(shell)).toBe(nextVersion);
      expect(await storedChunks(shell)).toBe(chunks);
    });
  }
});

test('an older version can take over again, and finds the chunks', { tag: '@full' }, async ({
  page,
  startPeer,
  deploy,
  nextBuild,
}) => {
  const peer = await startPeer();
  const address = await publish(Buffer.from('a letter'), peer);
  const deployment = await deploy({ peers: [peer.url] });
  deployment.put(nextBuild);
  const shell = await openShell(deployment, page);
  expect((await fetchIn(shell, `/${address}`)).text).toBe('a letter');
  await expect.poll(() => storedChunks(shell)).toBe(4);
  expect(await versionFor(shell)).toBe(nextVersion);

  deployment.put(distFolder);
  await lookForUpdate(shell);
  await accept(shell);
  await expect.poll(() => versionFor(shell)).toBe(version);
  await peer.kill();
  expect((await fetchIn(shell, `/${address}`)).text).toBe('a letter');
});

test('an update deletes the files of the former version, and no foreign cache', { tag: '@full' }, async ({
  page,
  deploy,
  nextBuild,
}) => {
  const deployment = await deploy({ peers: [] });
  const shell = await openShell(deployment, page);
  const scope = `${deployment.url}/`;
  const foreign = [
    'photos',
    `other-precache-v2-${scope}`,
    `workbox-precache-v2-${scope}blog/`,
    `antway-shell-${scope}ant/`,
  ];
  const cachedFiles = () =>
    shell.evaluate(async () => {
      const files: Record<string, string[]> = {};
      for (const name of await caches.keys()) {
        const requests = await (await caches.open(name)).keys();
        files[name] = requests.map(({ url }) => new URL(url).pathname);
      }
      return files;
    });
  const before = await cachedFiles();
  // Where the browser lacks the cipher there is one more, with libsodium.
  expect(Object.keys(before).filter((name) => !name.startsWith('antway-'))).toEqual([]);
  await shell.evaluate(async (names) => {
    for (const name of names) await (await caches.open(name)).put('/a-file', new Response('kept'));
  }, foreign);

  deployment.put(nextBuild);
  await lookForUpdate(shell);
  await accept(shell);
  await expect
    .poll(async () => Object.keys(await cachedFiles()).sort())
    .toEqual([...Object.keys(before), ...foreign].sort());
  const scripts = (files: Record<string, string[]>) =>
    files[`antway-shell-${scope}`]!.filter((path) => path.endsWith('.js')).sort();
  const renamed = scripts(before).map((path) => path.replace(/^(\/assets\/.*)\.js$/, '$1x.js'));
  expect(renamed).toContain(`/${aScript(nextBuild)}`);
  expect(scripts(await cachedFiles())).toEqual(renamed);

  // And the shell opens from them alone.
  await deployment.close();
  await shell.reload();
  await expect(shell.getByRole('combobox', { name: 'Search or open an address' })).toBeVisible();
});
