import type { BrowserContext, Page } from '@playwright/test';
import { Gateway } from '../../tests/support/chromium.ts';
import type { PeerProcess } from '../../tests/support/peer-process.ts';
import { noise, publish } from '../../tests/support/publish.ts';
import { firstByteMs } from '../link/measure.ts';
import { peerPorts } from '../link/relay-client.ts';
import { markdownTable, median, spread } from '../numbers.ts';
import { type Bench, type Cell, interleaved } from './bench.ts';
import { loadPage, type PageLoad } from './load-page.ts';
import { filesPerPage, publishSite, type Site } from './site.ts';
import { StaticHosts } from './static-hosts.ts';

interface ColdLoad extends PageLoad {
  /** On the link, with the headers of all layers. */
  wireBytes: number;
}

export interface ColdMeasurement extends Cell {
  /** Of the page's files, texts compressed: the median of all rounds. */
  pageBytes: number;
  /** Three round trips, and the page's bytes at the link's rate. */
  aimMs: number;
  loads: Record<string, ColdLoad[]>;
}

/** The page of the baseline of all ratios. */
const baseline = 'HTTPS, new connection';
const peerCount = 3;

/** A page of 30 files that the browser has never seen, beside the same files from an ordinary host. */
export async function measureCold(
  bench: Bench,
  cells: readonly Cell[],
  rounds: number,
): Promise<ColdMeasurement[]> {
  /** Of each build. */
  const peers = await Promise.all(
    bench.builds.map((build) => Promise.all(Array.from({ length: peerCount }, () => bench.peer({ build })))),
  );
  const allPeers = peers.flat();
  const hosts = await StaticHosts.start(bench.folder);
  bench.defer(() => hosts.stop());
  const sites: Site[] = [];
  const pageBytes: number[] = [];
  for (let seed = 0; seed <= rounds; seed++) {
    const site = await publishSite(1 + seed, ...allPeers);
    sites.push(site);
    const bytes = Array.from(site.files, ([path, file]) => hosts.add(`/${site.address}/${path}`, file));
    pageBytes.push(bytes.reduce((sum, each) => sum + each, 0));
  }
  hosts.add('/index.html', new Uint8Array());
  const warmUps: string[] = [];
  // One for each load, and enough to open the sessions with all peers.
  for (let i = 0; i < 2 * (rounds + 30); i++) warmUps.push(`/${await publish(warmUp(i), ...allPeers)}`);
  const measurements: ColdMeasurement[] = [];
  for (const cell of cells) {
    const loads = await measureCell(bench, { cell, rounds, peers, hosts, sites, warmUps });
    const bytes = median(pageBytes);
    const aimMs = 3 * cell.rttMs + (bytes * 8) / (cell.mbitPerSecond * 1000);
    measurements.push({ ...cell, pageBytes: bytes, aimMs, loads });
    console.error(coldTable(measurements.slice(-1)));
  }
  return measurements;
}

interface Setting {
  cell: Cell;
  rounds: number;
  peers: readonly (readonly PeerProcess[])[];
  hosts: StaticHosts;
  sites: readonly Site[];
  warmUps: readonly string[];
}

