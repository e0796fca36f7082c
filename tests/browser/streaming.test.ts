import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from '@playwright/test';
import { limits } from '../../src/limits.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { expect, type Gateway, test } from '../support/chromium.ts';
import { fromRoot, hostilePeer } from '../support/paths.ts';
import { PeerProcess } from '../support/peer-process.ts';
import { noise, publish, RepeatingFile } from '../support/publish.ts';
import { sha256 } from '../support/tar.ts';

const part = limits.plaintextChunkBytes;

// The file of 1 GiB takes both cores: beside it the tests before would wait for their turn.
test.describe.configure({ mode: 'default' });

test('fifty requests at once for one cold chunk fetch it once', { tag: '@smoke' }, async ({
  startPeer,
  openWorker,
}) => {
  const peer = await startPeer();
  const record = noise(9, 100_000);
  const address = await publishRecord(record, peer);
  const gateway = await openWorker({ peers: [peer.url] });
  const sizes = await gateway.shell.evaluate(async (url) => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => fetch(url)));
    return Promise.all(answers.map(async (answer) => (await answer.arrayBuffer()).byteLength));
  }, `/${address}`);
  expect(sizes).toEqual(Array(50).fill(record.length));
  expect(await peer.chunksGiven()).toBe(1);
});

test('fifty requests at once for one cold file fetch each of its chunks once', { tag: '@full' }, async ({
  startPeer,
  openWorker,
}) => {
  const peer = await startPeer();
  const address = await publish(noise(8, 300_000), peer);
  const gateway = await openWorker({ peers: [peer.url] });
  const sizes = await gateway.shell.evaluate(async (url) => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => fetch(url)));
    return Promise.all(answers.map(async (answer) => (await answer.arrayBuffer()).byteLength));
  }, `/${address}`);
  expect(sizes).toEqual(Array(50).fill(300_000));
  expect(await peer.chunksGiven()).toBe(4); // the record and three chunks
});

test('aborting a download cancels the chunks that are under way at the peer', { tag: '@full' }, async ({
  startPeer,
  openWorker,
}) => {
  // The record, the nested map's three chunks, and the first three of the file; then so slow that a chunk takes
  // a minute.
  const honest = 7;
  const flags = ['--fault', 'slow', '--honest-first', String(honest)];
  const slow = await startPeer({ binary: hostilePeer, flags });
  const address = await publish(new RepeatingFile(8 * part), slow);
  const gateway = await openWorker({ peers: [slow.url] });
  await gateway.shell.evaluate(async (url) => {
    const reader = (await fetch(url)).body!.getReader();
    await reader.read();
    Object.assign(globalThis, { reader });
  }, `/${address}`);
  // A stream that is open some time after the honest answers is a slow one.
  await expect.poll(() => slow.chunksGiven()).toBeGreaterThanOrEqual(honest);
  await expect
    .poll(async () => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      return slow.metric('streams');
    })
    .toBeGreaterThan(0);
  await gateway.shell.evaluate(() =>
    (globalThis as unknown as { reader: ReadableStreamDefaultReader }).reader.cancel(),
  );
  await expect.poll(() => slow.metric('streams'), { timeout: 5_000, intervals: [100] }).toBe(0);
  // If the prefetch was late, it is the only request under way: the reader waits for its chunks.
  expect(
    await slow.metric('requests_total', { transport: 'webtransport', outcome: 'cancelled' }),
  ).toBeGreaterThan(0);
});

