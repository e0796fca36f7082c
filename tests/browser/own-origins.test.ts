import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from '@playwright/test';
import { Address } from '../../src/address.ts';
import type { SiteOrigin } from '../../src/gateway/state/site-origins.ts';
import type { ListedSite } from '../../src/shell/gateway-api.ts';
import {
  expect,
  fetchIn,
  openShellIn,
  openTitled,
  openWorkerIn,
  stopWorkers,
  test,
} from '../support/chromium.ts';
import { makePrivateManifest } from '../support/manifests.ts';
import { distFolder } from '../support/paths.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { expectPin } from '../support/pins.ts';
import type { HostConfig } from '../support/processes.ts';
import { publish } from '../support/publish.ts';
import { openAdvancedOptions } from '../support/settings.ts';
import { shellStored } from '../support/shell-stored.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { viewed } from '../support/viewer.ts';
import { visitCounts } from '../support/visits.ts';
import { ChunkRelay } from './chunk-relay.ts';

/** A site whose title tells whether its scripts run. */
const siteFiles = (name: string) => ({
  'index.html': `<!doctype html><title>${name}, still</title><script>document.title = '${name}, running'</script><p>The front</p>`,
  'page.html': `<!doctype html><title>${name}, a page</title>`,
  'picture.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>',
  'note.txt': `a note of ${name}`,
});

let peer: PeerProcess;
let host: PeerProcess;
let configFile: string;
let context: BrowserContext;
let root: string;

const originOf = (address: string) => root.replace('//', `//${Address.fromHex(address).base32}.`);

test.beforeEach(async ({ startPeer, browser, folder }) => {
  peer = await startPeer();
  configFile = join(folder, 'antway.json');
  writeConfig({});
  const flags = ['--web', distFolder, '--web-config', configFile];
  host = await startPeer({ flags, webTransport: 'none' });
  root = `http://antway.localhost:${new URL(host.url).port}`;
  context = await browser.newContext();
});

test.afterEach(() => context.close());

function writeConfig(config: Partial<HostConfig>): void {
  writeFileSync(configFile, JSON.stringify({ peers: [peer.url], ...config }));
}

const openShell = (fragment = '') => openShellIn(context, `${root}/${fragment}`);

const openWorker = () => openWorkerIn(context, root);

const visit = (url: string, title: string) => openTitled(context, url, title);

async function sites(shell: Page): Promise<ListedSite[]> {
  return JSON.parse((await fetchIn(shell, '/-/sites')).text).sites;
}

test('a site opens with its scripts on an origin of its own, without a question, is pinned there, and opens with peer and host gone', {
  tag: '@smoke',
}, async () => {
  const address = await publish(await makeTarchive(siteFiles('Sample')), peer);
  writeConfig({ names: { sample: address } });
  const shell = await openShell();
  await shell.goto(`${root}/sample/?a=x#part`);
  await expect(shell).toHaveTitle('Sample, running');
  expect(shell.url()).toBe(`${originOf(address)}/?a=x#part`);

  const library = await openShell('#library');
  await library.getByRole('button', { name: 'Pin: Sample, still' }).click();
  await expect(library.getByText('is ready for offline use')).toBeVisible();
  const [site] = await sites(library);
  expect(site).toMatchObject({ address, hasOwnOrigin: true, offline: true, pin: { state: 'complete' } });
  // The pin is where the site is, and nothing is pinned on the gateway's own origin.
  expect(JSON.parse((await fetchIn(library, '/-/pins')).text).pins).toEqual([]);

  await shellStored(library);
  await Promise.all([peer.kill(), host.kill()]);
  for (const [path, title] of [
    ['', 'Sample, running'],
    ['page.html', 'Sample, a page'],
  ]) {
    const page = await visit(`${root}/sample/${path}`, title!);
    expect(page.url()).toBe(`${originOf(address)}/${path}`);
  }
});

