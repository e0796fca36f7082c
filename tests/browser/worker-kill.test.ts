import { createHash } from 'node:crypto';
import type { Page } from '@playwright/test';
import { expect, fetchIn, type Gateway, test } from '../support/chromium.ts';
import { publish, RepeatingFile } from '../support/publish.ts';
import { makeTarchive } from '../support/tar.ts';

const size = 60_000_000;
const firstPart = 4_000_000;

/** A download that a page takes in two parts. */
interface Download {
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  pieces: Uint8Array<ArrayBuffer>[];
  received: number;
}
type DownloadWindow = typeof globalThis & { download: Download };

test('the body fails if the worker is killed, and a range request continues where it broke off', {
  tag: '@full',
}, async ({ startPeer, openWorker }) => {
  const peer = await startPeer();
  const file = new RepeatingFile(size);
  const address = await publish(file, peer);
  const gateway = await openWorker({ peers: [peer.url] });
  const page = gateway.shell;
  await begin(page, `/${address}`);
  await stopWorkers(gateway);

  // The browser hands on what it holds already, and then says that the rest will not come.
  const { outcome, received } = await readOn(page);
  expect(outcome).toBe('failed');
  expect(received).toBeGreaterThanOrEqual(firstPart);
  expect(received).toBeLessThan(size);

  const whole = await page.evaluate(async (url) => {
    const { pieces, received } = (globalThis as DownloadWindow).download;
    const response = await fetch(url, { headers: { Range: `bytes=${received}-` } });
    const bytes = await new Blob([...pieces, await response.arrayBuffer()]).arrayBuffer();
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    const sha256 = Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return { status: response.status, size: bytes.byteLength, sha256 };
  }, `/${address}`);
  const expected = createHash('sha256');
  for await (const bytes of file) expected.update(bytes);
  expect(whole).toEqual({ status: 206, size, sha256: expected.digest('hex') });
});

test('a page works after its worker was killed: another worker answers from the store', {
  tag: '@full',
}, async ({ startPeer, openWorker, folder }) => {
  const peer = await startPeer();
  const address = await publish(
    makeTarchive(folder, { 'index.html': '<title>Alive</title>', 'later.txt': 'asked for later' }),
    peer,
  );
  const gateway = await openWorker({ peers: [peer.url], trusted: [address] });
  const page = await gateway.openPage(`/${address}/`);
  await gateway.settled();
  await peer.kill();
  await stopWorkers(gateway);
  expect(await fetchIn(page, 'later.txt')).toMatchObject({ status: 200, text: 'asked for later' });
  await page.reload();
  await expect(page).toHaveTitle('Alive');
});

/** Starts a download in the page and takes its first part, so that the rest has to wait. */
async function begin(page: Page, url: string): Promise<void> {
  await page.evaluate(
    async ([url, firstPart]) => {
      const reader = (await fetch(url)).body!.getReader();
      const download: Download = { reader, pieces: [], received: 0 };
      while (download.received < firstPart) {
        const { value } = await reader.read();
        download.pieces.push(value!);
        download.received += value!.length;
      }
      (globalThis as DownloadWindow).download = download;
    },
    [url, firstPart] as const,
  );
}

/** Takes the rest. @returns how it came out, and how many bytes there were in all. */
function readOn(page: Page): Promise<{ outcome: string; received: number }> {
  return page.evaluate(async () => {
    const { download } = globalThis as DownloadWindow;
    try {
      for (let next = await download.reader.read(); !next.done; next = await download.reader.read()) {
        download.pieces.push(next.value);
        download.received += next.value.length;
      }
      return { outcome: 'ended', received: download.received };
    } catch {
      return { outcome: 'failed', received: download.received };
    }
  });
}

/** Ends the worker as the browser itself does when it needs the memory. */
async function stopWorkers({ shell }: Gateway): Promise<void> {
  const session = await shell.context().newCDPSession(shell);
  await session.send('ServiceWorker.enable');
  const stopped = new Promise<void>((resolve) => {
    session.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
      if (versions.some(({ runningStatus }) => runningStatus === 'stopped')) resolve();
    });
  });
  await session.send('ServiceWorker.stopAllWorkers');
  await stopped;
  await session.detach();
}
