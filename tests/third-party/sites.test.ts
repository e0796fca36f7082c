import { readFileSync, writeFileSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from '@playwright/test';
import { Address } from '../../src/address.ts';
import { expect, test } from '../support/chromium.ts';
import { fromRoot } from '../support/paths.ts';
import { publishFiles } from './publish.ts';
import { serveFiles } from './serve-files.ts';
import { filesOf, type Host, type Site, sites } from './sites.ts';
import { documentWithTable } from './table.ts';

const documentPath = fromRoot('docs/reference/third-party-sites.md');

/** `npm run test:third-party` tests all of them. */
const tested = sites.filter(
  ({ isAlwaysTested }) => isAlwaysTested || process.env.ANTWAY_THIRD_PARTY === 'all',
);

for (const site of tested) {
  test(`${site.name} behaves as on a static host`, { tag: '@full' }, async ({
    browser,
    startPeer,
    startHost,
  }) => {
    test.setTimeout(240_000);
    const files = filesOf(site);
    const server = await serveFiles(files);
    const expected = await tryOut(browser, site, { origin: server.url, hasOwnWorkers: true });
    const workers = () =>
      expected.page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length);
    const hasWorker = site.withoutWorker !== undefined && !site.isWorkerIncomplete;
    await expect.poll(workers, 'workers on the static host').toBe(hasWorker ? 1 : 0);
    await server.stop();
    await expected.context.close();

    const peer = await startPeer();
    const address = await publishFiles(files, peer);
    const host = await startHost({ peers: [peer.url], isolation: 'subdomain' });
    const { port } = new URL(host.url);
    const origin = `http://${Address.fromHex(address).base32}.antway.localhost:${port}`;
    const antway = { origin, hasOwnWorkers: false };
    const { page, context, problems, warnings } = await tryOut(browser, site, antway);
    const isExpected = (problem: string) =>
      expected.problems.includes(problem) || site.problemsWithoutWorker?.some((known) => known.test(problem));
    expect(problems.filter((problem) => !isExpected(problem))).toEqual([]);
    const refusals = warnings.filter((text) => text.startsWith('Antway: this site'));
    expect(refusals.length > 0, 'the console tells of a refused worker').toBe(
      site.withoutWorker !== undefined,
    );

    // The opened site stays there without the peer and without a network.
    await peer.kill();
    await context.setOffline(true);
    await page.goto(`${origin}/${site.path}`);
    await site.check(page, antway);
    await context.close();
  });
}

test('the table of docs/reference/third-party-sites.md lists these sites', () => {
  const text = readFileSync(documentPath, 'utf8');
  const current = documentWithTable(text, sites);
  if (process.env.UPDATE_DOCS) writeFileSync(documentPath, current);
  else expect(text, 'Run the tests with UPDATE_DOCS=1.').toBe(current);
});

interface Outcome {
  context: BrowserContext;
  page: Page;
  /** Errors of the console and uncaught exceptions, without the origin. */
  problems: string[];
  warnings: string[];
}

/** Opens a site in a fresh profile, checks it, and checks it again after a reload. */
async function tryOut(browser: Browser, site: Site, host: Host): Promise<Outcome> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const problems: string[] = [];
  const warnings: string[] = [];
  page.on('console', (message) => {
    const url = message.location().url.replace(host.origin, '');
    // HTTP/1.1 gives a reason beside the status, a worker does not.
    const text = message
      .text()
      .replaceAll(host.origin, '')
      .replace(/ \([^)]*\)$/, '');
    if (message.type() === 'warning') warnings.push(text);
    if (message.type() === 'error') problems.push(`${text} ${url}`);
  });
  page.on('pageerror', (error) => problems.push(String(error).replaceAll(host.origin, '')));
  await page.goto(`${host.origin}/${site.path}`);
  await site.check(page, host);
  await page.reload();
  await site.check(page, host);
  return { context, page, problems, warnings };
}
