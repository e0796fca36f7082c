import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { type Build, filesList } from '../../src/build.ts';
import { isForSites } from '../../sw/shell-headers.ts';
import { errorCode, expect, fetchIn, openTitled, stopWorkers } from '../support/chromium.ts';
import { test } from '../support/chromium-deployments.ts';
import { type Deployment, lookForUpdate, nextVersion } from '../support/deployment.ts';
import { LoopbackServer, passOn } from '../support/loopback-server.ts';
import { distFolder } from '../support/paths.ts';
import { publish } from '../support/publish.ts';
import { storeShell } from '../support/shell-stored.ts';
import { makeTarchive } from '../support/tarchive.ts';

const script = readFileSync(join(distFolder, 'sw.js'), 'utf8');
const [embedded] = /\{"hash":"[0-9a-f]{64}","first":.*?"optional":\[[^[\]]*\]\}/.exec(script)!;
const build: Build = JSON.parse(embedded);
const ofShell = (paths: readonly string[]) => paths.filter((path) => !isForSites(path));
/** Pages below `/-/` need the style, and the other files need the list. The first screen needs neither. */
const hashedButLater = ['/-/page.css', filesList];
const first = ofShell(Object.keys(build.first)).filter((path) => !hashedButLater.includes(path));
const later = [...ofShell(build.installed), ...hashedButLater];
const liveView = later.find((path) => /\/live-view-.*\.js$/.test(path))!;

/** The paths of the shell's files in the worker's cache. */
async function storedFiles(page: Page): Promise<string[]> {
  const paths = await page.evaluate(async () => {
    const cache = await caches.open(`antway-shell-${location.origin}/`);
    return (await cache.keys()).map(({ url }) => new URL(url).pathname);
  });
  return paths.sort();
}

/** Opens the shell while the host sends none of the later files, so that only the first installation completes. */
async function openIncomplete(deployment: Deployment, page: Page): Promise<void> {
  deployment.drops = (path) => later.includes(path);
  await page.goto(deployment.url);
  await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
}

const hasAll = async (page: Page) => (await storedFiles(page)).length === first.length + later.length;

test('a first installation stores the first screen, and then the shell has the rest stored', {
  tag: '@full',
}, async ({ page, deploy }) => {
  const bytes = (paths: readonly string[]) =>
    paths.reduce((sum, path) => sum + readFileSync(distFolder + path).length, 0);
  expect(bytes(first)).toBeLessThan(bytes(later) / 3);
  const deployment = await deploy({ peers: [] });
  await openIncomplete(deployment, page);
  expect(await storedFiles(page)).toEqual(first.toSorted());

  const requests: string[] = [];
  deployment.drops = (path) => {
    requests.push(path);
    return false;
  };
  await page.goto(`${deployment.url}/`);
  await expect.poll(() => hasAll(page)).toBe(true);
  expect(await storedFiles(page)).toEqual([...first, ...later].toSorted());
  // None twice, and none of the first screen's again.
  const files = requests.filter((path) => later.includes(path));
  expect(files.toSorted()).toEqual(later.toSorted());
  expect(requests.filter((path) => first.includes(path))).toEqual([]);

  const { url } = deployment;
  await deployment.close();
  await page.goto(`${url}/#live`);
  await page.reload();
  await expect(page.getByRole('region', { name: 'Activity' })).toBeVisible();
});