test('aborting a download also cancels prefetched chunks', { tag: '@full' }, async ({
  startPeer,
  openWorker,
  browser,
}) => {
  test.setTimeout(180_000);
  // The request that opens the session, then the record and the first of three chunks that are asked for with it.
  const warm = 4;
  const begin = async () => {
    const slow = await startPeer({
      binary: hostilePeer,
      flags: ['--fault', 'slow', '--honest-first', String(warm + 2)],
    });
    const first = await publish(noise(4, 1_000), slow);
    const address = await publish(noise(5, 3 * part), slow);
    const gateway = await openWorker({ peers: [slow.url] }, await browser.newContext());
    expect((await gateway.fetch(`/${first}`)).status).toBe(200);
    const hasBegun = await gateway.shell.evaluate(async (url) => {
      const reading = fetch(url, { headers: { Range: 'bytes=0-' } }).then(async ({ body }) => {
        const reader = body!.getReader();
        await reader.read();
        Object.assign(globalThis, { reader });
        return true;
      });
      return Promise.race([reading, new Promise<boolean>((resolve) => setTimeout(resolve, 10_000, false))]);
    }, `/${address}`);
    if (!hasBegun) await gateway.shell.context().close();
    return { slow, gateway, hasBegun };
  };
  // On a busy machine the session is late, HTTP answers as well, and the peer has counted its honest answers before the first
  // chunk: then nothing comes that could be aborted.
  let begun = await begin();
  for (let tries = 1; !begun.hasBegun && tries < 10; tries++) begun = await begin();
  const { slow, gateway, hasBegun } = begun;
  expect(hasBegun).toBe(true);
  await expect.poll(() => slow.metric('streams')).toBe(1);
  await gateway.shell.evaluate(() =>
    (globalThis as unknown as { reader: ReadableStreamDefaultReader }).reader.cancel(),
  );
  await expect.poll(() => slow.metric('streams'), { timeout: 10_000, intervals: [100] }).toBe(0);
  expect(await slow.metric('requests_total', { op: 'open', outcome: 'cancelled' })).toBe(1);
  await gateway.shell.context().close();
});

test.describe('a file of 1 GiB', { tag: '@full' }, () => {
  // One after the other in one process: the file is made once.
  test.describe.configure({ mode: 'default', timeout: 180_000 });
  const file = new RepeatingFile(1024 ** 3);
  const maxStored = 256 * 1024 ** 2;
  let store: string;
  let address: string;
  let peer: PeerProcess;
  let gateway: Gateway;

  test.beforeAll(async () => {
    test.setTimeout(180_000);
    store = mkdtempSync(join(tmpdir(), 'antway-gibibyte-'));
    const filled = await PeerProcess.start({ store });
    address = await publish(file, filled);
    await filled.stop();
  });

  test.afterAll(() => rmSync(store, { recursive: true, force: true }));

  test.beforeEach(async ({ startPeer, openWorker }) => {
    peer = await startPeer({ store });
    gateway = await openWorker({
      peers: [peer.url],
      cache: { maxBytes: maxStored, memoryBytes: 64 * 1024 ** 2 },
    });
  });

  test('streams whole, while the store on disk stays bounded', async ({ browser }) => {
    const expected = createHash('sha256');
    for await (const bytes of file) expected.update(bytes);
    const before = await rendererMegabytes(browser);
    let highest = before;
    const watch = setInterval(async () => {
      highest = Math.max(highest, await rendererMegabytes(browser));
    }, 250);
    const { received, digest } = await hashOf(gateway.shell, `/${address}`);
    clearInterval(watch);
    expect(received).toBe(file.size);
    expect(digest).toBe(expected.digest('hex'));
    // Of all of the browser's renderers together, the page's and the worker's among them. `pnpm perf` measures the worker's.
    test.info().annotations.push({ type: 'resident memory', description: `${before} to ${highest} MB` });

    await gateway.settled();
    const { bytes } = await gateway.cache();
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(maxStored);
  });

  test('serves a range in its middle with only the chunks of the range', async () => {
    const start = 100 * part - 1_000;
    const answer = await gateway.fetch(`/${address}`, {
      headers: { Range: `bytes=${start}-${start + 1_999}` },
    });
    expect([answer.status, answer.size]).toEqual([206, 2_000]);
    const both = Buffer.concat([
      await file.read(99 * part, 100 * part),
      await file.read(100 * part, 101 * part),
    ]);
    expect(answer.sha256).toBe(sha256(both.subarray(part - 1_000, part + 1_000)));
    // The record and the three chunks of the nested map, with the first chunk (is it an archive?) and with the two.
    expect(await peer.chunksGiven()).toBe(2 * (1 + 3) + 1 + 2);
  });

  test('stops at the peer when the fetch is aborted', async () => {
    await gateway.shell.evaluate(async (url) => {
      const controller = new AbortController();
      const reader = (await fetch(url, { signal: controller.signal })).body!.getReader();
      for (let read = 0; read < 10_000_000; ) read += (await reader.read()).value!.length;
      controller.abort();
    }, `/${address}`);
    await expectStopped();
  });

  test('stops at the peer when the body’s reader is cancelled', async () => {
    await gateway.shell.evaluate(async (url) => {
      const reader = (await fetch(url)).body!.getReader();
      for (let read = 0; read < 10_000_000; ) read += (await reader.read()).value!.length;
      await reader.cancel();
    }, `/${address}`);
    await expectStopped();
  });

  test('stops at the peer when its tab is closed', async () => {
    const page = await gateway.openPage('/');
    await page.evaluate(async (url) => {
      const reader = (await fetch(url)).body!.getReader();
      let read = 0;
      const readOn = async () => {
        for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
          read += piece.value.length;
        }
      };
      void readOn();
      while (read < 10_000_000) await new Promise((resolve) => setTimeout(resolve));
    }, `/${address}`);
    await page.close();
    await expectStopped();
  });

  test('pauses at the peer while the page does not read', async () => {
    await gateway.shell.evaluate(async (url) => {
      const reader = (await fetch(url)).body!.getReader();
      await reader.read();
      // A reference, so that the reader is not collected. It is not read again.
      Object.assign(globalThis, { reader });
    }, `/${address}`);
    await expectStandstill(peer);
    expect((await gateway.stats()).requests.active).toBe(1);
    // Chromium itself takes some 60 MB ahead of a page that does not read, and the worker a few chunks.
    expect(await sentBytes(peer)).toBeLessThan(150_000_000);
  });

  /** The worker has nothing under way, the peer sends no more, and most of the file was never sent. */
  async function expectStopped(): Promise<void> {
    await expect
      .poll(async () => (await gateway.stats()).requests.active, { timeout: 5_000, intervals: [100] })
      .toBe(0);
    await expectStandstill(peer);
    await expect.poll(() => peer.metric('streams'), { timeout: 5_000 }).toBe(0);
    expect(await sentBytes(peer)).toBeLessThan(file.size / 2);
  }
});

