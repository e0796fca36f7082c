// `pnpm perf:gets`: many small chunks at once over WebTransport: a stream for each, and several to a stream.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Browser } from '@playwright/test';
import { Gateway } from '../../tests/support/chromium.ts';
import { type ManyChunks, publishManyChunks } from '../../tests/support/many-chunks.ts';
import { distFolder, fromRoot } from '../../tests/support/paths.ts';
import { PeerProcess } from '../../tests/support/peer-process.ts';
import { expectPin, pinAction } from '../../tests/support/pins.ts';
import { noise } from '../../tests/support/publish.ts';
import { launchBrowser } from '../browser.ts';
import { peerPorts, RelayClient } from '../link/relay-client.ts';
import { describeMachine, machineLine } from '../machine.ts';
import { markdownTable, median, spread } from '../numbers.ts';
import { type Ask, fetchAll } from './page.ts';

const usage = `pnpm perf:gets [options]
  --chunks 1000       of 1 to 4 KB
  --rounds 5          of each way, in turns
  --rtt 0,50          round trips, ms; 0 is loopback without a relay
  --rate 100          Mbit/s of a link
  --at-once 64        chunks asked for at a time
  --builds dist       folders of built gateways, in which a site of small files is pinned`;

const { values } = parseArgs({
  options: {
    chunks: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '5' },
    rtt: { type: 'string', default: '0,50' },
    rate: { type: 'string', default: '100' },
    'at-once': { type: 'string', default: '64' },
    builds: { type: 'string', default: distFolder },
    help: { type: 'boolean', default: false },
  },
});

/** Addresses to a stream. */
const ways = [1, 8, 64];
const resultsFolder = fromRoot('test-results/perf');

if (values.help) console.log(usage);
else await main();

async function main(): Promise<void> {
  const browser = await launchBrowser();
  const peer = await PeerProcess.start();
  try {
    const addresses: string[] = [];
    for (let seed = 1; seed <= Number(values.chunks); seed++) {
      const chunk = noise(seed, 1_000 + ((seed * 7919) % 3_000));
      const address = bytesToHex(blake3(chunk));
      await peer.put(address, chunk);
      addresses.push(address);
    }
    const site = await publishManyChunks(peer, Number(values.chunks));
    const rows: string[][] = [];
    const pinRows: string[][] = [];
    for (const rttMs of values.rtt.split(',').map(Number)) {
      const relay = rttMs ? await startRelay(peer, rttMs) : undefined;
      const relayed = relay?.ports.peers[0]?.webtransport;
      try {
        pinRows.push(...(await pinTimes(browser, relayed ?? portOf(peer), rttMs, site)));
        const info = await fetch(`http://127.0.0.1:${relayed ?? portOf(peer)}/-/info`);
        const { webTransport } = (await info.json()) as { webTransport: { port: number } };
        const page = await browser.newPage();
        await page.goto(`${peer.url}/-/info`);
        const times = ways.map((): number[] => []);
        const run = (toStream: number) => {
          const ask: Ask = {
            url: `https://127.0.0.1:${webTransport.port}/v1`,
            certificateHashes: peer.listening.certificateHashes,
            addresses,
            toStream,
            atOnce: Number(values['at-once']),
          };
          return page.evaluate(fetchAll, ask);
        };
        await run(1); // warms caches of the disk and the browser
        for (let round = 0; round < Number(values.rounds); round++) {
          const order = [...ways.keys()];
          for (const way of round % 2 ? order.reverse() : order) times[way]!.push(await run(ways[way]!));
        }
        for (const [way, toStream] of ways.entries()) {
          rows.push([
            String(rttMs),
            String(toStream),
            median(times[way]!).toFixed(0),
            spread(times[way]!),
            median(times[way]!.map((ms, round) => ms / times[0]![round]!)).toFixed(2),
          ]);
        }
        await page.close();
      } finally {
        await relay?.stop();
      }
    }
    const head = [
      'RTT ms',
      'addresses to a stream',
      'ms, median',
      'spread',
      'of one to a stream, in the same round',
    ];
    const pinHead = ['RTT ms', 'build', 'pin ms, median', 'spread', 'of the first build, in the same round'];
    const tables = [markdownTable([head, ...rows]), markdownTable([pinHead, ...pinRows])];
    const text = `${machineLine(describeMachine(browser))}\n\n${tables.join('\n\n')}\n`;
    console.log(`\n${text}`);
    await mkdir(resultsFolder, { recursive: true });
    await writeFile(join(resultsFolder, 'gets.md'), text);
  } finally {
    await browser.close();
    await peer.stop();
  }
}

function portOf({ listening }: PeerProcess): number {
  return Number(new URL(listening.http).port);
}

function startRelay(peer: PeerProcess, rttMs: number): Promise<RelayClient> {
  return RelayClient.start({
    link: {
      delayMs: rttMs / 2,
      loss: 0,
      bitsPerSecond: Number(values.rate) * 1e6,
      queueMs: Math.max(rttMs, 50),
      seed: 1,
    },
    peers: [peerPorts(peer)],
    isRealTime: false,
  });
}

/** Pins the site in each build in turns, each time in a new profile. @returns rows of a table. */
async function pinTimes(
  browser: Browser,
  peerPort: number,
  rttMs: number,
  { address }: ManyChunks,
): Promise<string[][]> {
  const builds = values.builds.split(',');
  const times = builds.map((): number[] => []);
  const folder = await mkdtemp(join(tmpdir(), 'antway-gets-'));
  const config = join(folder, 'antway.json');
  await writeFile(config, JSON.stringify({ peers: [`http://127.0.0.1:${peerPort}`] }));
  try {
    for (let round = 0; round < Number(values.rounds); round++) {
      const order = [...builds.keys()];
      for (const build of round % 2 ? order.reverse() : order) {
        const flags = ['--web', builds[build]!, '--web-config', config];
        const host = await PeerProcess.start({ flags, webTransport: 'none' });
        const context = await browser.newContext();
        const { shell } = await Gateway.open(host, await context.newPage());
        const startedMs = performance.now();
        await pinAction(shell, address, 'pin');
        await expectPin(shell, address, { state: 'complete', activity: 'idle' });
        times[build]!.push(performance.now() - startedMs);
        await context.close();
        await host.stop();
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return builds.map((build, i) => [
    String(rttMs),
    build,
    median(times[i]!).toFixed(0),
    spread(times[i]!),
    median(times[i]!.map((ms, round) => ms / times[0]![round]!)).toFixed(2),
  ]);
}