async function measureCell(
  bench: Bench,
  { cell, rounds, peers, hosts, sites, warmUps }: Setting,
): Promise<Record<string, ColdLoad[]>> {
  const relay = await bench.relay(cell, {
    peers: peers.flat().map(peerPorts),
    hosts: [hosts.httpPort, hosts.httpsPort],
  });
  const [httpPort, httpsPort] = relay.ports.hosts as [number, number];
  const contexts: BrowserContext[] = [];
  const pageOf = async (options = {}): Promise<Page> => {
    const context = await bench.browser.newContext(options);
    contexts.push(context);
    return context.newPage();
  };
  const counted = async (load: () => Promise<PageLoad>): Promise<ColdLoad> => {
    const before = await relay.tally();
    const times = await load();
    return { ...times, wireBytes: (await relay.tally()).down.bytes - before.down.bytes };
  };
  const gateway = async (index: number, count: number) => {
    const ports = relay.ports.peers.slice(index * peerCount, index * peerCount + count);
    const config = {
      peers: ports.map(({ webtransport }) => `http://127.0.0.1:${webtransport}`),
      trusted: sites.map(({ address }) => address),
      isolation: 'path' as const,
    };
    const host = await bench.gatewayHost(config, { build: bench.builds[index]! });
    const page = await pageOf();
    const records = warmUps[Symbol.iterator]();
    const warmUp = () => firstByteMs(page, records.next().value!);
    const opened = await Gateway.open(host, page);
    let states: string[] = [];
    for (let i = 0; i < 30 && !states.every((state) => state === 'webtransport'); i++) {
      await warmUp();
      states = (await opened.peers()).map(({ state }) => state);
    }
    if (!states.every((state) => state === 'webtransport')) throw new Error(`Peers are ${states}.`);
    return async (round: number) => {
      await warmUp();
      return counted(() => loadPage(page, `${host.url}/${sites[round]!.address}/`, filesPerPage));
    };
  };
  const pathOf = (round: number) => `/${sites[round]!.address}/index.html`;
  const ofNewConnection = (origin: string, nearby: string) => async (round: number) => {
    const page = await pageOf({ ignoreHTTPSErrors: true });
    // Starts the process for the page, and opens no connection over the link.
    await page.goto(nearby);
    const load = await counted(() => loadPage(page, origin + pathOf(round), filesPerPage));
    await page.context().close();
    return load;
  };
  const https = `https://127.0.0.1:${httpsPort}`;
  const ofOpenConnection = async () => {
    const page = await pageOf({ ignoreHTTPSErrors: true });
    return async (round: number) => {
      await page.goto(`${https}/?${round}`);
      return counted(() => loadPage(page, https + pathOf(round), filesPerPage));
    };
  };
  try {
    const gateways: Record<string, (round: number) => Promise<ColdLoad>> = {};
    for (const [index, build] of bench.builds.entries()) {
      const suffix = bench.builds.length > 1 ? `, build of ${build}` : '';
      gateways[`gateway, one peer${suffix}`] = await gateway(index, 1);
      gateways[`gateway, three peers${suffix}`] = await gateway(index, peerCount);
    }
    return await interleaved(rounds, {
      ...gateways,
      'HTTPS, open connection': await ofOpenConnection(),
      [baseline]: ofNewConnection(https, `https://127.0.0.1:${hosts.httpsPort}/`),
      'HTTP/1.1, new connection': ofNewConnection(
        `http://127.0.0.1:${httpPort}`,
        `http://127.0.0.1:${hosts.httpPort}/`,
      ),
    });
  } finally {
    for (const context of contexts) await context.close();
    await relay.stop();
  }
}

/** A small record that is different from the others. */
function warmUp(index: number): Uint8Array {
  return Buffer.concat([Buffer.from(`${index}`), noise(255, 600)]);
}

/** A row for each case of each link, in Markdown. */
export function coldTable(measurements: readonly ColdMeasurement[]): string {
  const head = [
    'RTT ms',
    'Mbit/s',
    'page by',
    'complete ms',
    'of the aim',
    '× HTTPS, new',
    'first byte ms',
    'first paint ms',
    'wire bytes ÷ page',
  ];
  const rows = measurements.flatMap(({ rttMs, mbitPerSecond, pageBytes, aimMs, loads }) =>
    Object.entries(loads).map(([name, all]) => {
      const complete = all.map(({ completeMs }) => completeMs);
      const ratios = complete.map((ms, round) => ms / loads[baseline]![round]!.completeMs);
      return [
        String(rttMs),
        String(mbitPerSecond),
        name,
        cell(complete),
        `${(median(complete) / aimMs).toFixed(2)} × ${aimMs.toFixed(0)}`,
        `${median(ratios).toFixed(2)} (${spread(ratios, 2)})`,
        cell(all.map(({ firstByteMs }) => firstByteMs)),
        cell(all.map(({ firstPaintMs }) => firstPaintMs)),
        (median(all.map(({ wireBytes }) => wireBytes)) / pageBytes).toFixed(2),
      ];
    }),
  );
  return markdownTable([head, ...rows]);
}

export function cell(milliseconds: readonly number[]): string {
  return `${median(milliseconds).toFixed(0)} (${spread(milliseconds)})`;
}