/** The script and the style of the shell's document. */
const assets = first.filter((path) => /^\/assets\//.test(path));

test('a first worker takes the script and the style from the browser’s HTTP cache', { tag: '@full' }, async ({
  page,
  deploy,
}) => {
  const deployment = await deploy({ peers: [] });
  const asked: string[] = [];
  deployment.holds = (path) => {
    asked.push(path);
    return false;
  };
  await page.goto(deployment.url);
  await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
  expect(await storedFiles(page)).toEqual(expect.arrayContaining(assets));
  expect(asked.filter((path) => assets.includes(path)).toSorted()).toEqual(assets.toSorted());
});

test('a first worker asks the host if the browser’s HTTP cache has wrong files', { tag: '@full' }, async ({
  page,
  deploy,
}) => {
  const deployment = await deploy({ peers: [] });
  for (const path of assets) deployment.change(path.slice(1), (text) => `/*WRONG*/${text}`);
  // The page stores the wrong files for a year, and has no worker yet.
  deployment.drops = (path) => path === '/sw.js';
  await page.goto(deployment.url);
  await expect(page.getByText('WORKER_UNREACHABLE')).toBeVisible();
  for (const path of assets) deployment.change(path.slice(1), (text) => text.replace('/*WRONG*/', ''));
  deployment.drops = undefined;
  await page.goto(`${deployment.url}/#live`);
  await page.reload();
  await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
  for (const path of assets) {
    const answer = await fetchIn(page, path);
    expect([answer.status, answer.text.includes('/*WRONG*/')]).toEqual([200, false]);
  }
});

test('a first visit by a link to content has the rest of the shell stored after the content', {
  tag: '@full',
}, async ({ page, startPeer, deploy }) => {
  const peer = await startPeer();
  const letter = await publish(Buffer.from('Dear reader'), peer);
  const deployment = await deploy({ peers: [peer.url] });
  const { url } = deployment;
  await page.goto(`${url}/${letter}`);
  await expect(page.getByText('Dear reader')).toBeVisible();
  await expect.poll(() => hasAll(page), { timeout: 60_000 }).toBe(true);
  await deployment.close();
  await page.goto(`${url}/#live`);
  await expect(page.getByRole('region', { name: 'Activity' })).toBeVisible();
});

test('the rest of the shell waits while content is loading', { tag: '@full' }, async ({
  page,
  startPeer,
  deploy,
}) => {
  const peer = await startPeer({ webTransport: 'none' });
  const letter = await publish(Buffer.from('Dear reader'), peer);
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const asked: string[] = [];
  await using slow = await LoopbackServer.start(async (request, response) => {
    asked.push(request.url!);
    if (request.url?.startsWith('/chunk/')) await held;
    await passOn(request, response, peer.url);
  });
  const deployment = await deploy({ peers: [slow.url] });
  const ofPage = new Set<string>();
  page.on('request', (request) => ofPage.add(new URL(request.url()).pathname));
  await openIncomplete(deployment, page);
  const answering = fetchIn(page, `/${letter}`);
  await expect.poll(() => asked).toContain(`/chunk/${letter}`);

  const requests: string[] = [];
  deployment.drops = (path) => {
    requests.push(path);
    return false;
  };
  void storeShell(page);
  // The host answers these after requests that the worker would have sent at the message.
  for (let i = 0; i < 5; i++) await fetchIn(page, `/sw.js?${i}`, { cache: 'no-store' });
  // The page asks for parts of its own, and the content needs the decoder.
  const rest = later.filter((path) => path !== filesList && !/\/brotli_dec_.*\.wasm$/.test(path));
  const ofWorker = () => requests.filter((path) => rest.includes(path) && !ofPage.has(path));
  expect(ofWorker()).toEqual([]);
  goOn();
  expect(await answering).toMatchObject({ status: 200, text: 'Dear reader' });
  await expect.poll(() => storeShell(page)).toBe(true);
  expect(ofWorker()).not.toEqual([]);
  expect(await hasAll(page)).toBe(true);
});

test('an incomplete shell says offline which part is missing, and shows it when the host is back', {
  tag: '@full',
}, async ({ page, deploy }) => {
  const deployment = await deploy({ peers: [] });
  await openIncomplete(deployment, page);
  // The gateway has read the host's configuration, which names no peer.
  await expect(page.getByRole('button', { name: 'Local only' })).toBeVisible();
  deployment.drops = () => true;
  await page.goto(`${deployment.url}/#live`);
  await page.reload();
  const problem = page.locator('main').getByRole('alert');
  await expect(problem).toHaveText(/not stored on this device yet.*PART_UNAVAILABLE/);
  await page.getByRole('button', { name: 'Local only' }).click();
  await expect(page.locator('.connection').getByText('PART_UNAVAILABLE')).toBeVisible();
  await page.goto(`${deployment.url}/#settings`);
  // The names, the form that adds a peer, and the backup.
  await expect(page.locator('main').getByRole('alert').filter({ hasText: 'PART_UNAVAILABLE' })).toHaveCount(
    3,
  );
  // No other version replaced this one.
  await expect(page.locator('.banner')).toHaveCount(0);

  // The document asks for the file before the worker's own turn, and gets it from the host.
  deployment.drops = undefined;
  await page.goto(`${deployment.url}/#live`);
  await page.reload();
  await expect(page.getByRole('region', { name: 'Activity' })).toBeVisible();
});

test('a second step that was interrupted goes on where it was', { tag: '@full' }, async ({
  page,
  deploy,
}) => {
  const deployment = await deploy({ peers: [] });
  await openIncomplete(deployment, page);
  const given = [filesList, ...later.slice(0, 5)];
  deployment.drops = (path) => later.includes(path) && !given.includes(path);
  // The first attempt can be the shell's own, which began before the host gave these files.
  await expect(async () => {
    expect(await storeShell(page)).toBe(false);
    expect(await storedFiles(page)).toEqual([...first, ...given].toSorted());
  }).toPass();
  await stopWorkers(page);

  const requests: string[] = [];
  deployment.drops = (path) => {
    requests.push(path);
    return false;
  };
  await page.reload();
  await expect.poll(() => hasAll(page)).toBe(true);
  expect(requests.filter((path) => given.includes(path))).toEqual([]);
});

test('the second step stores no file whose bytes differ', async ({ page, deploy }) => {
  const deployment = await deploy({ peers: [] });
  await openIncomplete(deployment, page);
  deployment.change(liveView.slice(1), (text) => `document.title = 'FORGED';${text}`);
  deployment.drops = undefined;
  expect(await storeShell(page)).toBe(false);
  expect(await storedFiles(page)).not.toContain(liveView);
  const answer = await fetchIn(page, liveView);
  expect([answer.status, errorCode(answer)]).toEqual([502, 'BUILD_MISMATCH']);
  expect(JSON.parse((await fetchIn(page, '/-/stats')).text).files.refused).toBeGreaterThan(0);
  await page.goto(`${deployment.url}/#live`);
  await expect(page.locator('main').getByRole('alert')).toContainText('PART_UNAVAILABLE');
  expect(await page.title()).not.toContain('FORGED');
});

test('an incomplete shell whose host has a newer version offers that version, which is complete', {
  tag: '@full',
}, async ({ page, deploy, nextBuild }) => {
  const deployment = await deploy({ peers: [] });
  await openIncomplete(deployment, page);
  deployment.put(nextBuild);
  deployment.drops = undefined;
  const reload = page.locator('.banner').getByRole('button', { name: 'Reload' });
  // The first attempt can be the shell's own, which began before the host had the newer version.
  await expect(async () => {
    expect(await storeShell(page)).toBe(false);
    await expect(page.locator('.banner')).toContainText('Update ready', { timeout: 5_000 });
  }).toPass();
  await Promise.all([page.waitForEvent('load'), reload.click()]);
  await expect
    .poll(async () => JSON.parse((await fetchIn(page, '/-/health')).text).version)
    .toBe(nextVersion);
  const { url } = deployment;
  await deployment.close();
  await page.goto(`${url}/#live`);
  await page.reload();
  await expect(page.getByRole('region', { name: 'Activity' })).toBeVisible();
});

test('an update does not wait for a host that never sends the rest', { tag: '@full' }, async ({
  page,
  deploy,
  nextBuild,
}) => {
  const deployment = await deploy({ peers: [] });
  const asked: string[] = [];
  // The next version has another name for it.
  deployment.holds = (path) => {
    asked.push(path);
    return path === liveView;
  };
  await page.goto(deployment.url);
  await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
  await expect.poll(() => asked.includes(liveView)).toBe(true);
  deployment.put(nextBuild);
  expect(await page.evaluate(lookForUpdate)).toBe('found');
  const reload = page.locator('.banner').getByRole('button', { name: 'Reload' });
  await Promise.all([page.waitForEvent('load'), reload.click()]);
  expect(JSON.parse((await fetchIn(page, '/-/health')).text).version).toBe(nextVersion);
});

test('a trusted page cannot ask the worker to store the shell’s files', { tag: '@full' }, async ({
  page,
  startPeer,
  deploy,
}) => {
  const peer = await startPeer();
  const site = await publish(
    await makeTarchive({ 'index.html': '<!doctype html><title>Trusted</title>' }),
    peer,
  );
  const deployment = await deploy({ peers: [peer.url], trusted: [site], isolation: 'path' });
  await openIncomplete(deployment, page);
  // The site itself needs the decoder.
  deployment.drops = (path) => later.includes(path) && !path.endsWith('.wasm');
  // Another page, so that no shell asks meanwhile.
  await page.goto('about:blank');
  const attacker = await openTitled(page.context(), `${deployment.url}/${site}/`, 'Trusted');
  await attacker.evaluate(() => history.pushState(null, '', '/'));
  let reply: unknown = 'no reply';
  storeShell(attacker).then(
    (stored) => {
      reply = stored;
    },
    () => undefined, // the page is closed
  );
  // The shell asks after the page of the site, and the worker replies that it cannot get the files.
  await page.goto(deployment.url);
  expect(await storeShell(page)).toBe(false);
  expect(reply).toBe('no reply');

  deployment.drops = undefined;
  // The first attempt can be the worker's own, which began before the host gave the files.
  await expect.poll(() => storeShell(page)).toBe(true);
});