test('files that cannot run scripts, parts of pages and downloads stay on the gateway’s origin', {
  tag: '@full',
}, async () => {
  const address = await publish(await makeTarchive(siteFiles('Parts')), peer);
  const shell = await openWorker();
  const page = await context.newPage();
  for (const path of ['note.txt', '?format=json']) {
    await page.goto(`${root}/${address}/${path}`);
    expect(page.url()).toBe(`${root}/${address}/${path}`);
  }
  const answer = await fetchIn(shell, `/${address}/`);
  expect(answer.status).toBe(200);
  expect(answer.headers['content-security-policy']).toContain("script-src 'none'");
  const download = page.waitForEvent('download');
  await page.evaluate((url) => location.assign(url), `/${address}/?download`);
  await (await download).cancel();
});

for (const { way, open } of [
  {
    way: 'by a link',
    open: async (address: string) => {
      await visit(`${root}/${address}/`, 'Once, running');
    },
  },
  {
    way: 'in the viewer',
    open: async (address: string) => {
      const shell = await openShell(`#view=${address}/`);
      await expect(viewed(shell).getByText('The front')).toBeVisible();
    },
  },
]) {
  test(`records that the gateway’s origin has read of a site ${way} are not loaded again`, {
    tag: '@full',
  }, async () => {
    const address = await publish(await makeTarchive(siteFiles('Once')), peer);
    const relay = await ChunkRelay.start(peer);
    try {
      writeConfig({ peers: [relay.url] });
      await openWorker();
      await open(address);
      expect([...relay.given.keys()]).toContain(address);
      expect(relay.given.size).toBeGreaterThan(2);
      expect(relay.repeated).toBe(0);
    } finally {
      await relay.stop();
    }
  });
}

test('a fragment that the user enters while a site opens does not stop it', { tag: '@full' }, async () => {
  const script = "<!doctype html><script>document.title = 'At ' + location.hash</script>";
  const address = await publish(await makeTarchive({ 'index.html': script }), peer);
  const relay = await ChunkRelay.start(peer);
  try {
    writeConfig({ peers: [relay.url] });
    const { held } = relay.holdAfter(0);
    const page = await context.newPage();
    await page.goto(`${originOf(address)}/`);
    await held;
    await page.goto(`${originOf(address)}/#/2`);
    relay.release();
    await expect(page).toHaveTitle('At #/2');
  } finally {
    await relay.stop();
  }
});

test('a page that cannot start the worker says so, although its style comes late', {
  tag: '@full',
}, async () => {
  const page = await context.newPage();
  // Registering fails at once, and the style arrives after the text “Opening …” is due.
  await page.addInitScript(() => {
    ServiceWorkerContainer.prototype.register = () => Promise.reject(new Error('not today'));
  });
  await page.route('**/-/page.css', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 700));
    await route.continue();
  });
  await page.goto(`${originOf('ab'.repeat(32))}/`);
  await expect(page.getByRole('heading')).toHaveText('This site could not be opened');
  await expect(page.getByText('not today')).toBeVisible();
  await expect(page.locator('body')).toHaveCSS('max-width', /px/);
});

test('the page before the first content asks its worker for nothing but settings', {
  tag: '@full',
}, async () => {
  const address = await publish(await makeTarchive(siteFiles('Asked')), peer);
  await openWorker();
  const page = await visit(`${root}/${address}/`, 'Asked, running');
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  // Its worker controls the page already.
  await page.goto(`${originOf(address)}/-/site`);
  await expect(page.getByRole('heading')).toHaveText('This site in this browser');
  expect(asked).not.toContain('/antway.json');
  expect(asked).toContain('/-/origin');
});

test('the origin of a site stores its own pages after the first content', { tag: '@full' }, async () => {
  const address = await publish(await makeTarchive(siteFiles('Pages')), peer);
  await openWorker();
  const page = await visit(`${root}/${address}/`, 'Pages, running');
  const stored = () =>
    page.evaluate(async () => {
      const keys = await Promise.all(
        (await caches.keys()).map(async (name) => (await caches.open(name)).keys()),
      );
      return keys.flat().map(({ url }) => new URL(url).pathname);
    });
  const pages = ['/-/bridge.html', '/-/bridge.js', '/-/site.html', '/-/site.js', '/-/page.css'];
  await expect.poll(stored, { timeout: 20_000 }).toEqual(expect.arrayContaining(pages));
  expect((await stored()).some((path) => path.endsWith('.wasm'))).toBe(true);
  await Promise.all([peer.kill(), host.kill()]);
  await page.goto(`${originOf(address)}/-/site`);
  await expect(page.getByRole('heading')).toHaveText('This site in this browser');
});

