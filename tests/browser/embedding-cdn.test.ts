import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { Antway as InPage } from '../../src/drop-in/antway.ts';
import { test as base, expect, stopWorkers } from '../support/chromium.ts';
import { dropInFolder } from '../support/embedding-site.ts';
import { fromRoot } from '../support/paths.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import { StaticHost, type StaticHostOptions } from '../support/static-host.ts';

declare const Antway: InPage;

type ServeFiles = (options: Partial<StaticHostOptions>) => Promise<StaticHost>;

const { 'antway.js': integrity } = JSON.parse(readFileSync(join(dropInFolder, 'integrity.json'), 'utf8'));

const test = base.extend<{ peer: PeerProcess; picture: string; serveFiles: ServeFiles }>({
  peer: async ({ startPeer }, use) => use(await startPeer()),
  picture: async ({ peer }, use) =>
    use(await publish(readFileSync(fromRoot('tests/sites/sample/assets/img/crab.png')), peer)),
  serveFiles: async ({ page: _ }, use) => {
    const hosts: StaticHost[] = [];
    await use(async (options) => {
      const host = await StaticHost.start({ folders: [], ...options });
      hosts.push(host);
      return host;
    });
    await Promise.all(hosts.map((host) => host.stop()));
  },
});

/** A host with the drop-in's files that lets pages of all origins read them. */
const startCdn = (serveFiles: ServeFiles, files: StaticHostOptions['files'] = {}) =>
  serveFiles({ folders: [dropInFolder], headers: { 'Access-Control-Allow-Origin': '*' }, files });

const pageWith = (cdn: StaticHost, attributes: string, picture: string) =>
  `<!doctype html><title>Page</title><script src="${cdn.url}/antway.js" integrity="${integrity}" crossorigin ${attributes}></script><img src="ant://${picture}" alt="A crab">`;

const widthOf = (page: Page) => page.locator('img').evaluate((image: HTMLImageElement) => image.naturalWidth);

/** The error that `Antway.ready` rejects with. */
const problemIn = (page: Page) =>
  page.evaluate(() =>
    Antway.ready.then(
      () => null,
      ({ code, message }) => ({ code, message }),
    ),
  );

test('a site whose host has only its pages and a stub shows content with the files of a CDN', async ({
  page,
  peer,
  picture,
  serveFiles,
}) => {
  const cdn = await startCdn(serveFiles);
  const html = pageWith(
    cdn,
    `data-worker="../antway-sw.js?assets=${cdn.url}/" data-peers="${peer.url}"`,
    picture,
  );
  const site = await serveFiles({
    files: { '/blog/post.html': html, '/antway-sw.js': `importScripts('${cdn.url}/antway-sw.js');` },
    headers: {
      'Content-Security-Policy': `default-src 'none'; script-src 'self' ${cdn.url} 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; worker-src 'self'; connect-src 'self' ${cdn.url} http://127.0.0.1:* https://127.0.0.1:*`,
    },
  });
  await page.goto(`${site.url}/blog/post.html`);
  expect(await problemIn(page)).toBeNull();
  await expect.poll(() => widthOf(page)).toBe(720);
  // Only browsers with windows request the icon.
  const requests = new Set(site.requests.filter((path) => path !== '/favicon.ico'));
  expect(requests).toEqual(new Set(['/blog/post.html', '/antway-sw.js']));
  expect(cdn.requests.filter((path) => path.endsWith('.wasm'))).toEqual([
    expect.stringMatching(/^\/antway-brotli-/),
  ]);

  // The browser has stored the imported script, and the worker its files.
  await cdn.stop();
  await stopWorkers(page);
  const fetched = await page.evaluate(async (address) => {
    const response = await Antway.fetch(address);
    return [response.status, (await response.arrayBuffer()).byteLength];
  }, picture);
  expect(fetched).toEqual([200, readFileSync(fromRoot('tests/sites/sample/assets/img/crab.png')).length]);
});

test('a script from a CDN looks for the worker beside the page', { tag: '@full' }, async ({
  page,
  peer,
  picture,
  serveFiles,
}) => {
  const cdn = await startCdn(serveFiles);
  const site = await serveFiles({
    folders: [dropInFolder],
    base: '/repo/',
    files: { '/repo/index.html': pageWith(cdn, `data-peers="${peer.url}"`, picture) },
  });
  await page.goto(`${site.url}/repo/`);
  expect(await problemIn(page)).toBeNull();
  await expect.poll(() => widthOf(page)).toBe(720);
  expect(site.requests).toContain('/repo/antway-sw.js');
});

test('a worker of another origin is an error that names it', { tag: '@full' }, async ({
  page,
  peer,
  picture,
  serveFiles,
}) => {
  const cdn = await startCdn(serveFiles);
  const attributes = `data-worker="${cdn.url}/antway-sw.js" data-peers="${peer.url}"`;
  const site = await serveFiles({ files: { '/index.html': pageWith(cdn, attributes, picture) } });
  await page.goto(site.url);
  expect(await problemIn(page)).toMatchObject({
    code: 'BAD_CONFIG',
    message: expect.stringContaining(`${cdn.url}/antway-sw.js is not on the page's own origin`),
  });
});

test('a worker does not install with a decoder that the CDN has changed', async ({
  page,
  peer,
  picture,
  serveFiles,
}) => {
  const decoder = `/${readdirSync(dropInFolder).find((name) => /brotli.*\.wasm$/.test(name))}`;
  const cdn = await startCdn(serveFiles, {
    [decoder]: (bytes) => Buffer.concat([bytes.subarray(0, -1), Buffer.of(bytes.at(-1)! ^ 1)]),
  });
  const attributes = `data-worker="antway-sw.js?assets=${cdn.url}/" data-peers="${peer.url}"`;
  const stub = `importScripts('${cdn.url}/antway-sw.js');`;
  const site = await serveFiles({
    files: { '/index.html': pageWith(cdn, attributes, picture), '/antway-sw.js': stub },
  });
  await page.goto(site.url);
  expect(await problemIn(page)).toMatchObject({ code: 'WORKER_BROKEN' });
  expect(cdn.requests).toContain(decoder);
});
