import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from '@playwright/test';
import { fetchIn, Gateway, openWithoutScripts, stopWorkers } from '../support/chromium.ts';
import { distFolder } from '../support/paths.ts';
import { PeerProcess } from '../support/peer-process.ts';
import type { Item } from './content.ts';
import type { NetworkPeer } from './network-peer.ts';
import { type Row, seconds } from './rows.ts';

/** Runs `use` with the shell in a new browser profile that reads from `peer`. */
async function withGateway<T>(
  browser: Browser,
  folder: string,
  peer: NetworkPeer,
  use: (gateway: Gateway) => Promise<T>,
): Promise<T> {
  const config = join(folder, 'antway.json');
  await writeFile(config, JSON.stringify({ peers: [peer.url] }));
  const host = await PeerProcess.start({
    flags: ['--web', distFolder, '--web-config', config],
    webTransport: 'none',
  });
  const context = await browser.newContext();
  try {
    return await use(await Gateway.open(host, await context.newPage()));
  } finally {
    await context.close();
    await host.stop();
  }
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
