import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from '@playwright/test';
import { nodeLimits } from '../../src/nodes/node-limits.ts';
import { fetchIn, Gateway, openShellIn } from '../support/chromium.ts';
import type { DrivenPage, GatewayClient } from '../support/gateway-client.ts';
import { distFolder } from '../support/paths.ts';
import { PeerProcess } from '../support/peer-process.ts';
import type { ShellPage } from '../support/shell-stored.ts';
import { untilViewed } from '../support/viewer.ts';
import type { Item } from './content.ts';
import type { Devnet, Prepared } from './devnet.ts';
import { type Row, seconds } from './rows.ts';

export type Timed = Omit<Row, 'step'>;

/** A gateway in any browser. */
type AnyGateway = GatewayClient<DrivenPage & ShellPage>;

/** The longest time until another page has the connections, in milliseconds. */
const mostTakeOverMs = 2_000;
/** The longest time until the first page has connected to nodes, or another one has taken over, in milliseconds. */
const mostConnectMs = 60_000;

/**
 * The app reads from the nodes, without a peer: every file of each item, a range, the pointer, and an absent address.
 * Then the page with the connections is closed, and another page takes over.
 * @param way how the rows name the nodes.
 */
export async function readInApp(
  browser: Browser,
  folder: string,
  network: Devnet,
  items: readonly Item[],
  pointer: Prepared['pointer'],
  way = 'node',
): Promise<Row[]> {
  const host = await startHostWithoutPeers(folder, network);
  const context = await browser.newContext();
  const ofSites = await browser.newContext();
  try {
    const gateway = await Gateway.open(host, await context.newPage());
    const [small, photos, , site] = items as [Item, Item, Item, Item];
    await refusesWithoutConsent(gateway, small);
    await allowNodes(gateway.shell);
    const rows = await readAll(gateway, items, pointer);
    // A lookup in a small network asks all nodes.
    const connected = network.nodes.length <= nodeLimits.bucket ? network.nodes.length : '\\d+';
    await gateway.shell.locator('.status', { hasText: new RegExp(`Direct, ${connected} nodes`) }).waitFor();
    rows.push(...(await takeOver(context, gateway, photos)));
    rows.push(await openInViewer(context, host.url, site));
    rows.push(await openOnOwnOrigin(ofSites, host.url, site));
    return rows.map((row) => ({ step: `${way} → app, without a peer`, ...row }));
  } finally {
    await Promise.all([context.close(), ofSites.close()]);
    await host.stop();
  }
}

/** A host of the app whose configuration has no peer, and two of the nodes. */
export async function startHostWithoutPeers(folder: string, network: Devnet): Promise<PeerProcess> {
  const config = join(folder, 'antway-nodes.json');
  const nodes = network.nodes.slice(0, 2).map(({ browserAddress }) => browserAddress);
  await writeFile(config, JSON.stringify({ peers: [], nodes }));
  const flags = ['--web', distFolder, '--web-config', config];
  return PeerProcess.start({ flags, webTransport: 'none' });
}

/** Every file of each item, a range of each, the pointer, and an absent address. */
export async function readAll(
  gateway: AnyGateway,
  items: readonly Item[],
  pointer: Prepared['pointer'],
): Promise<Timed[]> {
  return [
    ...(await readItems(gateway, items)),
    await readPointer(gateway, pointer, items[3]!),
    await readAbsent(gateway),
  ];
}

/** The user has not allowed connections to nodes yet. */
export async function refusesWithoutConsent({ shell }: AnyGateway, { address }: Item): Promise<void> {
  const { status } = await fetchIn(shell, `/${address}`);
  assert.equal(status, 504, 'without the setting, no node is asked');
}

async function allowNodes(shell: Page): Promise<void> {
  await shell.getByRole('link', { name: 'Settings' }).first().click();
  await shell.getByLabel('Connect to nodes of the network without a peer').check();
  await shell.locator('.status', { hasText: 'Direct' }).waitFor({ timeout: 20_000 });
}

async function readItems(gateway: AnyGateway, items: readonly Item[]): Promise<Timed[]> {
  const rows: Timed[] = [];
  for (const { name, address, paths } of items) {
    const [first] = paths;
    const startedMs = performance.now();
    const range = await fetchIn(gateway.shell, `/${address}${first!.path}`, {
      headers: { Range: 'bytes=100-199' },
    });
    assert.deepEqual([range.status, range.size], [206, 100], range.text);
    const rangeSeconds = seconds(startedMs);
    let bytes = 0;
    for (const { path, size, sha256 } of paths) {
      const answer = await fetchIn(gateway.shell, `/${address}${path}`);
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual({ size: answer.size, sha256: answer.sha256 }, { size, sha256 }, name + path);
      bytes += size;
    }
    rows.push(
      { item: `${name}: a range`, seconds: rangeSeconds },
      { item: name, bytes, seconds: seconds(startedMs) },
    );
  }
  const { chunks, peers } = await gateway.stats();
  assert.ok(chunks.nodes.count > 0, 'nodes gave the chunks');
  assert.deepEqual(peers, []);
  return rows;
}

