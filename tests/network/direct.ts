import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Browser, Page } from '@playwright/test';
import { build } from 'vite';
import { fromRoot } from '../support/paths.ts';
import { StaticHost } from '../support/static-host.ts';
import type { Item } from './content.ts';
import type { Devnet, Prepared } from './devnet.ts';
import type { DirectPage } from './direct-page/direct-page.ts';
import type { Row } from './rows.ts';

declare global {
  var directPage: DirectPage;
}

/**
 * A page reads from the nodes by WebRTC Direct, without a peer: every chunk of each item, the pointer, and an absent
 * address. Then it reads `film` again with new connections, while two of the nodes are killed.
 * @param step how the rows name the way of the bytes.
 * @returns a row for the first byte and the last byte of each item.
 */
export async function readFromNodes(
  browser: Browser,
  folder: string,
  network: Devnet,
  items: readonly Item[],
  pointer: Prepared['pointer'],
  film: Item,
  step = 'node → browser',
): Promise<Row[]> {
  const host = await DirectHost.start(browser, folder);
  try {
    const rows = await host.withPage(network, async (page) => {
      const read = [
        ...(await readItems(page, items, step)),
        ...(await readPointer(page, pointer, step)),
        ...(await readAbsent(page, step)),
      ];
      const lies = await page.evaluate(() => directPage.lies());
      assert.equal(lies > 0, network.hasLiars, `${lies} chunks had wrong bytes`);
      return read;
    });
    rows.push(...(await host.withPage(network, (page) => readFromDyingNodes(page, network, film, step))));
    return rows;
  } finally {
    await host.stop();
  }
}

/** A host of the page that reads. */
export class DirectHost {
  private constructor(
    private readonly browser: Browser,
    private readonly host: StaticHost,
  ) {}

  static async start(browser: Browser, folder: string): Promise<DirectHost> {
    const web = join(folder, 'direct-page');
    await build({
      configFile: false,
      root: fromRoot('tests/network/direct-page'),
      logLevel: 'error',
      build: { outDir: web, target: 'es2022', modulePreload: false },
    });
    return new DirectHost(browser, await StaticHost.start({ folders: [web] }));
  }

  /** Opens a page without remembered nodes and connections. */
  async withPage<T>(network: Devnet, use: (page: Page) => Promise<T>): Promise<T> {
    const context = await this.browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(this.host.url);
      await page.waitForFunction(() => 'directPage' in globalThis);
      const seeds = network.nodes.slice(0, 2).map(({ browserAddress }) => browserAddress);
      await page.evaluate((seeds) => directPage.open(seeds), seeds);
      return await use(page);
    } finally {
      await context.close();
    }
  }

  stop(): Promise<void> {
    return this.host.stop();
  }
}

const chunksOf = (item: Item) => [...item.chunks.keys()];
const bytesOf = (item: Item) => [...item.chunks.values()].reduce((sum, { length }) => sum + length, 0);

async function readItems(page: Page, items: readonly Item[], step: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const item of items) rows.push(...(await readItem(page, item, step)));
  return rows;
}

async function readItem(page: Page, item: Item, step: string): Promise<Row[]> {
  const read = await page.evaluate((chunks) => directPage.readChunks(chunks), chunksOf(item));
  assert.equal(read.bytes, bytesOf(item), `the chunks of ${item.name} have every byte`);
  return [
    { step, item: `${item.name}: first byte`, seconds: read.firstByteMs / 1000 },
    {
      step,
      item: `${item.name}, ${item.chunks.size} chunks`,
      bytes: read.bytes,
      seconds: read.milliseconds / 1000,
    },
  ];
}

/** The nodes hold two states of the pointer. Only the newest one is right. */
async function readPointer(
  page: Page,
  { address, record }: Prepared['pointer'],
  step: string,
): Promise<Row[]> {
  const startedMs = performance.now();
  const newest = await page.evaluate((address) => directPage.pointer(address), address);
  assert.equal(newest, record, 'the newest record of the pointer');
  return [{ step, item: 'the pointer', seconds: (performance.now() - startedMs) / 1000 }];
}

async function readAbsent(page: Page, step: string): Promise<Row[]> {
  const address = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex');
  const startedMs = performance.now();
  const code = await page.evaluate((address) => directPage.absent(address), address);
  assert.equal(code, 'NOT_FOUND');
  return [{ step, item: 'an absent address: 404', seconds: (performance.now() - startedMs) / 1000 }];
}

/** Two of the nodes are killed, one of them a seed, when a quarter of the chunks has arrived. */
async function readFromDyingNodes(page: Page, network: Devnet, item: Item, step: string): Promise<Row[]> {
  const dying = [network.nodes[0]!, network.nodes[3]!];
  const reading = readItem(
    page,
    item,
    `${step}, ${dying.length} of ${network.nodes.length} nodes killed meanwhile`,
  );
  await page.waitForFunction((quarter) => directPage.read() >= quarter, Math.floor(item.chunks.size / 4));
  assert.ok((await page.evaluate(() => directPage.read())) < item.chunks.size, 'the read is not over');
  await Promise.all(dying.map((node) => node.kill()));
  return reading;
}
