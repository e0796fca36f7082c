import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from '@playwright/test';
import { markdownTable, median } from '../../perf/numbers.ts';
import { programs } from './build.ts';
import type { Item } from './content.ts';
import { Devnet, killAll } from './devnet.ts';
import { DirectHost } from './direct.ts';
import { Link } from './link.ts';
import { NetworkPeer } from './network-peer.ts';

const nodeCount = 25;
const roundTrips = [0, 50, 150];
/** How often each client reads. */
const runs = { small: 3, film: 1 };

/** How a client read chunks of an item, with new connections. */
interface Read {
  /** From the start of the client until the first chunk was there, and until all were there. */
  firstMs: number;
  allMs: number;
}

type Client = 'native' | 'browser' | 'peer';

/**
 * Compares a browser that reads from nodes at a distance with the network's own client, and with a peer at the side of the
 * browser. First all nodes live, and then a third of them is killed.
 * @returns a table in Markdown.
 */
export async function compareAtDistance(
  browser: Browser,
  folder: string,
  items: readonly Item[],
  records: string,
): Promise<string> {
  const stops: (() => Promise<void>)[] = [];
  try {
    const link = await Link.start();
    stops.push(() => link.stop());
    const network = await Devnet.start(nodeCount, join(folder, 'distant-nodes'), { records, link });
    stops.push(() => network.stop());
    const host = await DirectHost.start(browser, folder);
    stops.push(() => host.stop());
    const [small, , film] = items as [Item, Item, Item];
    const bootstrapFile = join(folder, 'distant-network.txt');
    await writeFile(bootstrapFile, `${network.bootstrap.join('\n')}\n`);
    const clients: Record<Client, (item: Item) => Promise<Read>> = {
      native: (item) => readNatively(network, item),
      browser: (item) => readInPage(host, network, item),
      peer: (item) => readByPeer(bootstrapFile, item),
    };

    const rows: string[][] = [];
    for (const dead of [0, Math.floor(nodeCount / 3)]) {
      // Not the first ones, which all clients know.
      await killAll(network.nodes.slice(2, 2 + dead));
      for (const roundTrip of roundTrips) {
        await link.setRoundTrip(roundTrip);
        const reads = {
          small: await readAll(clients, small, runs.small),
          film: await readAll(clients, film, runs.film),
        };
        for (const client of Object.keys(clients) as Client[]) {
          const time = (read: Read[]) => (median(read.map(({ allMs }) => allMs)) / 1000).toFixed(2);
          const first = median(reads.film[client].map(({ firstMs }) => firstMs)) / 1000;
          const rate = (of: Client) => bytesOf(film) / 1e3 / median(reads.film[of].map(({ allMs }) => allMs));
          const smallRatio =
            median(reads.small[client].map(({ allMs }) => allMs)) /
            median(reads.small.native.map(({ allMs }) => allMs));
          rows.push([
            String(roundTrip),
            String(dead),
            client,
            `${time(reads.small[client])} (${smallRatio.toFixed(2)})`,
            first.toFixed(2),
            `${rate(client).toFixed(1)} (${(rate(client) / rate('native')).toFixed(2)})`,
          ]);
          console.log(rows.at(-1)!.join(' | '));
        }
      }
    }
    return markdownTable([
      [
        'round trip, ms',
        `dead of ${nodeCount}`,
        'client',
        'small file, s (× native)',
        'first chunk of the film, s',
        'film, MB/s (× native)',
      ],
      ...rows,
    ]);
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

/** All clients read an item in turn, so many times. */
async function readAll(
  clients: Record<Client, (item: Item) => Promise<Read>>,
  item: Item,
  runs: number,
): Promise<Record<Client, Read[]>> {
  const reads: Record<Client, Read[]> = { native: [], browser: [], peer: [] };
  for (let run = 0; run < runs; run++) {
    for (const client of Object.keys(clients) as Client[]) reads[client].push(await clients[client](item));
  }
  return reads;
}

const bytesOf = ({ chunks }: Item) => [...chunks.values()].reduce((sum, { length }) => sum + length, 0);

async function readNatively(network: Devnet, item: Item): Promise<Read> {
  const args = ['read', ...network.bootstrap.flatMap((address) => ['--bootstrap', address])];
  const { stdout } = await promisify(execFile)(programs.devnet, [...args, ...item.chunks.keys()]);
  const { connectMs, firstChunkMs, milliseconds, bytes } = JSON.parse(stdout) as Record<string, number>;
  assert.equal(bytes, bytesOf(item));
  return { firstMs: connectMs! + firstChunkMs!, allMs: connectMs! + milliseconds! };
}

async function readInPage(host: DirectHost, network: Devnet, item: Item): Promise<Read> {
  return host.withPage(network, async (page) => {
    const read = await page.evaluate((chunks) => directPage.readChunks(chunks), [...item.chunks.keys()]);
    assert.equal(read.bytes, bytesOf(item));
    return { firstMs: read.firstChunkMs, allMs: read.milliseconds };
  });
}

/** A new peer has nothing. Its connections are there before the first request, as those of a peer that runs for long. */
async function readByPeer(bootstrapFile: string, item: Item): Promise<Read> {
  const peer = await NetworkPeer.start(bootstrapFile);
  try {
    await peer.reached('connected');
    const startedMs = performance.now();
    let firstMs = 0;
    const bytes = await peer.read(item, (read) => {
      if (read === 1) firstMs = performance.now() - startedMs;
    });
    assert.equal(bytes, bytesOf(item));
    return { firstMs, allMs: performance.now() - startedMs };
  } finally {
    await peer.stop();
  }
}
