import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { limits } from '../../src/limits.ts';
import type { StatsSnapshot } from '../../src/stats/stats.ts';
import { expect, fetchIn, openShellIn, test } from '../support/chromium.ts';
import { NodePeerProcess } from '../support/node-peer-process.ts';
import { distFolder, fromRoot } from '../support/paths.ts';
import { type ChunkSink, publish, RepeatingFile } from '../support/publish.ts';
import { anttpFixture, memberHashes } from '../support/tar.ts';

const fileBytes = 48 * limits.plaintextChunkBytes;

/** Starts a peer in Node that serves the gateway and takes chunks. */
async function startNodePeer(folder: string): Promise<NodePeerProcess & ChunkSink> {
  const config = join(folder, 'antway.json');
  writeFileSync(config, JSON.stringify({ peers: ['/'] }));
  const flags = ['--allow-open-writes', '--web', distFolder, '--web-config', config];
  const peer = await NodePeerProcess.start(join(folder, 'store'), ...flags);
  return Object.assign(peer, {
    async put(address: string, bytes: Uint8Array) {
      const body = bytes as Uint8Array<ArrayBuffer>;
      const { status } = await fetch(`${peer.url}/chunk/${address}`, { method: 'PUT', body });
      expect([200, 201]).toContain(status);
    },
  });
}

async function statsOfPeer(page: Page): Promise<StatsSnapshot['peers'][0] | undefined> {
  const { text } = await fetchIn(page, '/-/stats');
  return (JSON.parse(text) as StatsSnapshot).peers[0];
}

test('a peer in Node serves the gateway and every byte of a site', async ({ context, folder }) => {
  const peer = await startNodePeer(folder);
  try {
    const { address, tar } = anttpFixture('tarchive_site');
    const chunks = fromRoot('tests/fixtures/anttp/tarchive_site/chunks');
    for (const name of readdirSync(chunks)) await peer.put(name, readFileSync(join(chunks, name)));
    await peer.put(address, readFileSync(fromRoot('tests/fixtures/anttp/tarchive_site/datamap.msgpack')));
    const page = await openShellIn(context, peer.url);
    for (const [path, hash] of Object.entries(await memberHashes(tar))) {
      expect((await fetchIn(page, `/${address}/${path}`)).sha256, path).toBe(hash);
    }
    expect((await statsOfPeer(page))?.webtransport.chunks).toBe(0);
  } finally {
    await peer.stop();
  }
});

test('the peer in Rust takes over during a download, and every byte is right', { tag: '@full' }, async ({
  context,
  folder,
  startPeer,
}) => {
  const peer = await startNodePeer(folder);
  try {
    const file = new RepeatingFile(fileBytes);
    const address = await publish(file, peer);
    const page = await openShellIn(context, peer.url);
    // The page reads slowly, so that the download is still running when WebTransport is there.
    const download = page.evaluate(async (url) => {
      const reader = (await fetch(url)).body!.getReader();
      const progress = Object.assign(window, { received: 0 });
      let hash = 0;
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return { hash, length: progress.received };
        for (const byte of value) hash = (Math.imul(hash, 31) + byte) | 0;
        progress.received += value.length;
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    }, `/${address}`);
    const received = () => page.evaluate(() => (window as { received?: number }).received ?? 0);
    await expect.poll(received).toBeGreaterThan(limits.plaintextChunkBytes);
    expect((await statsOfPeer(page))?.webtransport.chunks).toBe(0);

    const successor = await startPeer({
      store: join(folder, 'store'),
      webTransport: `127.0.0.1:${new URL(peer.url).port}`,
    });
    peer.forwardTo(successor.url);
    await expect
      .poll(async () => (await statsOfPeer(page))?.webtransport.chunks, { timeout: 80_000 })
      .toBeGreaterThan(0);
    expect(await received()).toBeLessThan(fileBytes);
    expect(await download).toEqual({ hash: await hashOf(file), length: fileBytes });
  } finally {
    await peer.stop();
  }
});

/** The hash that the page computes. */
async function hashOf(file: RepeatingFile): Promise<number> {
  let hash = 0;
  for (let start = 0; start < file.size; start += limits.plaintextChunkBytes) {
    for (const byte of await file.read(start, Math.min(file.size, start + limits.plaintextChunkBytes))) {
      hash = (Math.imul(hash, 31) + byte) | 0;
    }
  }
  return hash;
}