async function readPointer(
  gateway: AnyGateway,
  { address }: Prepared['pointer'],
  site: Item,
): Promise<Timed> {
  const [page] = site.paths;
  const startedMs = performance.now();
  const answer = await fetchIn(gateway.shell, `/${address}${page!.path}`);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.sha256, page!.sha256, 'the page of the site that the pointer leads to');
  return { item: 'the pointer', seconds: seconds(startedMs) };
}

async function readAbsent(gateway: AnyGateway): Promise<Timed> {
  const address = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex');
  const startedMs = performance.now();
  const { status, text } = await fetchIn(gateway.shell, `/${address}`);
  assert.equal(status, 404, text);
  return { item: 'an absent address: 404', seconds: seconds(startedMs) };
}

/** Closes the page with the connections, and another page reads. */
async function takeOver(context: BrowserContext, gateway: Gateway, item: Item): Promise<Timed[]> {
  const other = await openShellIn(context, gateway.url);
  await forgetChunks(other);
  await untilConnectable(other);
  const { path, size, sha256 } = item.paths[0]!;
  const startedMs = performance.now();
  const reading = fetchIn(other, `/${item.address}${path}`);
  await gateway.shell.close();
  const closedMs = performance.now();
  await untilConnectable(other);
  const takeOverMs = performance.now() - closedMs;
  assert.ok(takeOverMs <= mostTakeOverMs, `another page took over after ${Math.round(takeOverMs)} ms`);
  const answer = await reading;
  assert.deepEqual({ size: answer.size, sha256: answer.sha256 }, { size, sha256 }, answer.text);
  return [
    { item: 'another page takes over the connections', seconds: takeOverMs / 1000 },
    { item: `${item.name}, whose page with the connections is closed`, seconds: seconds(startedMs) },
  ];
}

/** Opens a site that has an origin of its own, whose worker reads through a tab with the app. */
async function openOnOwnOrigin(context: BrowserContext, url: string, site: Item): Promise<Timed> {
  const root = `http://antway.localhost:${new URL(url).port}`;
  const first = await openShellIn(context, `${root}/`);
  await forgetChunks(first);
  await untilConnectable(first);
  // The first page keeps the connections, and the second one shows the site.
  const page = await openShellIn(context, `${root}/`);
  const startedMs = performance.now();
  await page.goto(`${root}/#view=${site.address}/`);
  const content = await untilViewed(page, `/${site.address}/`);
  await content.getByRole('heading', { name: 'Pictures' }).waitFor({ timeout: 60_000 });
  const frame = page
    .frames()
    .find((each) => new URL(each.url()).host.endsWith(`.antway.localhost:${new URL(url).port}`));
  assert.ok(frame, 'the site has an origin of its own');
  await readSite(frame, site);
  return { item: 'the site on an origin of its own', seconds: seconds(startedMs) };
}

/** Every file of a site, from one of its pages. */
export async function readSite(page: DrivenPage, site: Item): Promise<void> {
  for (const { path, size, sha256 } of site.paths) {
    const answer = await fetchIn(page, path);
    assert.deepEqual({ size: answer.size, sha256: answer.sha256 }, { size, sha256 }, answer.text);
  }
}

/** Opens a URL in the only tab: a page of the app has to connect to the nodes, so it shows the content. */
async function openInViewer(context: BrowserContext, url: string, site: Item): Promise<Timed> {
  const [former] = context.pages();
  await forgetChunks(former!);
  const page = await context.newPage();
  await former!.close();
  const startedMs = performance.now();
  await page.goto(`${url}/${site.address}/`, { waitUntil: 'commit' });
  const content = await untilViewed(page, `/${site.address}/`);
  await content.getByRole('heading', { name: 'Pictures' }).waitFor({ timeout: 60_000 });
  return { item: 'the site in a tab, without another page of the app', seconds: seconds(startedMs) };
}

/** Deletes all chunks, and the settings with them. */
async function forgetChunks(shell: Page): Promise<void> {
  const send = async (path: string, method: string, body: object) =>
    assert.ok((await fetchIn(shell, path, { method, body: JSON.stringify(body) })).status < 300, path);
  await send('/-/reset', 'POST', { chunks: true });
  await send('/-/settings', 'PUT', { useNodes: true });
}

/** Waits until a page has the connections for the worker. */
async function untilConnectable(shell: Page): Promise<void> {
  const endMs = performance.now() + mostConnectMs;
  while (performance.now() < endMs) {
    const { text } = await fetchIn(shell, '/-/peers');
    if ((JSON.parse(text) as { nodes: unknown }).nodes) return;
  }
  assert.fail(`no page connected to the nodes within ${mostConnectMs} ms`);
}
