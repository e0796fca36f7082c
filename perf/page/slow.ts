import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from '@playwright/test';
import { decodeDataMap } from '../../src/self-encryption/data-map.ts';
import { Gateway } from '../../tests/support/chromium.ts';
import { infoProxy } from '../../tests/support/info-proxy.ts';
import { noise, publish } from '../../tests/support/publish.ts';
import { firstByteMs } from '../link/measure.ts';
import { peerPorts } from '../link/relay-client.ts';
import { markdownTable, median, spread } from '../numbers.ts';
import type { Bench, Cell } from './bench.ts';
import { loadPage, type PageLoad, timesOf } from './load-page.ts';
import { filesPerPage, publishSite } from './site.ts';
import { type Lookup, SlowNetwork } from './slow-network.ts';

/** The view of the first user of a site. Times are in milliseconds since the navigation began. */
interface FirstUse extends PageLoad {
  /** Something is there to read: the progress page, or the content. */
  answerMs: number;
  /** Titles of the error pages that the user reloaded. */
  errors: string[];
  /** The network has given the map, and the chunks with the index and the document. */
  neededMs: number;
  /** The network has given all chunks. */
  foundMs: number;
  chunks: number;
  lookups: number;
  failedLookups: number;
  repeatedLookups: number;
}

export interface SlowMeasurement {
  /** Share of lookups that fail. */
  failing: number;
  first: FirstUse[];
  /** A user of the same peer afterwards, and one of a peer that has stored the site. */
  second: PageLoad[];
  stored: PageLoad[];
}

const times = { medianMs: 5_000, p90Ms: 13_000 };
/** How long a user looks at an error page before a reload. */
const errorMs = 2_000;

/** A page whose chunks the peer has to look up in a network as slow as the live one. */
export async function measureSlow(bench: Bench, cell: Cell, rounds: number): Promise<SlowMeasurement[]> {
  const measurements: SlowMeasurement[] = [];
  for (const failing of [0, 1 / 3]) {
    measurements.push(await measureNetwork(bench, cell, rounds, failing));
    console.error(slowTable(measurements.slice(-1)));
  }
  return measurements;
}

async function measureNetwork(
  bench: Bench,
  cell: Cell,
  rounds: number,
  failing: number,
): Promise<SlowMeasurement> {
  const network = await SlowNetwork.start({ ...times, failing, seed: 7 });
  bench.defer(() => network.stop());
  const stored = await bench.peer();
  const peer = await bench.peer({ flags: ['--upstream', network.upstream] });
  // Only the client of the real network says so itself.
  const described = await infoProxy(peer.url, (info) => ({
    ...info,
    network: { name: 'simulated', state: 'connected', peers: 20 },
  }));
  bench.defer(() => described.stop());
  const relay = await bench.relay(cell, {
    peers: [{ ...peerPorts(peer), httpPort: described.port }, peerPorts(stored)],
  });
  const [ofNetwork, ofStored] = relay.ports.peers.map(
    ({ webtransport }) => `http://127.0.0.1:${webtransport}`,
  );
  const measurement: SlowMeasurement = { failing, first: [], second: [], stored: [] };
  for (let round = 0; round < rounds; round++) {
    const { address } = await publishSite(100 + round, network, stored);
    const warmUp = `/${await publish(noise(round, 700), peer, stored)}`;
    const open = async (peerUrl: string) => {
      const host = await bench.gatewayHost({ peers: [peerUrl], trusted: [address], isolation: 'path' });
      const context = await bench.browser.newContext();
      const page = await context.newPage();
      await Gateway.open(host, page);
      await firstByteMs(page, warmUp);
      return { page, url: `${host.url}/${address}/`, close: () => context.close() };
    };
    const first = await open(ofNetwork!);
    measurement.first.push(await firstUse(first.page, first.url, address, network));
    await first.close();
    const others = [
      [measurement.second, ofNetwork!],
      [measurement.stored, ofStored!],
    ] as const;
    for (const [loads, peerUrl] of round % 2 === 0 ? others : others.toReversed()) {
      const { page, url, close } = await open(peerUrl);
      loads.push(await loadPage(page, url, filesPerPage));
      await close();
    }
  }
  await relay.stop();
  return measurement;
}