test('an origin whose data was deleted stores nothing more', { tag: '@full' }, async () => {
  const address = await publish(await makeTarchive(siteFiles('Deleted')), peer);
  await openWorker();
  await visit(`${root}/${address}/`, 'Deleted, running');
  const page = await context.newPage();
  await page.goto(`${originOf(address)}/-/site`);
  const remove = page.getByRole('button', { name: 'Delete all data of the site' });
  await expect(remove).toBeVisible();
  // The worker starts again with the request that deletes everything.
  await stopWorkers(page);
  await remove.click();
  await expect(page.getByText('All data of this site was deleted')).toBeVisible();
  // The worker would store its own files 5 s later.
  await page.waitForTimeout(7_000);
  expect(await page.evaluate(() => caches.keys())).toEqual([]);
});

test('a redirect to a site’s origin, and the page in its place, are temporary and not stored', async () => {
  const address = await publish(await makeTarchive(siteFiles('Moved')), peer);
  await openWorker();
  const page = await context.newPage();
  const answers: [number, string | undefined][] = [];
  page.on('response', (response) => {
    if (response.url().split('#')[0] === `${root}/${address}/`)
      answers.push([response.status(), response.headers()['cache-control']]);
  });
  // The URL is typed, so a page leads there, with the fragment. Then a page of the gateway leads there.
  await page.goto(`${root}/${address}/#part`);
  await expect(page).toHaveTitle('Moved, running');
  expect(new URL(page.url()).hash).toBe('#part');
  await page.goto(`${root}/${address}/`, { referer: `${root}/` });
  await expect(page).toHaveTitle('Moved, running');
  expect(answers).toEqual([
    [200, 'no-store'],
    [302, 'no-store'],
  ]);
});

test('a direct link to a site’s origin applies the user’s settings before its first content', async () => {
  const [open, blocked, target] = await Promise.all(
    ['Open', 'Blocked', 'Elsewhere'].map(async (name) => publish(await makeTarchive(siteFiles(name)), peer)),
  );
  writeConfig({ peers: ['http://127.0.0.1:9'] });
  const shell = await openShell();
  const settings = { peers: [peer.url], denied: [blocked, target], cache: { memoryBytes: 1_000_000 } };
  const saved = await fetchIn(shell, '/-/settings', { method: 'PUT', body: JSON.stringify(settings) });
  expect(saved.status).toBe(200);
  await fetchIn(shell, '/-/appearance', {
    method: 'PUT',
    body: JSON.stringify({ language: 'de', theme: null }),
  });

  // The host's peer does not answer: only the user's peer has this page.
  await visitCounts(await visit(`${originOf(open!)}/`, 'Open, running'));
  const page = await context.newPage();
  const refused = await page.goto(`${originOf(blocked!)}/`);
  await expect(page.getByRole('heading')).toHaveText('Diese Adresse ist auf diesem Gateway gesperrt');
  expect(refused).not.toBeNull();
  expect((await page.goto(`${originOf(blocked!)}/note.txt`))?.status()).toBe(451);
  // Only what could be opened is listed, and what a site can read there names no denied address.
  await expect.poll(async () => (await sites(shell)).map(({ address }) => address)).toEqual([open]);
  const dump = await page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve) => {
      const request = indexedDB.open('antway');
      request.onsuccess = () => resolve(request.result);
    });
    const values = database.transaction('settings').objectStore('settings').getAll();
    return new Promise<string>((resolve) => {
      values.onsuccess = () => resolve(JSON.stringify(values.result));
    });
  });
  expect(dump).toContain('deniedHashes');
  expect(dump).not.toContain(target);
});

