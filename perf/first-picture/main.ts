// `pnpm perf:first-picture`: from the first visit with an empty profile to the first picture of the sample site.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser } from '@playwright/test';
import { listFolder } from '../../src/cli/folder.ts';
import { distFolder, fromRoot } from '../../tests/support/paths.ts';
import { PeerProcess } from '../../tests/support/peer-process.ts';
import { launchBrowser } from '../browser.ts';
import { describeMachine, machineLine } from '../machine.ts';
import { markdownTable, median, spread } from '../numbers.ts';
import { publishSite } from '../publish-site.ts';
import { firstVisit, type Visit } from './first-visit.ts';

const usage = `pnpm perf:first-picture [options]
  --rounds 9          of each way, in turns, each with a new profile`;

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '9' }, help: { type: 'boolean', default: false } },
});

/** How sites are isolated, and the host name of the gateway for it. */
const ways = { 'one origin': '127.0.0.1', 'own origins': 'antway.localhost' };
const resultsFolder = fromRoot('test-results/perf');

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
          const visit = await visitAnew(browser, host.url.replace('127.0.0.1', name));
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

/** A visit with an empty profile. */
async function visitAnew(browser: Browser, url: string): Promise<Visit> {
  const context = await browser.newContext({ locale: 'en' });
  try {
    return await firstVisit(await context.newPage(), url);
  } finally {
    await context.close();
  }
}

function cell(times: readonly number[]): string {
  return `${Math.round(median(times))} (${spread(times)})`;
}
