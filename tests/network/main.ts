// `pnpm test:network`: from real nodes of the Autonomi network into a real browser, through a peer and without one.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { blake3 } from '@noble/hashes/blake3.js';
import type { Browser } from '@playwright/test';
import { launchBrowser } from '../../perf/browser.ts';
import { describeMachine, machineLine } from '../../perf/machine.ts';
import { median } from '../../perf/numbers.ts';
import { buildCli, buildPeer, buildShell, fail, installTestChain, SetupError } from '../../src/cli/setup.mjs';
import { fromRoot } from '../support/paths.ts';
import { noise } from '../support/publish.ts';
import { readInApp } from './app.ts';
import { buildPrograms } from './build.ts';
import { type Item, makeContent } from './content.ts';
import { Devnet, type Prepared, prepareRecords } from './devnet.ts';
import { readFromNodes } from './direct.ts';
import { publishThroughNodes } from './direct-paid.ts';
import { compareAtDistance } from './distance.ts';
import { readInAppOfFirefox, readInFirefox } from './firefox.ts';
import { firstSight, firstSightItem, firstSightSeconds, openSite, readInBrowser } from './in-browser.ts';
import { Link } from './link.ts';
import { NetworkPeer } from './network-peer.ts';
import { movePaidPointer, publishInApp, publishPaid } from './paid.ts';
import { type Row, seconds, table } from './rows.ts';
import { followTutorial } from './tutorial.ts';

const nodes = 5;
/** More than an answer to a lookup names. */
const manyNodes = 25;
/** The places of those that send wrong bytes. */
const lying = [2, 7, 11];
const absentAddresses = 5;

interface Content {
  items: readonly Item[];
  /** The folder of the records that nodes store. */
  records: string;
  prepared: Prepared;
}

/** The parts of a run share it. */
interface Setting {
  browser: Browser;
  folder: string;
  content(): Promise<Content>;
}

/** Each part has nodes of its own. */
const parts: Record<string, (setting: Setting) => Promise<Row[]>> = {
  read: readFromNetwork,
  many: readFromMany,
  paid: ({ folder }) => publishPaid(folder),
  'paid-app': ({ browser, folder }) => publishInApp(browser, folder),
  'paid-pointer': ({ folder }) => movePaidPointer(folder),
  'direct-paid': ({ browser, folder }) => publishThroughNodes(browser, folder),
  tutorial: ({ browser }) => followTutorial(browser),
};
/** They need root, and `distance` takes long. So they run only if `--only` names them. */
const [distance, firefox] = ['distance', 'firefox'] as const;

try {
  const { only } = parseArgs({ options: { only: { type: 'string' } } }).values;
  const names = [...Object.keys(parts), distance, firefox];
  if (only !== undefined && !names.includes(only))
    throw new SetupError(`--only takes one of: ${names.join(', ')}`);
  await buildPeer();
  await buildShell();
  await buildCli();
  await installTestChain();
  await buildPrograms();
  await main(only);
} catch (error) {
  fail(error);
}

