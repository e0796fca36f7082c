// `pnpm perf:smoke`: reading pictures through the gateway, beside what the browser can do at all. Fails when a byte
// is wrong or does not come from where it should; never because of a time.
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from '@playwright/test';
import { bufferAccess } from '../../src/self-encryption/file.ts';
import { Gateway, stopWorkers } from '../../tests/browser/harness.ts';
import { distFolder, fromRoot } from '../../tests/browser/paths.ts';
import { PeerProcess } from '../../tests/browser/peer.ts';
import { noise, publish } from '../../tests/browser/publish.ts';
import { launchBrowser } from '../browser.ts';
import { describeMachine, machineLine } from '../machine.ts';
import { publishSite } from '../publish-site.ts';
import { writeCeilingSite } from './ceiling-site.ts';
import { readAll } from './read.ts';
import { type Sample, smokeTable } from './report.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '7' } } });
const rounds = Number(values.rounds);
const picturesPerRound = 8;
const pictureBytes = 437_000;
const resultsFolder = fromRoot('test-results/perf');

/** The same pictures for a round as files, and as members of a tarchive. */
interface RoundContent {
  warmUp: string;
  files: string[];
  members: string[];
  sha256: string[];
}

const browser = await launchBrowser();
const folder = await mkdtemp(join(tmpdir(), 'antway-perf-'));
const processes: PeerProcess[] = [];
try {
  const machine = describeMachine(browser);
  const peer = await started();
  const contents: RoundContent[] = [];
  for (let round = 0; round < rounds; round++) contents.push(await publishRound(peer, round));

  const pictures = picturesOf(0);
  const site = join(folder, 'site');
  await writeCeilingSite(site, pictures);
  const server = await started({ flags: ['--web', site], webTransport: 'none' });
  const config = join(folder, 'antway.json');
  await writeFile(config, JSON.stringify({ peers: [peer.url] }));
  const web = join(folder, 'web');
  await cp(distFolder, web, { recursive: true }); // one build for all rounds, whoever builds meanwhile
  const host = await started({ flags: ['--web', web, '--web-config', config], webTransport: 'none' });

  const context = await browser.newContext();
  const gateway = await Gateway.open(host, await context.newPage());
  const staticPage = await context.newPage();
  await staticPage.goto(`${server.url}/static/index.html`);
  const ceilingPage = await openCeiling(await context.newPage(), server);

  const samples: Sample[] = [];
  for (const [round, content] of contents.entries()) {
    const sha256 = contents[0]!.sha256;
    const references = async () => {
      samples.push({ round, what: 'static', ...(await checked(staticPage, binPaths('static'), sha256)) });
      await readAll(ceilingPage, binPaths('ceiling')); // its worker may have been stopped, and its memory with it
      samples.push({ round, what: 'ceiling', ...(await checked(ceilingPage, binPaths('ceiling'), sha256)) });
    };
    // Which goes first takes turns.
    const shapes = [
      { what: 'files', paths: content.files },
      { what: 'tarchive', paths: content.members },
    ] as const;
    for (const { what, paths } of round % 2 === 0 ? shapes : shapes.toReversed()) {
      await references();
      for (const { state, ...read } of await readStates(gateway, content, paths)) {
        samples.push({ round, what: `${what}, ${state}`, ...read });
      }
    }
  }

  const text = `${machineLine(machine)}\n\n${smokeTable(samples, picturesPerRound * pictureBytes)}\n`;
  console.log(text);
  await mkdir(resultsFolder, { recursive: true });
  await writeFile(join(resultsFolder, 'smoke.md'), text);
  await writeFile(join(resultsFolder, 'smoke.json'), JSON.stringify({ machine, samples }, null, 2));
} finally {
  await browser.close();
  await Promise.all(processes.map((process) => process.stop()));
  await rm(folder, { recursive: true, force: true });
}

async function started(options?: Parameters<typeof PeerProcess.start>[0]): Promise<PeerProcess> {
  const process = await PeerProcess.start(options);
  processes.push(process);
  return process;
}

