import { readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { packTar, unpackTar } from 'modern-tar';
import { MemoryWatch } from '../../perf/lab/inspector.ts';
import { createTar } from '../../src/archive/create-tar.ts';
import { bufferAccess } from '../../src/util/random-access.ts';
import { errorCode, expect, fetchIn, Gateway, stopWorkers, test } from '../support/chromium.ts';
import { makePrivateManifest } from '../support/manifests.ts';
import { publishManyChunks } from '../support/many-chunks.ts';
import { expectPin, listSites, pinAction } from '../support/pins.ts';
import { noise, publish, RepeatingFile } from '../support/publish.ts';
import { shellStored } from '../support/shell-stored.ts';
import { makeTarchive } from '../support/tar.ts';
import { residentBytes } from './memory.ts';

const complete = { state: 'complete', activity: 'idle', problem: null } as const;
test.beforeEach(() => test.slow());

/** A peer that is not there. */
const nowhere = 'http://127.0.0.1:9';

interface Imported {
  address: string;
  chunks: number;
  bytes: number;
  refused: { name: string; reason: string }[];
}

/** Exports by a download, as a user does. @returns where the file is. */
async function exportSite({ shell }: Gateway, address: string, folder: string): Promise<string> {
  const waiting = shell.waitForEvent('download');
  await shell.evaluate(async (address) => {
    const file = await (await fetch(`/-/export?address=${address}`)).blob();
    Object.assign(document.createElement('a'), {
      href: URL.createObjectURL(file),
      download: `${address}.antsite`,
    }).click();
  }, address);
  const download = await waiting;
  expect(download.suggestedFilename()).toBe(`${address}.antsite`);
  const file = join(folder, 'exported.antsite');
  await download.saveAs(file);
  return file;
}

/** Imports a file by choosing it, as a user does. */
async function importFile(page: Page, file: string | Buffer) {
  await page.evaluate(() => {
    const input = Object.assign(document.createElement('input'), { type: 'file', id: 'import-test' });
    document.getElementById('import-test')?.remove();
    document.body.append(input);
  });
  const chosen =
    typeof file === 'string' ? file : { name: 'x.tar', mimeType: 'application/x-tar', buffer: file };
  await page.setInputFiles('#import-test', chosen);
  return page.evaluate(async () => {
    const [body] = (document.getElementById('import-test') as HTMLInputElement).files!;
    const response = await fetch('/-/import', { method: 'POST', body: body! });
    return { status: response.status, json: (await response.json()) as unknown };
  });
}

async function imported(page: Page, file: string | Buffer): Promise<Imported> {
  const { status, json } = await importFile(page, file);
  expect(status, JSON.stringify(json)).toBe(200);
  return json as Imported;
}

test('a site moves to another device as a file, without any network, and opens there', async ({
  startPeer,
  openWorker,
  browser,
  folder,
}) => {
  const peer = await startPeer();
  const large = noise(3, 9_000_000);
  const site = makeTarchive(folder, {
    'index.html': '<title>Carried</title><p>By hand.</p>',
    'large.bin': large,
  });
  const address = await publish(site, peer);
  const here = await openWorker({ peers: [peer.url] });

  const early = await here.fetch(`/-/export?address=${address}`);
  expect([early.status, errorCode(early)]).toEqual([404, 'NOT_FOUND']);
  await pinAction(here.shell, address, 'pin');
  await expectPin(here.shell, address, complete);
  const file = await exportSite(here, address, folder);
  const members = await unpackTar(new Uint8Array(readFileSync(file)));
  expect(members.map(({ header }) => header.name)).toEqual([
    'antway-site.json',
    address,
    ...Array.from({ length: 3 }, () => expect.stringMatching(/^[0-9a-f]{64}$/)),
  ]);
  expect(JSON.parse(new TextDecoder().decode(members[0]!.data))).toMatchObject({
    version: 2,
    address,
    chunks: 4,
    files: expect.any(Number),
    size: expect.any(Number),
  });

  const there = await openWorker({ peers: [nowhere] }, await browser.newContext());
  const { chunks, bytes, refused } = await imported(there.shell, file);
  expect({ chunks, refused }).toEqual({ chunks: 4, refused: [] });
  await expectPin(there.shell, address, { ...complete, bytes: { stored: bytes, total: bytes } });
  expect(await listSites(there.shell)).toMatchObject([{ address, kind: 'archive', offline: true }]);
  await shellStored(there.shell);
  await there.shell.context().setOffline(true);
  await stopWorkers(there.shell);
  const page = await there.openPage(`/${address}/`);
  await expect(page).toHaveTitle('Carried');
  expect((await fetchIn(there.shell, `/${address}/large.bin`)).size).toBe(large.length);
  // Once more does no harm, and changes nothing.
  expect(await imported(there.shell, file)).toMatchObject({ chunks: 4, refused: [] });
  await expectPin(there.shell, address, complete);
  expect((await there.cache()).count).toBe(4);
});

test('wrong chunks are refused by name, and a good copy brings the rest', { tag: '@full' }, async ({
  startPeer,
  openWorker,
  browser,
  folder,
}) => {
  const peer = await startPeer();
  const site = await publishManyChunks(peer, 200);
  const here = await openWorker({ peers: [peer.url] });
  await pinAction(here.shell, site.address, 'pin');
  await expectPin(here.shell, site.address, complete);
  const good = readFileSync(await exportSite(here, site.address, folder));

  const members = await unpackTar(new Uint8Array(good));
  const [wrong, large] = [members[10]!, members[20]!];
  wrong.data![7]! ^= 1;
  const bad = await packTar([
    ...members.map((member) =>
      member === large ? entry(member.header.name, new Uint8Array(4_194_305)) : member,
    ),
    entry('notes.txt', new Uint8Array(3)),
  ]);
  const there = await openWorker({ peers: [nowhere] }, await browser.newContext());
  const first = await imported(there.shell, Buffer.from(bad));
  expect(first.chunks).toBe(198);
  expect(first.refused).toEqual([
    { name: wrong.header.name, reason: expect.stringContaining('hash') },
    { name: large.header.name, reason: expect.stringContaining('4194304') },
    { name: 'notes.txt', reason: expect.stringContaining('name') },
  ]);
  await expectPin(there.shell, site.address, { state: 'partial', activity: 'waiting' });

  // Half a file brings what is whole in it, and says that it is damaged.
  const elsewhere = await openWorker({ peers: [nowhere] }, await browser.newContext());
  const half = await importFile(elsewhere.shell, good.subarray(0, good.length / 2));
  expect(half).toMatchObject({ status: 502, json: { code: 'CORRUPT' } });

  for (const { shell } of [there, elsewhere]) {
    expect(await imported(shell, good)).toMatchObject({ chunks: 200, refused: [] });
    await expectPin(shell, site.address, { ...complete, chunks: { stored: 200, total: 200 } });
  }
  expect((await there.cache()).count).toBe(200);
});

test('an export includes a private manifest, which opens on the other device and is not stored as a chunk', {
  tag: '@smoke',
}, async ({ startPeer, openWorker, browser, folder }) => {
  const peer = await startPeer();
  const manifest = await makePrivateManifest('Secrets', { 'a.txt': 'a secret letter' }, peer);
  const here = await openWorker({ peers: [peer.url] });
  const { id } = (await here.shell.evaluate(
    async (bytes) => (await fetch('/-/manifests', { method: 'POST', body: new Uint8Array(bytes) })).json(),
    [...manifest],
  )) as { id: string };
  await pinAction(here.shell, id, 'pin');
  await expectPin(here.shell, id, complete);
  const file = await exportSite(here, id, folder);

  const there = await openWorker({ peers: [nowhere] }, await browser.newContext());
  expect(await imported(there.shell, file)).toMatchObject({ address: id, chunks: 3, refused: [] });
  await expectPin(there.shell, id, complete);
  expect((await there.fetch(`/${id}/a.txt`)).text).toBe('a secret letter');
  expect((await there.cache()).count).toBe(3);
});

test('a file that is not an exported site is refused with the reason', { tag: '@full' }, async ({
  openWorker,
  folder,
}) => {
  const gateway = await openWorker({ peers: [nowhere], denied: ['de'.repeat(32)] });
  const described = (description: object) =>
    packTar([entry('antway-site.json', Buffer.from(JSON.stringify(description)))]);
  const site = { format: 'antway-site', version: 1, address: 'ab'.repeat(32) };
  writeFileSync(join(folder, 'a.txt'), 'x');
  const cases = [
    [Buffer.from('no tar at all'.repeat(200)), 501, 'UNSUPPORTED'],
    [Buffer.alloc(0), 501, 'UNSUPPORTED'],
    [await packTar([entry('a.txt', new Uint8Array(4))]), 501, 'UNSUPPORTED'],
    [await packTar([entry('antway-site.json', new Uint8Array(4))]), 501, 'UNSUPPORTED'],
    [await described({ ...site, format: 'x' }), 501, 'UNSUPPORTED'],
    [await described({ ...site, version: 3 }), 501, 'UNSUPPORTED'],
    [await described({ ...site, address: 'x' }), 501, 'UNSUPPORTED'],
    [await described({ ...site, address: 'de'.repeat(32) }), 451, 'DENIED'],
  ] as const;
  for (const [file, status, code] of cases) {
    const answer = await importFile(gateway.shell, Buffer.from(file));
    expect(answer).toMatchObject({ status, json: { code } });
  }
  expect(await listSites(gateway.shell)).toEqual([]);
});

function entry(name: string, data: Uint8Array) {
  return { header: { name, size: data.length, type: 'file' as const }, body: new Uint8Array(data) };
}

test('a file of 300 MB is imported', { tag: '@full' }, async ({
  playwright,
  launchOptions,
  startHost,
  folder,
}) => {
  test.setTimeout(300_000);
  const content = new RepeatingFile(300_000_000);
  const file = join(folder, 'large.antway.tar');
  const site = await writeSiteFile(content, file);
  const host = await startHost({ peers: [nowhere] });
  // A profile on disk: in another, what is stored would be in memory.
  const context = await playwright.chromium.launchPersistentContext(join(folder, 'profile'), launchOptions);
  const gateway = await Gateway.open(host, await context.newPage());
  const before = await residentBytes(gateway.shell);
  const worker = (await MemoryWatch.start(context.browser()!, `${host.url}/sw.js`))!;
  let most = 0;
  let isDone = false;
  const importing = imported(gateway.shell, file).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    most = Math.max(most, await residentBytes(gateway.shell));
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  const { address, chunks, refused } = await importing;
  const workerMost = await worker.stop();
  const megabytes = (bytes: number) => Math.round(bytes / 1e6);
  test.info().annotations.push({
    type: 'memory',
    description: `worker ${megabytes(workerMost)} MB; browser ${megabytes(before)} MB before, ${megabytes(most)} MB at most`,
  });
  expect({ address, chunks, refused }).toEqual({ address: site.address, chunks: site.chunks, refused: [] });

  await expectPin(gateway.shell, site.address, complete);
  const { size } = await gateway.fetch(`/${site.address}`, { headers: { Range: 'bytes=299000000-' } });
  expect(size).toBe(1_000_000);
  await context.close();
});

/** Writes a file as the export makes it, for content that no gateway has. */
async function writeSiteFile(
  content: RepeatingFile,
  file: string,
): Promise<{ address: string; chunks: number }> {
  const chunks = new Map<string, Uint8Array>();
  const address = await publish(content, {
    async put(hex, bytes) {
      chunks.set(hex, bytes);
    },
  });
  const description = {
    format: 'antway-site',
    version: 1,
    address,
    kind: 'file',
    chunks: chunks.size,
    bytes: 0,
  };
  const tar = createTar([
    { path: 'antway-site.json', source: bufferAccess(Buffer.from(JSON.stringify(description))) },
    ...Array.from(chunks, ([path, bytes]) => ({ path, source: bufferAccess(bytes) })),
  ]);
  const writing = await open(file, 'w');
  const step = 8 * 1024 * 1024;
  for (let at = 0; at < tar.size; at += step) {
    await writing.write(await tar.read(at, Math.min(at + step, tar.size)));
  }
  await writing.close();
  return { address, chunks: chunks.size };
}
