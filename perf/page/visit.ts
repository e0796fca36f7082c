import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from '@playwright/test';
import { createTarchive } from '../../src/archive/create-tar.ts';
import { listFolder } from '../../src/cli/folder.ts';
import { bufferAccess } from '../../src/util/random-access.ts';
import { CountingProxy } from '../../tests/support/counting-proxy.ts';
import { freePort } from '../../tests/support/loopback-server.ts';
import { fromRoot } from '../../tests/support/paths.ts';
import { publish } from '../../tests/support/publish.ts';
import { firstVisit } from '../first-picture/first-visit.ts';
import { peerPorts } from '../link/relay-client.ts';
import { markdownTable, median, spread } from '../numbers.ts';
import { type Bench, type Cell, interleaved } from './bench.ts';
import { cell as timeCell } from './cold.ts';
import { StaticHosts } from './static-hosts.ts';

export interface Visit {
  /** From the first request to the site's first picture. */
  pictureMs: number;
  /** Of the gateway's files, or of the static host, until then. */
  fileBytes: number;
  /** All that arrived over the link until then, with the headers of all layers. */
  wireBytes: number;
  /** The same time for another site of the same profile afterwards. */
  secondMs: number;
}

export interface VisitMeasurement extends Cell {
  visits: Record<string, Visit[]>;
}

/** How long a user stays at the first site. The gateway's worker asks its host about names of sites anew after that. */
const readingMs = 11_000;

/** The baseline of all ratios. */
const baseline = 'static, HTTPS';

/** First visits of new profiles, and what another site takes afterwards. */
export async function measureVisits(bench: Bench, cell: Cell, rounds: number): Promise<VisitMeasurement> {
  const peer = await bench.peer();
  const hosts = await StaticHosts.start(bench.folder);
  bench.defer(() => hosts.stop());
  // The gateway shows the sample in its viewer, as it is not trusted.
  const sites = { sample: '', first: '', second: '' };
  const { entries } = await listFolder(fromRoot('tests/sites/sample'), []);
  for (const name of ['sample', 'first', 'second'] as const) {
    const source = bufferAccess(new TextEncoder().encode(name));
    sites[name] = await publish(createTarchive([...entries, { path: 'name.txt', source }]), peer);
    for (const { path, source } of entries) {
      hosts.add(`/${name}/${path}`, await source.read(0, source.size));
    }
  }
  const port = await freePort();
  // Only TCP goes through the counters. A gateway's chunks come by another port.
  const counters = await Promise.all(
    [port, hosts.httpPort, hosts.httpsPort].map((each) => CountingProxy.start(`http://127.0.0.1:${each}`)),
  );
  for (const counter of counters) bench.defer(async () => counter.close());
  const relay = await bench.relay(cell, {
    peers: [peerPorts(peer)],
    hosts: counters.map((counter) => counter.port),
  });
  const [gatewayPort, httpPort, httpsPort] = relay.ports.hosts as [number, number, number];
  const pictures = { icon: 'assets/img/limpet.svg', cover: 'assets/img/shore.svg' };
  await bench.gatewayHost(
    {
      peers: [`http://127.0.0.1:${relay.ports.peers[0]!.webtransport}`],
      sample: { title: 'Low Tide', address: sites.sample, ...pictures },
      trusted: [sites.first, sites.second],
    },
    { port },
  );
  const received = () => counters.reduce((sum, counter) => sum + counter.received, 0);
  const visit = (url: (site: 'first' | 'second') => string, open = openLink) => {
    return async (): Promise<Visit> => {
      const context = await bench.browser.newContext({ locale: 'en', ignoreHTTPSErrors: true });
      try {
        const page = await context.newPage();
        await reportPictures(page);
        const [filesBefore, wireBefore] = [received(), (await relay.tally()).down.bytes];
        const pictureMs = await open(page, url('first'));
        const fileBytes = received() - filesBefore;
        const wireBytes = (await relay.tally()).down.bytes - wireBefore;
        await delay(readingMs);
        return { pictureMs, fileBytes, wireBytes, secondMs: await openLink(page, url('second')) };
      } finally {
        await context.close();
      }
    };
  };
  const gateway = (name: string) => (site: 'first' | 'second') =>
    `http://${name}:${gatewayPort}/${sites[site]}/`;
  // The frame of a site without scripts reports nothing.
  const ofSample = (page: Page, url: string) =>
    firstPicture(page, async () => (await firstVisit(page, new URL('/', url).href)).picture);
  const visits = await interleaved(rounds, {
    'one origin, a link': visit(gateway('127.0.0.1')),
    'one origin, start page and click': visit(gateway('127.0.0.1'), ofSample),
    'own origins, a link': visit(gateway('antway.localhost')),
    'own origins, start page and click': visit(gateway('antway.localhost'), ofSample),
    [baseline]: visit((site) => `https://127.0.0.1:${httpsPort}/${site}/`),
    'static, HTTP/1.1': visit((site) => `http://127.0.0.1:${httpPort}/${site}/`),
  });
  return { ...cell, visits };
}