/** Stores bytes as they are, as one record. @returns its address. */
async function publishRecord(bytes: Uint8Array, peer: PeerProcess): Promise<string> {
  const address = Buffer.from((await loadBlake3())(bytes)).toString('hex');
  await peer.put(address, bytes);
  return address;
}

/** Bytes of chunks, and of what goes with them, that the peer has handed to the browser's session. */
function sentBytes(peer: PeerProcess): Promise<number> {
  return peer.metric('sent_bytes_total', { transport: 'webtransport' });
}

/** Waits until the peer has sent nothing for half a second. */
async function expectStandstill(peer: PeerProcess): Promise<void> {
  let last = -1;
  await expect
    .poll(
      async () => {
        const now = await sentBytes(peer);
        const stands = now === last;
        last = now;
        return stands;
      },
      { timeout: 5_000, intervals: [500] },
    )
    .toBe(true);
}

/** SHA-256 of what a page receives for a URL, taken as it comes. */
async function hashOf(page: Page, url: string): Promise<{ received: number; digest: string }> {
  await page.evaluate(readFileSync(fromRoot('node_modules/hash-wasm/dist/sha256.umd.min.js'), 'utf8'));
  return page.evaluate(async (url) => {
    const { hashwasm } = globalThis as unknown as { hashwasm: typeof import('hash-wasm') };
    const hasher = (await hashwasm.createSHA256()).init();
    const reader = (await fetch(url)).body!.getReader();
    let received = 0;
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      hasher.update(piece.value);
      received += piece.value.length;
    }
    return { received, digest: hasher.digest('hex') };
  }, url);
}

/** Resident memory of the browser's renderer processes, where pages and workers run, in megabytes. */
async function rendererMegabytes(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const ids = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => String(id));
  const kilobytes = execFileSync('ps', ['-o', 'rss=', '-p', ids.join(',')], { encoding: 'utf8' });
  return Math.round(kilobytes.split('\n').reduce((sum, line) => sum + Number(line), 0) / 1024);
}
