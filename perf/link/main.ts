// `pnpm perf:link`: reading from a peer that is far away, beside what the link could carry.
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Page } from '@playwright/test';
import { distFolder, fromRoot } from '../../tests/support/paths.ts';
import { PeerProcess } from '../../tests/support/peer-process.ts';
import { launchBrowser } from '../browser.ts';
import { describeMachine, machineLine } from '../machine.ts';
import { median } from '../numbers.ts';
import { type Content, publishContent, publishFile, type Site } from './content.ts';
import { firstByteMs, openWarm, type Transfer, transfer } from './measure.ts';
import { peerPorts, RelayClient } from './relay-client.ts';
import { type RelayTally, type TransportName, transports } from './relay-messages.ts';
import { linkTable } from './report.ts';

/** One link. */
export interface Cell {
  rttMs: number;
  lossPercent: number;
  mbitPerSecond: number;
}

/** A page's first byte: medians, over sites that were never read before. */
export interface FirstByte {
  milliseconds: number[];
  medianMs: number;
  /** One round trip, and the site's bytes at the link's rate. */
  limitMs: number;
  /** Bytes on the link divided by bytes of the sites. Headers and retransmissions make it more than 1. */
  carriedShare: number;
}

export interface LinkTransfer extends Transfer {
  /** The bytes that the page received. */
  mbitPerSecond: number;
  shareOfLink: number;
  /** Other bytes on the link: headers, retransmissions, and chunks that came too late. */
  onLinkMbitPerSecond: number;
}

export interface Measurement extends Cell {
  transport: TransportName;
  /** Not measured where OPEN is off, as it matters for the beginning alone, nor without a link. */
  transfer?: LinkTransfer;
  small: FirstByte;
  large: FirstByte;
  relay: RelayTally;
}

const usage = `pnpm perf:link [options]
  --rtt 20,50,100     round trips, ms
  --loss 0,1,3        loss in each direction, %
  --rate 20,100       Mbit/s
  --transports ${transports.join(',')}
  --seconds 45        size of the file: what the link carries in this time, at most 100 MB. Given up after twice that
  --repeats 5         pages of which the first byte is measured
  --queue <ms>        of the link; a round trip, and at least 50 ms, if not given
  --seed 1            of the loss
  --real-time         the relay goes before all other programs (Linux, root; needs chrt)
  --quick             two links, and a file of 8 s`;

