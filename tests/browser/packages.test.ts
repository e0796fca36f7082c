import { cpSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { Address } from '../../src/address.ts';
import { createTarchive } from '../../src/archive/create-tar.ts';
import { bufferAccess } from '../../src/util/random-access.ts';
import { expect, test } from '../support/chromium.ts';
import { freePort } from '../support/loopback-server.ts';
import { consumers as consumerFolder, PackageProject } from '../support/package-project.ts';
import { installWallet } from '../support/page-wallet.ts';
import { PointerOwner } from '../support/pointers.ts';
import { noise, publish } from '../support/publish.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { S3Server } from '../support/s3-server.ts';
import { StaticHost } from '../support/static-host.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { TestChain } from '../support/test-chain.ts';

// One project has all packages. A bundle of it runs in the pages of all tests.
test.describe.configure({ mode: 'default' });

// biome-ignore lint/suspicious/noExplicitAny: the types of the packages are in the project only
declare const consumers: any;

let project: PackageProject;
let host: StaticHost;

test.beforeAll(async () => {
  test.setTimeout(180_000);
  project = await PackageProject.create();
  writeFileSync(join(project.folder, 'package.json'), '{"type":"module"}');
  cpSync(consumerFolder, project.folder, { recursive: true });
  const outDir = join(project.folder, 'web');
  await build({ configFile: false, root: project.folder, logLevel: 'error', build: { outDir } });
  const worker = join(project.folder, 'worker/own-worker.ts');
  await build({
    configFile: false,
    root: project.folder,
    logLevel: 'error',
    build: {
      outDir,
      emptyOutDir: false,
      lib: { entry: worker, formats: ['iife'], name: 'own', fileName: () => 'own-worker.js' },
    },
  });
  // A site copies the files of the worker.
  host = await StaticHost.start({ folders: [outDir, project.installed('sw')] });
});

test.afterAll(async () => {
  await host?.stop();
  project?.remove();
});

test('@antway/fetch reads everything in a page, which has its chunks after a reload', {
  tag: '@full',
}, async ({ page, startPeer }) => {
  const peer = await startPeer();
  const site = await publish(await makeTarchive({ 'a.txt': 'abcdef'.repeat(1000), 'b.txt': 'b' }), peer);
  const bytes = noise(7, 9_000_000);
  const film = await publish(bytes, peer);
  const owner = new PointerOwner(34);
  const target = await publish(Buffer.from('the newest text'), peer);
  peer.putPointer(owner.address.hex, owner.sign(1n, Address.fromHex(target)));

  const open = async () => {
    await page.goto(host.url);
    await page.waitForFunction(() => 'consumers' in globalThis);
  };
  await open();
  const asked = { peer: peer.url, site, film };
  const results = await page.evaluate(([asked, pointer]) => consumers.fetchPage.firstVisit(asked, pointer), [
    asked,
    owner.address.hex,
  ] as const);
  expect(results).toEqual({
    range: [206, 'abc'],
    paths: ['a.txt', 'b.txt'],
    text: 'bcd',
    byteLength: 5_000_000,
    last: { loaded: 5_000_000, total: 5_000_000 },
    isAborted: true,
    error: ['NOT_FOUND', 404, expect.any(Number)],
    mistyped: 'function',
    first: 5_000_000,
    pointed: 'the newest text',
    pointsTo: target,
  });

  expect(await page.evaluate(() => consumers.fetchPage.makeForMainnet())).toBe(true);

  await open();
  const unreachable = `http://127.0.0.1:${await freePort()}`;
  const later = await page.evaluate(([peer, film]) => consumers.fetchPage.laterVisit(peer, film), [
    unreachable,
    film,
  ] as const);
  expect(later).toEqual({ bytes: [...bytes.subarray(100, 110)], code: 'PEERS_UNREACHABLE' });
});

test('@antway/publish publishes from a page', { tag: '@full' }, async ({ page, startPeer }) => {
  // Another origin may only write with a token.
  const token = 'open sesame';
  const peer = await startPeer({ token });
  await page.goto(host.url);
  await page.waitForFunction(() => 'consumers' in globalThis);
  const results = await page.evaluate(([peer, token]) => consumers.publishPage.publishAll(peer, token), [
    peer.url,
    token,
  ] as const);
  expect(results).toMatchObject({
    text: 'Hello',
    paths: ['a.txt', 'folder/b.txt'],
    secret: 'for few',
    present: 4,
    isParallel: availableParallelism() > 1,
    isSame: true,
    isAborted: true,
    error: ['UNSUPPORTED', 501],
    leftOut: ['.DS_Store'],
    single: 'single.txt',
  });
  // The same address as for the same files in a program.
  const site = createTarchive([
    { path: 'index.html', source: bufferAccess(Buffer.from('<!doctype html><title>Site</title>')) },
    { path: 'sub/c.txt', source: bufferAccess(Buffer.from('c')) },
  ]);
  expect(results.site).toBe(await publish(site, { put: async () => undefined }));
});

test('@antway/publish/s3 stores from a page in a bucket, from which a peer serves', { tag: '@full' }, async ({
  page,
  startPeer,
}) => {
  const server = await S3Server.start();
  try {
    await page.goto(host.url);
    await page.waitForFunction(() => 'consumers' in globalThis);
    await using bucket = await server.withCors(host.url);
    const { credentials } = server;
    const store = 's3://chunks/of pages/v1'.replaceAll(' ', '%20');
    const options = { endpoint: bucket.url, credentials, region: 'eu-test-1' };
    const results = await page.evaluate(
      ([store, options]) => consumers.publishS3.publishToStore(store, options),
      [store, options] as const,
    );
    expect(results).toMatchObject({ chunks: 4, present: 4, code: 'REFUSED' });
    const silent = await page.evaluate(
      ([store, options]) => consumers.publishS3.publishWithoutRules(store, options),
      [store, { ...options, endpoint: server.url }] as const,
    );
    expect(silent).toEqual(['PEERS_UNREACHABLE', expect.stringContaining('CORS rules of the bucket')]);
    const env = { ...server.env, AWS_ENDPOINT: server.url, AWS_ALLOW_HTTP: 'true' };
    const peer = await startPeer({ env, flags: ['--upstream', store] });
    const text = await page.evaluate(async ([peer, address]) => consumers.fetchPage.readText(peer, address), [
      peer.url,
      results.address,
    ] as const);
    expect(text).toBe('stored as objects');
  } finally {
    await server.stop();
  }
});

test('@antway/publish/network pays from a page with its wallet, once, and stores in the network', {
  tag: '@full',
}, async ({ page, context }) => {
  const chain = await TestChain.start();
  const relay = await RelayDouble.start(chain);
  try {
    await installWallet(context, chain);
    await page.goto(host.url);
    await page.waitForFunction(() => 'consumers' in globalThis);
    const { token, vault } = chain;
    const results = await page.evaluate(
      ([relay, chain]) => {
        window.addEventListener('eip6963:announceProvider', (event) => {
          Object.assign(globalThis, { ethereum: (event as CustomEvent).detail.provider });
        });
        window.dispatchEvent(new Event('eip6963:requestProvider'));
        return consumers.publishNetwork.publishPaid(relay, chain);
      },
      [relay.url, { chainId: TestChain.chainId, token, vault }] as const,
    );
    expect(results).toMatchObject({ due: [4, 0], problem: 'OVER_LIMIT' });
    expect([relay.stored.size, relay.stored.has(results.address)]).toEqual([4, true]);
  } finally {
    await relay.stop();
    await chain.stop();
  }
});

test('@antway/page and the worker of @antway/sw serve a page by one grammar of addresses', {
  tag: '@full',
}, async ({ page, startPeer }) => {
  const peer = await startPeer();
  const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>';
  const site = await publish(await makeTarchive({ 'a.txt': 'abcdef', 'pixel.svg': picture }), peer);
  await page.goto(host.url);
  await page.waitForFunction(() => 'consumers' in globalThis);
  const { base32 } = Address.fromHex(site);
  const forms = [
    ...[site, site.toUpperCase(), base32, `ant://${site}`, `autonomi://${site}`, `web+ant://${site}`],
    ...[`https://gateway.example/${site}`, `https://${base32}.gateway.example`, 'home', 'ant://home'],
  ];
  const results = await page.evaluate(
    ([peer, site, forms, absent]) => consumers.pagePage.usePage(peer, site, forms, absent),
    [peer.url, site, forms, 'ab'.repeat(32)] as const,
  );
  expect(results).toEqual({
    texts: ['abcdef'],
    urls: [`${host.url}/ant/${site}/a.txt`],
    part: [206, 'bc'],
    direct: 'abcdef',
    pinned: [site, 'complete', true],
    paused: 'paused',
    listed: [site],
    removed: 'NOT_FOUND',
    unpinned: 'NOT_FOUND',
    timedOut: 'TimeoutError',
    codes: ['BAD_ADDRESS', 'BAD_ADDRESS', 'NOT_FOUND'],
    total: true,
    closed: ['AbortError', 'AbortError'],
    source: `ant://${site}/pixel.svg`,
    after: 'abcdef',
  });
});

test('@antway/page opens private content, carries sites in files, and changes its peers', {
  tag: '@full',
}, async ({ page, startPeer }) => {
  const token = 'open sesame';
  const [peer, other] = [await startPeer({ token }), await startPeer()];
  const files = await makeTarchive({ 'a.txt': 'abcdef', 'b.txt': 'b'.repeat(10_000) });
  const put = async (address: string, bytes: Uint8Array) => {
    const headers = { Authorization: `Bearer ${token}` };
    const body = bytes as Uint8Array<ArrayBuffer>;
    const answer = await fetch(`${peer.url}/chunk/${address}`, { method: 'PUT', headers, body });
    expect(answer.ok).toBe(true);
  };
  const site = await publish(files, { put });
  const silent = `http://127.0.0.1:${await freePort()}`;
  await page.goto(host.url);
  await page.waitForFunction(() => 'consumers' in globalThis);
  const asked = { peer: peer.url, other: other.url, token, silent, site };
  expect(await page.evaluate((asked) => consumers.pageData.useData(asked), asked)).toEqual({
    secret: 'for few',
    isSame: true,
    listed: [['secret.txt', 1, true]],
    removed: [0, 'NOT_FOUND'],
    again: true,
    refused: ['BAD_ADDRESS', 'BAD_ADDRESS', 'CORRUPT'],
    seen: [0, 1],
    unpinned: 'NOT_FOUND',
    imported: [site, 0],
    pins: [[site, 'complete']],
    damaged: [true],
    codes: ['CORRUPT', 'UNSUPPORTED', 'CORRUPT'],
    answers: [[true, 'antway']],
    before: [peer.url],
    unreachable: 'PEERS_UNREACHABLE',
    wrong: 'BAD_CONFIG',
    both: [peer.url, other.url],
    one: [other.url],
    last: 'BAD_CONFIG',
    absent: 'NOT_FOUND',
    reset: [peer.url],
  });
});

test('the route of @antway/sw serves a page from a worker of its own', { tag: '@full' }, async ({
  page,
  startPeer,
}) => {
  const peer = await startPeer();
  const site = await publish(await makeTarchive({ 'a.txt': 'abcdef' }), peer);
  await page.goto(host.url);
  await page.waitForFunction(() => 'consumers' in globalThis);
  const text = await page.evaluate(([peer, site]) => consumers.pagePage.useOwnWorker(peer, site), [
    peer.url,
    site,
  ] as const);
  expect(text).toBe('abcdef');
});
