import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContext } from '@playwright/test';
import { fetchIn, Gateway, openWithoutScripts, stopWorkers } from '../support/chromium.ts';
import { distFolder } from '../support/paths.ts';
import { PeerProcess } from '../support/peer-process.ts';
import type { Item } from './content.ts';
import type { NetworkPeer } from './network-peer.ts';
import { type Row, seconds } from './rows.ts';

/** Runs `use` with a new browser profile, and a host whose gateway reads from `peer`. */
async function withHost<T>(
  browser: Browser,
  folder: string,
  peer: NetworkPeer,
  use: (host: PeerProcess, context: BrowserContext) => Promise<T>,
): Promise<T> {
  const config = join(folder, 'antway.json');
  await writeFile(config, JSON.stringify({ peers: [peer.url] }));
  const host = await PeerProcess.start({
    flags: ['--web', distFolder, '--web-config', config],
    webTransport: 'none',
  });
  const context = await browser.newContext();
  try {
    return await use(host, context);
  } finally {
    await context.close();
    await host.stop();
  }
}

/** Runs `use` with the shell in a new browser profile that reads from `peer`. */
function withGateway<T>(
  browser: Browser,
  folder: string,
  peer: NetworkPeer,
  use: (gateway: Gateway) => Promise<T>,
): Promise<T> {
  return withHost(browser, folder, peer, async (host, context) =>
    use(await Gateway.open(host, await context.newPage())),
  );
}

/** The first page of the site and everything on it, in a tab. */
export function openSite(browser: Browser, folder: string, peer: NetworkPeer, site: Item): Promise<Row[]> {
  return withGateway(browser, folder, peer, async (gateway) => {
    const page = await gateway.shell.context().newPage();
    const startedMs = performance.now();
    await page.goto(`${gateway.url}/${site.address}/`, { waitUntil: 'commit' });
    await openWithoutScripts(page);
    await page.getByRole('heading', { name: 'Pictures' }).waitFor({ timeout: 120_000 });
    const heading = seconds(startedMs);
    await page.waitForLoadState('load');
    const step = 'node → peer → browser, cold';
    const bytes = site.paths.reduce((sum, { size }) => sum + size, 0);
    return [
      { step, item: 'the first page of the site: heading', seconds: heading },
      {
        step,
        item: `the first page of the site: ${site.paths.length} files`,
        bytes,
        seconds: seconds(startedMs),
      },
    ];
  });
}

/** The longest time until a user sees the page, or what the gateway waits for, in seconds. */
export const firstSightSeconds = 2;
/** How the rows of {@link firstSight} begin. */
export const firstSightItem = 'a user sees';

const hasAddress = 'the page has the address';

/** Runs in the page: writes `message` to its console once the page has `text`. */
function tellWhenThere({ text, message }: { text: string; message: string }): void {
  const timer = setInterval(() => {
    if (!document.body?.textContent.includes(text)) return;
    clearInterval(timer);
    console.log(message);
  }, 20);
}

/**
 * The time until the page of a site, or what the gateway waits for, is visible in a browser that was never at the
 * gateway. The page has to follow.
 */
export function firstSight(
  browser: Browser,
  folder: string,
  peer: NetworkPeer,
  site: Item,
  step: string,
): Promise<Row> {
  return withHost(browser, folder, peer, async (host, context) => {
    const page = await context.newPage();
    const content = page.getByRole('heading', { name: 'Pictures' });
    // The shell says what it opens until its worker is active. The worker then says what peers look for. Playwright looks at
    // no page that is about to be replaced, so the page itself tells when it has the address.
    const opens = new Promise((resolve) => {
      page.on('console', (message) => message.text() === hasAddress && resolve(undefined));
    });
    await page.addInitScript(tellWhenThere, { text: site.address, message: hasAddress });
    const waits = page.getByRole('heading', { name: 'Looking for this content' });
    const question = page.getByRole('button', { name: 'Open without scripts' });
    const startedMs = performance.now();
    await page.goto(`${host.url}/${site.address}/`, { waitUntil: 'commit' });
    await Promise.race([opens, content.or(waits).or(question).first().waitFor({ timeout: 60_000 })]);
    const seen = seconds(startedMs);
    const what = (await content.isVisible()) ? 'the page' : 'what it waits for';
    if (!(await content.isVisible())) await question.or(content).first().waitFor({ timeout: 120_000 });
    await openWithoutScripts(page);
    await content.waitFor({ timeout: 120_000 });
    return { step, item: `${firstSightItem} ${what}`, seconds: seen };
  });
}

/** Everything in a new browser profile: first from the peer, then from the browser's own store. */
export function readInBrowser(
  browser: Browser,
  folder: string,
  peer: NetworkPeer,
  items: readonly Item[],
  cold: string,
): Promise<Row[]> {
  return withGateway(browser, folder, peer, async (gateway) => {
    const page = gateway.shell;
    const rows: Row[] = [];
    const readAll = async (step: string) => {
      for (const { name, address, paths } of items) {
        const startedMs = performance.now();
        let bytes = 0;
        for (const { path, size, sha256 } of paths) {
          const answer = await fetchIn(page, `/${address}${path}`, { cache: 'no-store' });
          assert.equal(answer.status, 200, answer.text);
          assert.deepEqual({ size: answer.size, sha256: answer.sha256 }, { size, sha256 }, name + path);
          bytes += size;
        }
        const files = paths.length > 1 ? `, ${paths.length} files` : '';
        rows.push({ step, item: name + files, bytes, seconds: seconds(startedMs) });
      }
    };
    await readAll(cold);
    const [used] = await gateway.peers();
    assert.equal(used?.state, 'webtransport', 'the browser reaches the peer by WebTransport');

    await gateway.settled();
    await stopWorkers(page);
    const given = await peer.process.chunksGiven();
    await readAll('browser, warm');
    assert.equal(await peer.process.chunksGiven(), given, 'the browser does not request what it has stored');
    return rows;
  });
}
