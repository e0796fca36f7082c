import { readFileSync } from 'node:fs';
import { createTarchive } from '../../src/archive/create-tar.ts';
import { limits } from '../../src/limits.ts';
import { bufferAccess, type RandomAccess } from '../../src/util/random-access.ts';
import { expect, type Gateway, test } from '../support/chromium.ts';
import { PeerProcess } from '../support/peer-process.ts';
import { noise, publish } from '../support/publish.ts';
import { sha256 } from '../support/tar.ts';
import { paddedFilm, pieced } from './film.ts';

const page = `<!doctype html><title>Media</title>
<video src="film.webm" muted></video><audio src="sound.wav" muted></audio>
<p><a href="report.bin" download>a report</a></p>
<p><a href="report.bin?download">an attachment</a></p>`;

const report = noise(31, 3_000_000);
const pdf = minimalPdf();

// Encrypted once for all tests.
test.describe.configure({ mode: 'default' });

let peer: PeerProcess;
let gateway: Gateway;
let address: string;
/** Of the whole archive. */
let chunks: number;

test.beforeAll(async () => {
  test.setTimeout(180_000);
  peer = await PeerProcess.start();
  const site = mediaSite();
  chunks = Math.ceil(site.size / limits.plaintextChunkBytes);
  address = await publish(site, peer);
});
test.beforeEach(async ({ openWorker }) => {
  gateway = await openWorker({ peers: [peer.url] });
});
test.afterAll(() => peer.stop());

for (const [element, middle] of [
  ['video', 15],
  ['audio', 300],
] as const) {
  test(`a ${element} plays from its middle without the chunks before and after`, {
    tag: '@full',
  }, async () => {
    const before = await peer.chunksGiven();
    const media = await gateway.openPage(`/${address}/`);
    const player = media.locator(element);
    // Step by step from out here: in a page without trust no callback of a script runs, the test's own included.
    const read = () =>
      player.evaluate(({ readyState, seeking, currentTime, duration, error }: HTMLMediaElement) => ({
        isReady: readyState >= HTMLMediaElement.HAVE_METADATA && !seeking,
        at: currentTime,
        duration: Math.round(duration),
        error: error?.message,
      }));
    await expect.poll(read).toMatchObject({ isReady: true });
    await player.evaluate((player: HTMLMediaElement, at) => {
      player.currentTime = at;
    }, middle);
    await expect.poll(read).toMatchObject({ isReady: true, at: middle });
    await player.evaluate((player: HTMLMediaElement) => void player.play());
    await expect.poll(async () => (await read()).at).toBeGreaterThan(middle + 0.5);
    await player.evaluate((player: HTMLMediaElement) => player.pause());
    const played = await read();
    expect(played.error).toBeUndefined();
    expect(played.duration).toBeGreaterThan(middle + 10);
    expect((await peer.chunksGiven()) - before).toBeLessThan(chunks / 2);
  });
}

test('a saved attachment has the bytes of the content', { tag: '@smoke' }, async () => {
  const shown = await gateway.openPage(`/${address}/`);
  const [download] = await Promise.all([
    shown.waitForEvent('download'),
    shown.getByRole('link', { name: 'an attachment' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('report.bin');
  expect(sha256(readFileSync(await download.path()))).toBe(sha256(report));
});

test('a link with the attribute `download`, which Chromium follows past the worker, saves nothing wrong', {
  tag: '@full',
}, async () => {
  const shown = await gateway.openPage(`/${address}/`);
  const [download] = await Promise.all([
    shown.waitForEvent('download'),
    shown.getByRole('link', { name: 'a report' }).click(),
  ]);
  expect(await download.failure()).not.toBeNull();
});

test('a PDF opens in the browser’s own viewer on the origin of its site, and is read in parts', {
  tag: '@full',
}, async () => {
  const shown = await gateway.shell.context().newPage();
  await shown.goto(`http://antway.localhost:${new URL(gateway.url).port}/`);
  await shown.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
  // The browser’s own viewer takes the place of the navigation.
  await shown.goto(new URL(`/${address}/paper.pdf`, shown.url()).href).catch(() => undefined);
  expect(new URL(shown.url()).host).toMatch(/^[a-z2-7]{52}\.antway\.localhost/);
  // A frame that has just been made has no URL yet.
  const shownIn = () => shown.frames().map((frame) => frame.url().split('//')[0]);
  await expect.poll(shownIn).toContain('chrome-extension:');
  const part = await gateway.fetch(`/${address}/paper.pdf`, { headers: { Range: 'bytes=-6' } });
  expect([part.status, part.text]).toEqual([206, '%%EOF\n']);
});

/** A film, a sound, a paper and a report in one archive of about 400 MB, most of it zeros. */
function mediaSite(): RandomAccess {
  return createTarchive([
    { path: 'index.html', source: bufferAccess(Buffer.from(page)) },
    { path: 'film.webm', source: paddedFilm() },
    { path: 'paper.pdf', source: bufferAccess(pdf) },
    { path: 'report.bin', source: bufferAccess(report) },
    { path: 'sound.wav', source: silence(600) },
  ]);
}

/** So many seconds of nothing, in 16 bits at 48 kHz, two channels. */
function silence(seconds: number): RandomAccess {
  const rate = 48_000;
  const data = rate * 4 * seconds;
  const head = Buffer.alloc(44);
  head.write('RIFF');
  head.writeUInt32LE(36 + data, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(2, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 4, 28);
  head.writeUInt16LE(4, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(data, 40);
  return pieced([{ start: 0, bytes: head }], 44 + data);
}

function minimalPdf(): Buffer {
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>',
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, i) => {
    const at = text.length;
    text += `${i + 1} 0 obj${object}endobj\n`;
    return String(at).padStart(10, '0');
  });
  const xref = text.length;
  text += `xref\n0 4\n0000000000 65535 f \n${offsets.map((at) => `${at} 00000 n \n`).join('')}`;
  text += `trailer<</Size 4/Root 1 0 R>>\nstartxref\n${xref}\n%%EOF\n`;
  return Buffer.from(text);
}