async function firstUse(page: Page, url: string, address: string, network: SlowNetwork): Promise<FirstUse> {
  const startedAt = Date.now();
  await page.goto(url, { waitUntil: 'commit' });
  const answerMs = Date.now() - startedAt;
  const errors: string[] = [];
  for (;;) {
    const { title, isError } = await shown(page);
    if (title === 'Page') break;
    if (isError) {
      errors.push(title);
      await delay(errorMs);
      await page.reload();
    }
    await delay(50);
  }
  await page.waitForLoadState('load');
  const load = await timesOf(page, filesPerPage);
  const sinceStart = (await page.evaluate(() => performance.timeOrigin)) - startedAt;
  const map = decodeDataMap(network.record(address))!;
  const chunks = Array.from({ length: map.count }, (_, i) => map.address(i).hex);
  const own = new Set([address, ...chunks]);
  const lookups = network.lookups.filter((lookup) => own.has(lookup.address));
  const foundAt = (wanted: readonly string[]) =>
    Math.max(...lookups.filter(isFoundOf(wanted)).map(({ endedAt }) => endedAt)) - startedAt;
  return {
    answerMs,
    errors,
    firstByteMs: sinceStart + load.firstByteMs,
    firstPaintMs: sinceStart + load.firstPaintMs,
    completeMs: sinceStart + load.completeMs,
    // The archive is sorted by path, so the document is in the first chunk, and its index is in the last one.
    neededMs: foundAt([address, chunks[0]!, chunks.at(-1)!]),
    foundMs: foundAt([...own]),
    chunks: own.size,
    lookups: lookups.length,
    failedLookups: lookups.filter(({ isFound }) => !isFound).length,
    repeatedLookups: lookups.filter(({ isRepeated }) => isRepeated).length,
  };
}

/** Describes the page that the user sees. */
async function shown(page: Page): Promise<{ title: string; isError: boolean }> {
  try {
    return await page.evaluate(() => {
      const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
      const isProgress = document.querySelector('progress') !== null;
      const isComplete = document.readyState !== 'loading';
      const isError = isComplete && navigation!.responseStatus >= 400 && !isProgress;
      return { title: document.title, isError };
    });
  } catch {
    // The page reloads itself meanwhile.
    return { title: '', isError: false };
  }
}

function isFoundOf(addresses: readonly string[]): (lookup: Lookup) => boolean {
  return ({ address, isFound }) => isFound && addresses.includes(address);
}

/** A row for each network, in Markdown. */
export function slowTable(measurements: readonly SlowMeasurement[]): string {
  const head = [
    'lookups that fail',
    'first answer s',
    'first paint s',
    '… after its chunks s',
    'complete s',
    '… after all chunks s',
    'error pages',
    'lookups ÷ chunks',
    'of them after a failure',
    'repeated',
    'second user: complete ms',
    '× a peer that has it',
  ];
  const rows = measurements.map(({ failing, first, second, stored }) => {
    const ratios = second.map(({ completeMs }, round) => completeMs / stored[round]!.completeMs);
    const sum = (of: (use: FirstUse) => number) => first.reduce((total, use) => total + of(use), 0);
    return [
      `${(100 * failing).toFixed(0)} %`,
      seconds(first.map(({ answerMs }) => answerMs)),
      seconds(first.map(({ firstPaintMs }) => firstPaintMs)),
      seconds(first.map(({ firstPaintMs, neededMs }) => firstPaintMs - neededMs)),
      seconds(first.map(({ completeMs }) => completeMs)),
      seconds(first.map(({ completeMs, foundMs }) => completeMs - foundMs)),
      String(sum(({ errors }) => errors.length)),
      `${sum(({ lookups }) => lookups)} ÷ ${sum(({ chunks }) => chunks)}`,
      String(sum(({ failedLookups }) => failedLookups)),
      String(sum(({ repeatedLookups }) => repeatedLookups)),
      `${median(second.map(({ completeMs }) => completeMs)).toFixed(0)}`,
      `${median(ratios).toFixed(2)} (${spread(ratios, 2)})`,
    ];
  });
  return markdownTable([head, ...rows]);
}

function seconds(milliseconds: readonly number[]): string {
  const each = milliseconds.map((ms) => ms / 1000);
  return `${median(each).toFixed(1)} (${spread(each, 1)})`;
}