function picturesOf(round: number): Buffer[] {
  const bytes = noise(round + 1, picturesPerRound * pictureBytes);
  return Array.from({ length: picturesPerRound }, (_, i) =>
    bytes.subarray(i * pictureBytes, (i + 1) * pictureBytes),
  );
}

async function publishRound(peer: PeerProcess, round: number): Promise<RoundContent> {
  const pictures = picturesOf(round);
  const files: string[] = [];
  for (const picture of pictures) files.push(`/${await publish(picture, peer)}`);
  const names = pictures.map((_, i) => `picture-${i}.jpg`);
  const entries = pictures.map((picture, i) => ({ path: names[i]!, source: bufferAccess(picture) }));
  const { address } = await publishSite(peer, entries);
  return {
    warmUp: `/${await publish(noise(100 + round, 1_000), peer)}`,
    files,
    members: names.map((name) => `/${address.hex}/${name}`),
    sha256: pictures.map((picture) => createHash('sha256').update(picture).digest('hex')),
  };
}

function binPaths(part: string): string[] {
  return Array.from({ length: picturesPerRound }, (_, i) => `/${part}/${i}.bin`);
}

async function openCeiling(page: Page, server: PeerProcess): Promise<Page> {
  await page.goto(`${server.url}/ceiling/index.html`);
  await page.evaluate(() => navigator.serviceWorker.register('/ceiling/worker.js'));
  await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
  return page;
}

/** @throws Error when a byte is wrong. */
async function checked(page: Page, paths: readonly string[], sha256: readonly string[]) {
  const read = await readAll(page, paths);
  if (read.sha256.join() !== sha256.join()) throw new Error(`Wrong bytes for ${paths[0]} and the others.`);
  return { milliseconds: read.milliseconds };
}

/**
 * Reads cold (from the peer, by a session that is up), hot (from the worker's memory), and warm (from disk, by a
 * worker that has just started).
 */
async function readStates(gateway: Gateway, content: RoundContent, paths: readonly string[]) {
  const { shell } = gateway;
  const read = () => checked(shell, paths, content.sha256);
  await gateway.fetch(content.warmUp);
  const before = await gateway.stats();
  const cold = await read();
  await settled(gateway);
  const afterCold = await gateway.stats();
  const hot = await read();
  const afterHot = await gateway.stats();
  await stopWorkers(shell);
  const restarted = await gateway.stats();
  const warm = await read();
  const afterWarm = await gateway.stats();

  expectThat(fromPeers(afterCold) > fromPeers(before), 'a cold read asks the peer');
  expectThat(fromPeers(afterHot) === fromPeers(afterCold), 'a hot read asks no peer');
  expectThat(afterHot.chunks.disk.count === afterCold.chunks.disk.count, 'a hot read is not from disk');
  expectThat(restarted.startedAt > afterHot.startedAt, 'a stopped worker starts again');
  expectThat(fromPeers(afterWarm) === 0, 'a warm read asks no peer');
  expectThat(afterWarm.chunks.disk.count > 0, 'a warm read is from disk');
  return [
    { state: 'cold', ...cold },
    { state: 'hot', ...hot },
    { state: 'warm', ...warm },
  ];
}

type Stats = Awaited<ReturnType<Gateway['stats']>>;

function fromPeers({ peers }: Stats): number {
  return peers.reduce((sum, { webtransport, http }) => sum + webtransport.chunks + http.chunks, 0);
}

/** Resolves when nothing is sent any more, and what came is on disk: the counters stand still for a while. */
async function settled(gateway: Gateway): Promise<void> {
  let stored = -1;
  for (;;) {
    const { requests, chunks } = await gateway.stats();
    if (requests.active === 0 && chunks.stored.count === stored) return;
    stored = chunks.stored.count;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function expectThat(holds: boolean, what: string): void {
  if (!holds) throw new Error(`It should be, and is not: ${what}.`);
}