async function main(only: string | undefined): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'antway-network-'));
  const browser = await launchBrowser();
  let content: Promise<Content> | undefined;
  const setting: Setting = {
    browser,
    folder,
    content: () => {
      content ??= makeRecords(folder);
      return content;
    },
  };
  try {
    const machine = machineLine(describeMachine(browser));
    if (only === distance) {
      const { items, records } = await setting.content();
      await report('distance', `${machine}\n\n${await compareAtDistance(browser, folder, items, records)}\n`);
      return;
    }
    const rows: Row[] = only === firefox ? await readFromManyInFirefox(setting) : [];
    for (const [name, run] of Object.entries(parts)) {
      if (only === undefined || only === name) rows.push(...(await run(setting)));
    }
    const text = `${machine} The nodes are processes of their own.\n\n${table(rows)}\n`;
    await report(only ?? 'network', text);
    const late = rows.filter(
      ({ item, seconds }) => item.startsWith(firstSightItem) && seconds > firstSightSeconds,
    );
    assert.deepEqual(late, [], `a user sees something within ${firstSightSeconds} s`);
  } finally {
    await browser.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Prints a table, and writes it into a file. */
async function report(name: string, text: string): Promise<void> {
  console.log(`\nEvery byte was equal.\n\n${text}`);
  const results = fromRoot('test-results/network');
  await mkdir(results, { recursive: true });
  await writeFile(join(results, `${name}.md`), text);
}

async function makeRecords(folder: string): Promise<Content> {
  const records = join(folder, 'records');
  const items = await makeContent(folder, records);
  return { items, records, prepared: await prepare(items, records, items[3]!) };
}

/** Through peers, and then from other nodes without a peer. */
async function readFromNetwork({ browser, folder, content }: Setting): Promise<Row[]> {
  const stops: (() => Promise<void>)[] = [];
  try {
    const { items, records, prepared } = await content();
    const [, photos, film, site] = items as [Item, Item, Item, Item];

    const port = await freePort();
    const bootstrapFile = join(folder, 'test-network.txt');
    await writeFile(bootstrapFile, `/ip4/127.0.0.1/udp/${port}/quic\n`);
    const startPeer = async () => {
      const peer = await NetworkPeer.start(bootstrapFile);
      stops.push(() => peer.stop());
      return peer;
    };

    const rows: Row[] = [];
    const first = await startPeer();
    rows.push(...(await runWithoutNetwork(first)));

    const startedMs = performance.now();
    const network = await Devnet.start(nodes, join(folder, 'nodes'), { records, port });
    stops.push(() => network.stop());
    console.log(
      `${nodes} nodes store ${network.records} records each after ${seconds(startedMs).toFixed(1)} s.`,
    );
    const { peers } = await first.reached('connected');
    assert.ok(peers > 0, 'the peer counts its nodes');

    for (const item of items) rows.push(await pull(first, item));
    rows.push(await readPointer(first, prepared.pointer));
    rows.push(await readAbsentChunks(first));
    const byPointer = { ...site, name: 'the site by the pointer', address: prepared.pointer.address };
    rows.push(
      ...(await readInBrowser(browser, folder, first, [...items, byPointer], 'peer → browser, cold')),
    );

    const second = await startPeer();
    await second.reached('connected');
    rows.push(...(await openSite(browser, folder, second, site)));
    rows.push(...(await readInBrowser(browser, folder, second, items, 'node → peer → browser, cold')));

    const third = await startPeer();
    await third.reached('connected');
    rows.push(await firstSight(browser, folder, third, site, 'node → peer → a fresh browser'));

    rows.push(await pullFromSlowNodes(network, await startPeer(), photos));
    const fifth = await startPeer();
    await fifth.reached('connected');
    const slowSight = await whileSlow(network, (step) =>
      firstSight(browser, folder, fifth, site, `node → peer → a fresh browser, ${step}`),
    );
    rows.push(slowSight);

    rows.push(await pullFromDyingNodes(network, await startPeer(), film));

    const other = await Devnet.start(nodes, join(folder, 'other-nodes'), { records });
    stops.push(() => other.stop());
    rows.push(...(await readInApp(browser, folder, other, items, prepared.pointer)));
    rows.push(...(await readFromNodes(browser, folder, other, items, prepared.pointer, film)));

    return rows;
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

/** From so many nodes that none knows all of them. Some send wrong bytes, and two are killed at the end. */
async function readFromMany({ browser, folder, content }: Setting): Promise<Row[]> {
  const { items, records, prepared } = await content();
  const network = await Devnet.start(manyNodes, join(folder, 'many-nodes'), { records, lying });
  try {
    const way = `${manyNodes} nodes, of which ${lying.length} lie`;
    return [
      ...(await readInApp(browser, folder, network, items, prepared.pointer, way)),
      ...(await readFromNodes(
        browser,
        folder,
        network,
        items,
        prepared.pointer,
        items[2]!,
        `${way} → browser`,
      )),
    ];
  } finally {
    await network.stop();
  }
}

/** As `readFromMany`, from nodes that are not on loopback: Firefox uses no addresses of loopback for WebRTC. */
async function readFromManyInFirefox({ folder, content }: Setting): Promise<Row[]> {
  const { items, records, prepared } = await content();
  const link = await Link.start();
  try {
    const network = await Devnet.start(manyNodes, join(folder, 'many-nodes'), { records, lying, link });
    try {
      return [
        ...(await readInAppOfFirefox(folder, network, items, prepared.pointer)),
        // This kills two of the nodes.
        ...(await readInFirefox(folder, network, items, prepared.pointer, items[2]!)),
      ];
    } finally {
      await network.stop();
    }
  } finally {
    await link.stop();
  }
}

/** Makes all records, and compares what the network's code and Antway have in common. */
async function prepare(items: readonly Item[], records: string, site: Item): Promise<Prepared> {
  const paths = items.flatMap(({ path }) => path ?? []);
  const prepared = prepareRecords(records, paths, site.address);
  assert.deepEqual(
    prepared.files.map(({ address }) => address),
    items.filter(({ path }) => path).map(({ address }) => address),
    'the network’s own code and Antway publish a file under the same address',
  );
  const seeds = await readFile(fromRoot('peer/src/network/mainnet.txt'), 'utf8');
  assert.deepEqual(
    seeds.split('\n').filter((line) => line.startsWith('/')),
    prepared.mainnet,
    'the bootstrap nodes of mainnet are those of the network’s own code',
  );
  return prepared;
}

/** A peer whose bootstrap nodes do not exist yet. */
async function runWithoutNetwork(peer: NetworkPeer): Promise<Row[]> {
  const step = 'peer without a network';
  const timed = async (item: string, run: () => Promise<unknown>) => {
    const startedMs = performance.now();
    await run();
    return { step, item, seconds: seconds(startedMs) };
  };
  const bytes = noise(7, 50_000);
  const stored = await storeChunk(peer, bytes);
  return [
    await timed('a stored chunk', async () => {
      assert.equal((await fetch(`${peer.url}/chunk/${stored}`)).status, 200);
    }),
    await timed('says that it is disconnected', async () => {
      const { name, problem } = await peer.reached('disconnected');
      assert.deepEqual(
        { name, problem },
        { name: 'test-network', problem: 'none of the 1 bootstrap nodes answered' },
      );
    }),
    await timed('a chunk that it does not have', async () => {
      const response = await fetch(`${peer.url}/chunk/${randomAddress()}`);
      assert.notEqual(response.status, 404, 'a peer without a network does not know what is absent');
      assert.ok(response.status >= 500, await response.text());
    }),
  ];
}

async function storeChunk(peer: NetworkPeer, bytes: Uint8Array): Promise<string> {
  const address = Buffer.from(blake3(bytes)).toString('hex');
  await peer.process.put(address, bytes);
  return address;
}

/** The first hop: every chunk of an item, from a peer that has none. */
async function pull(peer: NetworkPeer, item: Item, onChunk?: (read: number) => void): Promise<Row> {
  const startedMs = performance.now();
  const bytes = await peer.read(item, onChunk);
  const name = `${item.name}, ${item.chunks.size} chunks`;
  return { step: 'node → peer', item: name, bytes, seconds: seconds(startedMs) };
}

/** The nodes hold two states of the pointer. Only the newest one is right. */
async function readPointer(
  peer: NetworkPeer,
  { address, record }: { address: string; record: string },
): Promise<Row> {
  const startedMs = performance.now();
  const { status, body } = await peer.get(`/pointer/${address}`);
  assert.equal(status, 200, new TextDecoder().decode(body));
  assert.equal(Buffer.from(body).toString('hex'), record, 'the newest record of the pointer');
  return { step: 'node → peer', item: 'the pointer', bytes: body.length, seconds: seconds(startedMs) };
}

/** Addresses without a record. The answer is final, so the peer has to be sure. */
async function readAbsentChunks(peer: NetworkPeer): Promise<Row> {
  const times: number[] = [];
  for (let i = 0; i < absentAddresses; i++) {
    const startedMs = performance.now();
    const { status } = await peer.get(`/chunk/${randomAddress()}`);
    assert.equal(status, 404);
    times.push(seconds(startedMs));
  }
  return { step: 'node → peer', item: 'an absent address: 404 (median)', seconds: median(times) };
}

/** Three of the nodes work only for a tenth of the time. */
async function pullFromSlowNodes(network: Devnet, peer: NetworkPeer, item: Item): Promise<Row> {
  await peer.reached('connected');
  return whileSlow(network, async (step) => ({ ...(await pull(peer, item)), step: `node → peer, ${step}` }));
}

/** @param run gets the words for the row's step. */
async function whileSlow(network: Devnet, run: (step: string) => Promise<Row>): Promise<Row> {
  const slow = network.nodes.slice(2);
  for (const node of slow) node.slowDown();
  try {
    return await run(`${slow.length} of ${nodes} nodes slow`);
  } finally {
    for (const node of slow) node.speedUp();
  }
}

/** Two of the nodes are killed, one of them a bootstrap node, when a quarter of the chunks has arrived. */
async function pullFromDyingNodes(network: Devnet, peer: NetworkPeer, item: Item): Promise<Row> {
  await peer.reached('connected');
  const dying = [network.nodes[0]!, network.nodes[3]!];
  const ends: Promise<void>[] = [];
  const row = await pull(peer, item, (read) => {
    if (read === Math.floor(item.chunks.size / 4)) ends.push(...dying.map((node) => node.kill()));
  });
  assert.equal(ends.length, dying.length, 'the nodes ended during the download');
  await Promise.all(ends);
  return { ...row, step: `node → peer, ${dying.length} of ${nodes} nodes killed meanwhile` };
}

async function freePort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  await once(socket, 'close');
  return port;
}

function randomAddress(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex');
}
