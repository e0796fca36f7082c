// `pnpm perf:first-picture`: from the first visit with an empty profile to the first picture of the sample site.
import { mkdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser } from '@playwright/test';
import { listFolder } from '../../src/cli/folder.ts';
import { distFolder, fromRoot } from '../../tests/support/paths.ts';
import { PeerProcess } from '../../tests/support/peer-process.ts';
import { viewed } from '../../tests/support/viewer.ts';
import { launchBrowser } from '../browser.ts';
import { describeMachine, machineLine } from '../machine.ts';
import { markdownTable, median, spread } from '../numbers.ts';
import { publishSite } from '../publish-site.ts';

const usage = `pnpm perf:first-picture [options]
  --rounds 9          of each way, in turns, each with a new profile`;

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '9' }, help: { type: 'boolean', default: false } },
});

/** How sites are isolated, and the host name of the gateway for it. */
const ways = { 'one origin': '127.0.0.1', 'own origins': 'antway.localhost' };
const resultsFolder = fromRoot('test-results/perf');

/** In milliseconds, since the navigation began. */
interface Visit {
  /** The link to the sample site is there, with its cover. */
  cover: number;
  /** The first picture of the site is decoded. */
  picture: number;
  load: number;
}

if (values.help) console.log(usage);
else await main();

async function main(): Promise<void> {
  const browser = await launchBrowser();
  const peer = await PeerProcess.start();
  await mkdir(resultsFolder, { recursive: true });
  try {
    const machine = describeMachine(browser);
    const { entries } = await listFolder(fromRoot('tests/sites/sample'), []);
    const { address } = await publishSite(peer, entries);
    const pictures = { icon: 'assets/img/limpet.svg', cover: 'assets/img/shore.svg' };
    const sample = { title: 'Low Tide', address: address.hex, ...pictures };
    const config = join(resultsFolder, 'first-picture-config.json');
    await writeFile(config, JSON.stringify({ peers: [peer.url], sample }));
    const host = await PeerProcess.start({
      flags: ['--web', distFolder, '--web-config', config],
      webTransport: 'none',
    });
    const visits = new Map<string, Visit[]>(Object.keys(ways).map((way) => [way, []]));
    try {
      // The first round warms up the browser and the files.
      for (let round = 0; round <= Number(values.rounds); round++) {
        for (const [way, name] of Object.entries(ways)) {
          const visit = await firstVisit(browser, host.url.replace('127.0.0.1', name));
          if (round > 0) visits.get(way)!.push(visit);
        }
      }
    } finally {
      await host.stop();
    }
    const rows = [...visits].map(([way, all]) => [
      way,
      ...(['cover', 'picture'] as const).map((part) => cell(all.map((visit) => visit[part]))),
      cell(all.map(({ cover, picture }) => picture - cover)),
      spread(all.map(({ load }) => load)),
    ]);
    const head = ['sites have', 'start page with cover', 'first picture', 'of which after the click', 'load'];
    const text = `${machineLine(machine)} Milliseconds: median (range) of ${values.rounds} first visits.\n\n${markdownTable([head, ...rows])}\n`;
    console.log(`\n${text}`);
    await writeFile(join(resultsFolder, 'first-picture.md'), text);
    await writeFile(
      join(resultsFolder, 'first-picture.json'),
      JSON.stringify({ machine, visits: Object.fromEntries(visits) }, null, 2),
    );
  } finally {
    await browser.close();
    await peer.stop();
  }
}

/** A visit with an empty profile, and one click. The times include those of the browser's remote control. */
async function firstVisit(browser: Browser, url: string): Promise<Visit> {
  const context = await browser.newContext({ locale: 'en' });
  try {
    const page = await context.newPage();
    const [load] = loadavg() as [number];
    const start = performance.now();
    await page.goto(url, { waitUntil: 'commit' });
    const link = page.getByRole('link', { name: 'Open the sample site' });
    await link.locator('img').evaluate((image: HTMLImageElement) => image.decode());
    const cover = performance.now() - start;
    await link.click();
    const picture = viewed(page).locator('main img').first();
    await picture.evaluate((image: HTMLImageElement) => image.decode());
    return { cover, picture: performance.now() - start, load };
  } finally {
    await context.close();
  }
}

function cell(times: readonly number[]): string {
  return `${Math.round(median(times))} (${spread(times)})`;
}
