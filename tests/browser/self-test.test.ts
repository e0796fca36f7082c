import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { checkIds, type Report } from '../../src/site-pages/self-test/report.ts';
import { expect, fetchIn, test } from '../support/chromium.ts';
import { checksOf, reportText, withSample } from '../support/self-test.ts';

/** Opens the page that tests the browser, and waits for its report. */
async function openSelfTest(page: Page, origin: string): Promise<Report> {
  await page.goto(`${origin}/-/self-test`);
  return reportOf(page);
}

async function reportOf(page: Page): Promise<Report> {
  await expect.poll(() => page.evaluate(reportText), { timeout: 45_000 }).toBeTruthy();
  return JSON.parse((await page.evaluate(reportText))!);
}

test('a first visit to the page that tests the browser finds that everything works', {
  tag: '@smoke',
}, async ({ page, startPeer, startHost }) => {
  const peer = await startPeer();
  const config = await withSample(peer);
  const host = await startHost(config);
  const report = await openSelfTest(page, host.url);
  expect(report).toMatchObject({ format: 'antway-self-test', formatVersion: 1 });
  expect(report.results.map(({ id }) => id)).toEqual(checkIds);
  // WebRTC needs a network interface besides loopback.
  const failed = report.results.filter(({ id, state }) => state !== 'passed' && id !== 'webRtc');
  expect(failed).toEqual([]);
  const factsOf = Object.fromEntries(report.results.map(({ id, facts }) => [id, facts]));
  expect(factsOf).toMatchObject({
    serviceWorker: { wasInstalled: false },
    storage: { quotaBytes: expect.any(Number) },
    http: { peerVersion: expect.any(String) },
    // The film. The listing has fetched the chunks of this small site.
    content: { bytes: 322_402, listChunks: expect.stringMatching(/peer [1-9]/), chunks: expect.any(String) },
  });
  expect(await peer.chunksGiven('webtransport')).toBeGreaterThan(0);
  expect(report.browser.userAgent).toContain('Chrome');
  expect(Object.values(report.features)).toContain(true);

  // The report is safe to publish.
  const text = await page.evaluate(reportText);
  expect(text).not.toContain((config.sample as { address: string }).address);
  expect(text).not.toContain('127.0.0.1');
  // The page leaves nothing but what the worker stores.
  expect((await fetchIn(page, '/-/sites')).status).toBe(403);
  const databases = await page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));
  expect(databases).not.toContain('antway-self-test');
  const shell = await page.context().newPage();
  await shell.goto(host.url);
  expect(JSON.parse((await fetchIn(shell, '/-/sites')).text).sites).toEqual([]);
});

test('the report can be saved and copied, and the test repeated', { tag: '@full' }, async ({
  page,
  context,
  startPeer,
  startHost,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const peer = await startPeer();
  const host = await startHost({ peers: [peer.url] });
  const report = await openSelfTest(page, host.url);
  expect(checksOf(report, 'skipped')).toEqual(['content']);

  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save the report' }).click();
  expect((await saved).suggestedFilename()).toBe('antway-self-test.json');
  expect(JSON.parse(readFileSync(await (await saved).path(), 'utf8'))).toEqual(report);
  await page.getByRole('button', { name: 'Copy the report' }).click();
  await expect(page.getByText('The report was copied.')).toBeVisible();
  expect(JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))).toEqual(report);

  await page.getByRole('button', { name: 'Test again' }).click();
  await expect.poll(async () => (await reportOf(page)).time).not.toBe(report.time);
  expect((await reportOf(page)).results[0]!.facts).toEqual({ wasInstalled: true });
});

test('a peer that does not answer is a failure with a code, and no fault of the browser', {
  tag: '@full',
}, async ({ page, startPeer, startHost }) => {
  const peer = await startPeer();
  const host = await startHost(await withSample(peer));
  await peer.kill();
  const report = await openSelfTest(page, host.url);
  expect(checksOf(report, 'failed')).toEqual(expect.arrayContaining(['http', 'webTransport', 'content']));
  expect(report.results.find(({ id }) => id === 'content')!.problem).toMatchObject({
    code: 'PEERS_UNREACHABLE',
  });
  expect(JSON.stringify(report)).not.toContain(new URL(peer.url).host);
  await expect(page.getByRole('status').first()).toContainText(
    'This browser can run the gateway. Some things do not work here: Peer by HTTP',
  );
});

test('a browser without WebTransport and WebRTC lacks these alone', { tag: '@full' }, async ({
  page,
  startPeer,
  startHost,
}) => {
  await page.addInitScript(() => {
    for (const name of ['WebTransport', 'RTCPeerConnection']) Reflect.deleteProperty(globalThis, name);
  });
  const host = await startHost(await withSample(await startPeer()));
  const report = await openSelfTest(page, host.url);
  expect(checksOf(report, 'missing')).toEqual(['webTransport', 'webRtc']);
  expect(checksOf(report, 'failed')).toEqual([]);
});

test('without service workers the verdict is that the gateway does not run', { tag: '@full' }, async ({
  browser,
  startHost,
}) => {
  const host = await startHost({ peers: ['/'] });
  const context = await browser.newContext({ locale: 'de-DE' });
  const page = await context.newPage();
  await page.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, 'serviceWorker'));
  const report = await openSelfTest(page, host.url);
  expect(report.results[0]).toMatchObject({
    state: 'failed',
    needed: true,
    problem: { code: 'WORKERS_UNAVAILABLE' },
  });
  expect(report.results.at(-1)).toMatchObject({ state: 'skipped', problem: { code: 'NO_WORKER' } });
  await expect(page.getByRole('status').first()).toHaveText(
    'Das Gateway läuft in diesem Browser nicht: Service Worker.',
  );
  await context.close();
});
