// `pnpm test:network`: from real nodes of the Autonomi network by way of a peer into a real browser.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from '@playwright/test';
import { launchBrowser } from '../../perf/browser.ts';
import { describeMachine, machineLine } from '../../perf/machine.ts';
import { markdownTable } from '../../perf/numbers.ts';
import { buildPeer, buildShell, fail } from '../../src/cli/setup.mjs';
import { fetchIn, Gateway, stopWorkers } from '../support/chromium.ts';
import { distFolder, fromRoot } from '../support/paths.ts';
import { PeerProcess } from '../support/peer-process.ts';
import { buildPrograms, programs } from './build.ts';
import { type Item, makeContent, siteChunksFolder } from './content.ts';
import { Devnet } from './devnet.ts';

const nodes = 5;
/** Chunks that the first hop asks for at a time, as a browser's read-ahead does. */
const chunksAtOnce = 4;

/** How long something took on its way over one hop. */
interface Hop {
  item: string;
  hop: string;
  bytes: number;
  seconds: number;
}

try {
  await buildPeer();
  await buildShell();
  await buildPrograms();
  await main();
} catch (error) {
  fail(error);
}

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'antway-network-'));
  const browser = await launchBrowser();
  const stops: (() => Promise<void>)[] = [
    () => rm(folder, { recursive: true, force: true }),
    () => browser.close(),
  ];
  try {
    const machine = describeMachine(browser);
    const items = await makeContent(folder);
    const site = items.at(-1)!;

    const startedMs = performance.now();
    const network = await Devnet.start(nodes, join(folder, 'nodes'), {
      files: items.flatMap(({ path }) => path ?? []),
      chunksFolder: siteChunksFolder(folder),
      pointTo: site.address,
    });
    stops.push(() => network.stop());
    const { files, pointer, bootstrap } = network.ready;
    console.log(`${nodes} nodes hold it all after ${seconds(startedMs).toFixed(1)} s.`);
    assert.deepEqual(
      files.map(({ address }) => address),
      items.filter(({ path }) => path).map(({ address }) => address),
      'the network’s own code and Antway’s publish a file under the same address',
    );

    const bootstrapFile = join(folder, 'test-network.txt');
    await writeFile(bootstrapFile, bootstrap.join('\n'));
    const startPeer = async () => {
      const peer = await PeerProcess.start({
        build: programs.peer,
        flags: [
          ...['--network', bootstrapFile],
          ...['--upstream-timeout', '15s', '--request-timeout', '20s'],
        ],
      });
      stops.push(() => peer.stop());
      return peer;
    };
    const peer = await startPeer();
    const hops: Hop[] = [];
    for (const item of items) hops.push(await pull(peer, item));
    await readPointer(peer, pointer);
    const byPointer = { ...site, name: 'the same by the pointer', address: pointer.address };
    const all = [...items, byPointer];
    hops.push(...(await read(browser, folder, peer, all, 'peer → browser, cold')));

    // Another one that has nothing yet: all the way at once.
    hops.push(...(await read(browser, folder, await startPeer(), items, 'node → peer → browser, cold')));

    const text = `${machineLine(machine)} ${nodes} nodes in one process.\n\n${table(hops)}\n`;
    console.log(`\nEvery byte was equal.\n\n${text}`);
    const results = fromRoot('test-results/network');
    await mkdir(results, { recursive: true });
    await writeFile(join(results, 'network.md'), text);
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

/** The first hop: every chunk, asked of a peer that has none. */
async function pull(peer: PeerProcess, { name, chunks }: Item): Promise<Hop> {
  const startedMs = performance.now();
  const waiting = [...chunks];
  let bytes = 0;
  const worker = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [address, expected] = next;
      const response = await fetch(`${peer.url}/chunk/${address}`);
      const got = new Uint8Array(await response.arrayBuffer());
      assert.equal(response.status, 200, `${address}: ${new TextDecoder().decode(got.subarray(0, 200))}`);
      assert.ok(Buffer.from(got).equals(expected), `the bytes of chunk ${address}`);
      bytes += got.length;
    }
  };
  await Promise.all(Array.from({ length: chunksAtOnce }, worker));
  return { item: `${name}, ${chunks.size} chunks`, hop: 'node → peer', bytes, seconds: seconds(startedMs) };
}

/** A node that held the older of the pointer's two states would show. */
async function readPointer(
  peer: PeerProcess,
  { address, record }: { address: string; record: string },
): Promise<void> {
  const startedMs = performance.now();
  const response = await fetch(`${peer.url}/pointer/${address}`);
  const got = Buffer.from(await response.arrayBuffer());
  assert.equal(response.status, 200, got.toString());
  assert.equal(got.toString('hex'), record, 'the newest record of the pointer');
  console.log(`The pointer’s newest record came in ${seconds(startedMs).toFixed(2)} s.`);
}

/** Everything in a new browser profile: first from the peer, then from what the browser has stored. */
async function read(
  browser: Browser,
  folder: string,
  peer: PeerProcess,
  items: readonly Item[],
  cold: string,
): Promise<Hop[]> {
  const config = join(folder, 'antway.json');
  await writeFile(config, JSON.stringify({ peers: [peer.url] }));
  const host = await PeerProcess.start({
    flags: ['--web', distFolder, '--web-config', config],
    webTransport: 'none',
  });
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const gateway = await Gateway.open(host, page);
    const hops: Hop[] = [];
    const readAll = async (hop: string) => {
      for (const { name, address, paths } of items) {
        const startedMs = performance.now();
        let bytes = 0;
        for (const { path, size, sha256 } of paths) {
          const answer = await fetchIn(page, `/${address}${path}`, { cache: 'no-store' });
          assert.equal(answer.status, 200, answer.text);
          assert.deepEqual({ size: answer.size, sha256: answer.sha256 }, { size, sha256 }, name + path);
          bytes += size;
        }
        const parts = paths.length > 1 ? `, ${paths.length} files` : '';
        hops.push({ item: name + parts, hop, bytes, seconds: seconds(startedMs) });
      }
    };
    await readAll(cold);
    const [asked] = await gateway.peers();
    assert.equal(asked?.state, 'webtransport', 'the peer is asked by WebTransport');

    await gateway.settled();
    await stopWorkers(page);
    const given = await peer.chunksGiven();
    await readAll('browser, warm');
    assert.equal(await peer.chunksGiven(), given, 'what is stored in the browser is not asked for again');
    return hops;
  } finally {
    await context.close();
    await host.stop();
  }
}

function table(hops: readonly Hop[]): string {
  const rows = hops.map(({ item, hop, bytes, seconds }) => [
    hop,
    item,
    (bytes / 1e6).toFixed(bytes < 1e6 ? 2 : 1),
    seconds.toFixed(2),
    (bytes / 1e6 / seconds).toFixed(1),
  ]);
  return markdownTable([['hop', 'what', 'MB', 's', 'MB/s'], ...rows]);
}

function seconds(sinceMs: number): number {
  return (performance.now() - sinceMs) / 1000;
}