const { values } = parseArgs({
  options: {
    rtt: { type: 'string', default: '20,50,100' },
    loss: { type: 'string', default: '0,1,3' },
    rate: { type: 'string', default: '20,100' },
    transports: { type: 'string', default: transports.join(',') },
    seconds: { type: 'string' },
    repeats: { type: 'string', default: '5' },
    queue: { type: 'string' },
    seed: { type: 'string', default: '1' },
    'real-time': { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const seconds = Number(values.seconds ?? (values.quick ? 8 : 45));
const repeats = Number(values.repeats);
const wantedTransports = transports.filter((transport) => values.transports.split(',').includes(transport));
const largestFileBytes = 100e6;
/** As good as no link: what the first byte takes here is service time. */
const nearby: Cell = { rttMs: 0, lossPercent: 0, mbitPerSecond: 1000 };
/** The generator of large files makes none below three chunks. */
const smallestFileBytes = 12.6e6;
const resultsFolder = fromRoot('test-results/perf');

if (values.help) console.log(usage);
else await main();

async function main(): Promise<void> {
  const browser = await launchBrowser();
  const peer = await PeerProcess.start();
  const folder = await mkdtemp(join(tmpdir(), 'antway-perf-'));
  try {
    const machine = describeMachine(browser);
    await cp(distFolder, webFolder(folder), { recursive: true }); // one build for all, even if another process builds meanwhile
    const content = await publishContent(peer, repeats);
    const measurements: Measurement[] = [];
    for (const cell of [nearby, ...cells()]) {
      const file = cell === nearby ? undefined : await publishFile(peer, fileBytes(cell));
      // Loss means nothing for TCP here, so HTTP is measured without.
      for (const transport of wantedTransports.filter(
        (transport) => transport !== 'http' || cell.lossPercent === 0,
      )) {
        const measurement = await measure({ browser, peer, folder, content, file, cell, transport });
        measurements.push(measurement);
        console.error(linkTable(measurements).split('\n').at(-1));
      }
    }
    const text = `${machineLine(machine)}\n\n${linkTable(measurements)}\n`;
    console.log(`\n${text}`);
    await mkdir(resultsFolder, { recursive: true });
    await writeFile(join(resultsFolder, 'link.md'), text);
    await writeFile(join(resultsFolder, 'link.json'), JSON.stringify({ machine, measurements }, null, 2));
  } finally {
    await browser.close();
    await peer.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Setting {
  browser: Browser;
  peer: PeerProcess;
  /** For the host's files. */
  folder: string;
  content: Content;
  /** Of which the throughput is measured, if it is. */
  file: string | undefined;
  cell: Cell;
  transport: TransportName;
}

async function measure({
  browser,
  peer,
  folder,
  content,
  file,
  cell,
  transport,
}: Setting): Promise<Measurement> {
  const relay = await RelayClient.start({
    link: {
      delayMs: cell.rttMs / 2,
      loss: cell.lossPercent / 100,
      bitsPerSecond: cell.mbitPerSecond * 1e6,
      queueMs: Number(values.queue ?? Math.max(cell.rttMs, 50)),
      seed: Number(values.seed),
    },
    peers: [peerPorts(peer)],
    isRealTime: values['real-time'],
  });
  const config = join(folder, 'antway.json');
  await writeFile(
    config,
    JSON.stringify({ peers: [`http://127.0.0.1:${relay.ports.peers[0]![transport]}`] }),
  );
  const host = await PeerProcess.start({
    flags: ['--web', webFolder(folder), '--web-config', config],
    webTransport: 'none',
  });
  // A profile of its own: nothing is stored, and no session is open.
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await openWarm(page, host, transport === 'http' ? 'http' : 'webtransport', content.warmUps);
    const firstByte = async (sites: Site[]): Promise<FirstByte> => {
      const before = await relay.tally();
      const milliseconds: number[] = [];
      for (const { path } of sites) milliseconds.push(await firstByteMs(page, path));
      const after = await relay.tally();
      const { bytes } = sites[0]!;
      return {
        milliseconds,
        medianMs: median(milliseconds),
        limitMs: cell.rttMs + (bytes * 8) / (cell.mbitPerSecond * 1000),
        carriedShare: (after.down.bytes - before.down.bytes) / (bytes * sites.length),
      };
    };
    const small = await firstByte(content.smallSites);
    const large = await firstByte(content.largeSites);
    const moved =
      file === undefined || transport === 'webtransport-get'
        ? undefined
        : await transferOver(relay, page, file, cell);
    return {
      ...cell,
      transport,
      ...(moved && { transfer: moved }),
      small,
      large,
      relay: await relay.tally(),
    };
  } finally {
    await context.close();
    await host.stop();
    await relay.stop();
  }
}

async function transferOver(relay: RelayClient, page: Page, file: string, cell: Cell): Promise<LinkTransfer> {
  const before = await relay.tally();
  const moved = await transfer(page, file, 2 * seconds * 1000);
  const after = await relay.tally();
  const megabits = (bytes: number) => (bytes * 8) / (moved.milliseconds * 1000);
  const mbitPerSecond = megabits(moved.bytes);
  return {
    ...moved,
    mbitPerSecond,
    shareOfLink: mbitPerSecond / cell.mbitPerSecond,
    onLinkMbitPerSecond: megabits(after.down.bytes - before.down.bytes),
  };
}

function webFolder(folder: string): string {
  return join(folder, 'web');
}

function fileBytes({ mbitPerSecond }: Cell): number {
  return Math.min(Math.max((mbitPerSecond * 1e6 * seconds) / 8, smallestFileBytes), largestFileBytes);
}

function cells(): Cell[] {
  if (values.quick) {
    return [
      { rttMs: 20, lossPercent: 0, mbitPerSecond: 100 },
      { rttMs: 50, lossPercent: 1, mbitPerSecond: 20 },
    ];
  }
  const numbers = (list: string) => list.split(',').map(Number);
  return numbers(values.rtt).flatMap((rttMs) =>
    numbers(values.rate).flatMap((mbitPerSecond) =>
      numbers(values.loss).map((lossPercent) => ({ rttMs, lossPercent, mbitPerSecond })),
    ),
  );
}