test('an address without content is not listed, although its origin was opened', {
  tag: '@full',
}, async () => {
  const shell = await openShell('#library');
  const nothing = 'ab'.repeat(32);
  const page = await context.newPage();
  await page.goto(`${originOf(nothing)}/`);
  await expect(page.getByRole('heading')).toBeVisible();
  const origins = async () => JSON.parse((await fetchIn(shell, '/-/origins')).text).origins;
  await expect.poll(async () => (await origins())[0]?.readyAt).toEqual(expect.any(Number));
  // A site that is there, by a direct link, is listed by then.
  const address = await publish(await makeTarchive(siteFiles('There')), peer);
  await visit(`${originOf(address)}/`, 'There, running');
  await shell.bringToFront();
  await expect(shell.locator('.site-row')).toHaveCount(1);
  expect((await sites(shell)).map(({ address }) => address)).toEqual([address]);
});

test('a change of settings and a reset reach the origins of sites', { tag: '@full' }, async () => {
  const address = await publish(await makeTarchive(siteFiles('Changed')), peer);
  const page = await context.newPage();
  await openShell();
  await page.goto(`${root}/${address}/`);
  await expect(page).toHaveTitle('Changed, running');
  await page.evaluate(() => localStorage.setItem('of the site', 'x'));

  const shell = await openShell('#settings');
  await openAdvancedOptions(shell);
  await shell.getByLabel('Address to block').fill(address);
  await shell.getByRole('button', { name: 'Block', exact: true }).click();
  await expect.poll(() => page.evaluate(async () => (await fetch('/note.txt')).status)).toBe(451);
  await page.goto('about:blank');

  await shell.getByRole('button', { name: 'Delete everything…' }).click();
  await shell.getByRole('button', { name: 'Delete everything', exact: true }).click();
  await expect(shell.getByText('Everything was deleted.')).toBeVisible();
  expect(await sites(shell)).toEqual([]);
  await page.goto(`${originOf(address)}/note.txt`);
  await expect(page.locator('body')).toHaveText('a note of Changed');
  expect(await page.evaluate(() => localStorage.length)).toBe(0);
});

test('the settings say that sites have origins of their own, and allow the scripts of a site without trust', {
  tag: '@full',
}, async () => {
  const address = await publish(await makeTarchive(siteFiles('Garden')), peer);
  await visit(`${originOf(address)}/`, 'Garden, running');
  const shell = await openShell('#settings');
  const section = shell.getByRole('region', { name: 'Sites and their scripts' });
  await expect(section).toContainText('at an address of its own, so the gateway does not ask you');
  const restricted = JSON.stringify({ address, decision: 'restricted' });
  expect((await fetchIn(shell, '/-/trust', { method: 'POST', body: restricted })).status).toBe(204);
  await shell.reload();
  await expect(section).toContainText('cannot read the data of other sites');
  await expect(section).not.toContainText('share this gateway’s origin');
  await expect(section.getByRole('listitem')).toContainText('Without scripts');
  await expect(section.getByRole('button')).toHaveCount(1);
  await section.getByRole('button', { name: /^Allow scripts: / }).click();
  await expect(section.getByRole('status')).toContainText('runs its scripts, at an address of its own');
  await expect(section.getByRole('listitem')).toHaveCount(0);
  // Trust would also hold on the gateway's origin.
  expect(JSON.parse((await fetchIn(shell, '/-/trust')).text)).toEqual([]);
  await visit(`${originOf(address)}/`, 'Garden, running');
});

test('the shell shows where to manage a site if the browser partitions its storage', {
  tag: '@full',
}, async () => {
  // Below bare “localhost” each name is a site of its own for the browser.
  const address = await publish(await makeTarchive(siteFiles('Apart')), peer);
  root = `http://localhost:${new URL(host.url).port}`;
  await openShell();
  await visit(`${root}/${address}/`, 'Apart, running');
  const library = await openShell('#library');
  await library.goto(`${originOf(address)}/-/site`);
  // The style sheet comes from the worker.
  await expect(library.locator('body')).toHaveCSS('max-width', '640px');
  await library.getByRole('button', { name: 'Pin' }).click();
  await expect(library.getByText('The site is pinned.')).toBeVisible();
  await expect(library.getByText('The whole site opens without a network.')).toBeVisible();
  await library.getByRole('button', { name: 'Verify' }).click();
  await library.getByRole('button', { name: 'Delete all data of the site' }).click();
  await expect(library.getByText('All data of this site was deleted')).toBeVisible();
});