declare const pictureDecoded: (at: number) => void;

/** Listens to the time at which a page has decoded its first picture, in milliseconds since 1970. */
const listeners = new WeakMap<Page, (at: number) => void>();

/** Lets each page itself report its first picture. Playwright looks for it anew after a pause of up to half a second. */
async function reportPictures(page: Page): Promise<void> {
  await page.exposeFunction('pictureDecoded', (at: number) => listeners.get(page)?.(at));
  await page.addInitScript(() => {
    const look = () => {
      // The page that waits for the worker has a logo.
      const picture = document.querySelector<HTMLImageElement>('main img[src^="assets/"]');
      if (!picture) requestAnimationFrame(look);
      else void picture.decode().then(() => pictureDecoded(performance.timeOrigin + performance.now()));
    };
    requestAnimationFrame(look);
  });
}

/** @returns milliseconds until a page reports its first picture, or the result of `visit` if that is there before. */
async function firstPicture(page: Page, visit: () => Promise<unknown>): Promise<number> {
  const decoded = new Promise<number>((resolve) => listeners.set(page, resolve));
  const startedAt = Date.now();
  const visiting = visit();
  const reported = decoded.then((at) => at - startedAt);
  const seen = visiting.then((ms) => (typeof ms === 'number' ? ms : reported));
  const milliseconds = await Promise.race([reported, seen]);
  await visiting;
  return milliseconds;
}

/** @returns milliseconds until the first picture is decoded. */
function openLink(page: Page, url: string): Promise<number> {
  return firstPicture(page, async () => {
    await page.goto(url, { waitUntil: 'commit' });
  });
}

/** A row for each kind of visit, in Markdown. */
export function visitTable({ visits }: VisitMeasurement): string {
  const head = [
    'visit',
    'first picture ms',
    `× ${baseline}`,
    'files kB',
    'on the wire kB',
    'second site ms',
    `× ${baseline}`,
  ];
  const rows = Object.entries(visits).map(([name, all]) => {
    const ratio = (of: (visit: Visit) => number) => {
      const ratios = all.map((visit, round) => of(visit) / of(visits[baseline]![round]!));
      return `${median(ratios).toFixed(2)} (${spread(ratios, 2)})`;
    };
    const kilobytes = (of: (visit: Visit) => number) => (median(all.map(of)) / 1000).toFixed(0);
    return [
      name,
      timeCell(all.map(({ pictureMs }) => pictureMs)),
      ratio(({ pictureMs }) => pictureMs),
      kilobytes(({ fileBytes }) => fileBytes),
      kilobytes(({ wireBytes }) => wireBytes),
      timeCell(all.map(({ secondMs }) => secondMs)),
      ratio(({ secondMs }) => secondMs),
    ];
  });
  return markdownTable([head, ...rows]);
}