test('a private site gets an origin of its own, which stores its manifest encrypted', {
  tag: '@full',
}, async () => {
  const manifest = await makePrivateManifest('Private', siteFiles('Private'), peer);
  const shell = await openWorker();
  const id: string = await shell.evaluate(
    async (bytes) =>
      (await (await fetch('/-/manifests', { method: 'POST', body: new Uint8Array(bytes) })).json()).id,
    [...manifest],
  );
  const page = await visit(`${root}/${id}/index.html`, 'Private, running');
  expect(page.url()).toBe(`${originOf(id)}/index.html`);
  const dump = await page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve) => {
      const request = indexedDB.open('antway');
      request.onsuccess = () => resolve(request.result);
    });
    const store = database.transaction('settings').objectStore('settings');
    const [keys, values] = [store.getAllKeys(), store.getAll()];
    await new Promise((resolve) => {
      values.onsuccess = resolve;
    });
    const text = (value: unknown): string =>
      value instanceof ArrayBuffer || ArrayBuffer.isView(value)
        ? new TextDecoder('latin1').decode(value as ArrayBuffer)
        : typeof value === 'object' && value !== null
          ? Object.values(value).map(text).join()
          : String(value);
    return keys.result.join() + values.result.map(text).join();
  });
  expect(dump).toContain(`manifest:${id}`);
  expect(dump).not.toContain('picture.svg');
  await page.reload();
  await expect(page).toHaveTitle('Private, running');
});

test('a profile of path mode moves its pins and trusted sites to their origins, also offline', {
  tag: '@full',
}, async () => {
  test.setTimeout(180_000);
  const [pinned, trusted] = await Promise.all(
    ['Pinned', 'Trusted'].map(async (name) => publish(await makeTarchive(siteFiles(name)), peer)),
  );
  // As every gateway was before.
  writeConfig({ isolation: 'path' });
  const before = await openShell();
  for (const address of [pinned!, trusted!]) {
    const body = JSON.stringify({ address, decision: 'trusted' });
    await before.evaluate(async (body) => fetch('/-/trust', { method: 'POST', body }), body);
    await fetchIn(before, '/-/pins', {
      method: 'POST',
      body: JSON.stringify({ address, action: 'pin' }),
    });
    await expectPin(before, address, { state: 'complete' });
  }
  await visit(`${root}/${trusted}/`, 'Trusted, running');
  writeConfig({});
  // A worker that starts asks the host at once.
  await stopWorkers(before);
  await expect
    .poll(async () => JSON.parse((await fetchIn(before, '/-/config')).text).isolation, { timeout: 90_000 })
    .toBe('auto');
  await shellStored(before);
  await before.close();

  // Offline, before anything was moved.
  await context.setOffline(true);
  for (const [address, title] of [
    [pinned, 'Pinned, running'],
    [trusted, 'Trusted, running'],
  ]) {
    const page = await visit(`${root}/${address}/`, title!);
    expect(page.url()).toBe(`${root}/${address}/`);
    await page.close();
  }
  await context.setOffline(false);

  // Each is opened once more online and has an origin; the shell then moves what is pinned.
  for (const address of [pinned!, trusted!]) {
    await context.newPage().then((page) => page.goto(`${originOf(address)}/`));
  }
  const shell = await openShell();
  const movedPins = async () => {
    const { origins } = JSON.parse((await fetchIn(shell, '/-/origins')).text);
    return origins.map(({ report }: SiteOrigin) => report?.pin?.state);
  };
  await expect.poll(movedPins, { timeout: 60_000 }).toEqual(['complete', 'complete']);
  await shellStored(shell);
  await Promise.all([peer.kill(), host.kill()]);
  const moved = await visit(`${root}/${pinned}/`, 'Pinned, running');
  expect(moved.url()).toBe(`${originOf(pinned!)}/`);
  // The pins of the gateway's origin stay.
  expect(JSON.parse((await fetchIn(shell, '/-/pins')).text).pins).toHaveLength(2);
});
