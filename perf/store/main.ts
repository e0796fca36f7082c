// `pnpm perf:store`: the chunk store by itself. `--full` takes 20,000 small chunks and 4 GiB of large ones. No time makes
// it fail; a chunk that is not there, a total that is wrong and a ceiling that is not kept do.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from '@playwright/test';
import { build } from 'vite';
import playwright from '../../playwright.config.ts';
import { fromRoot } from '../../tests/browser/paths.ts';
import { PeerProcess } from '../../tests/browser/peer.ts';
import { describeMachine, machineLine } from '../machine.ts';
import { markdownTable, median } from '../numbers.ts';
import type { MeasuringPage } from './page.ts';
import type { Ask, Measurement } from './worker.ts';

const { values } = parseArgs({ options: { full: { type: 'boolean', default: false } } });
const mebibyte = 1024 ** 2;
const shapes = values.full
  ? [
      { name: '20,000 × 1 KiB', chunks: 20_000, chunkBytes: 1024, reads: 2_000 },
      { name: '1,024 × 4 MiB', chunks: 1_024, chunkBytes: 4 * mebibyte, reads: 200 },
    ]
  : [
      { name: '2,000 × 1 KiB', chunks: 2_000, chunkBytes: 1024, reads: 500 },
      { name: '32 × 4 MiB', chunks: 32, chunkBytes: 4 * mebibyte, reads: 32 },
    ];
const resultsFolder = fromRoot('test-results/perf');

const folder = await mkdtemp(join(tmpdir(), 'antway-perf-store-'));
const web = join(folder, 'web');
await build({
  configFile: false,
  root: fromRoot('perf/store'),
  logLevel: 'error',
  worker: { format: 'es' },
  build: { outDir: web, target: 'es2022', modulePreload: false },
});
const host = await PeerProcess.start({ flags: ['--web', web], webTransport: 'none' });
// A profile on disk: what is private to a window is kept in memory.
const context = await chromium.launchPersistentContext(
  join(folder, 'profile'),
  playwright.use!.launchOptions!,
);
try {
  const machine = describeMachine(context.browser()!);
  const results: { name: string; measurements: Record<string, Measurement> }[] = [];
  for (const { name, ...shape } of shapes) {
    const page = await context.newPage();
    await page.goto(host.url);
    await page.waitForFunction(() => 'measuringPage' in globalThis);
    await page.evaluate(async () => {
      for (const { name } of await indexedDB.databases()) indexedDB.deleteDatabase(name!);
    });
    const measure = (ask: Ask) =>
      page.evaluate(
        (ask) => (globalThis as unknown as { measuringPage: MeasuringPage }).measuringPage.measure(ask),
        ask,
      );
    const few = { values: Math.min(shape.chunks, shape.chunkBytes > mebibyte ? 48 : 800) };
    const measurements = {
      blobs: await measure({ what: 'blobs', ...few, valueBytes: shape.chunkBytes }),
      transactions: await measure({ what: 'transactions', ...few, valueBytes: shape.chunkBytes }),
      fill: await measure({ what: 'fill', ...shape }),
      read: await measure({ what: 'read', ...shape }),
      evict: await measure({ what: 'evict' }),
    };
    results.push({ name, measurements });
    await page.close();
  }
  const rows = results.map(({ name, measurements: { blobs, transactions, fill, read, evict } }) => [
    name,
    (shapes.find((shape) => shape.name === name)!.chunks / (fill!.totalMs![0]! / 1000)).toFixed(0),
    percentiles(fill!.putMs!),
    percentiles(read!.getMs!),
    read!.openMs![0]!.toFixed(0),
    percentiles(read!.totalsMs!),
    read!.sizesMs![0]!.toFixed(0),
    (evict!.chunks![0]! / (evict!.totalMs![0]! / 1000)).toFixed(0),
    [fill, read, evict].map((each) => each!.stallMs![0]!.toFixed(0)).join(', '),
    `${ratio(blobs!.blobPutMs!, blobs!.bufferPutMs!)}, ${ratio(blobs!.blobGetMs!, blobs!.bufferGetMs!)}`,
    ratio(transactions!.oneMs!, transactions!.eachMs!),
  ]);
  const head = [
    'chunks',
    'stored per s',
    'put ms, p50 / p95 / p99',
    'get ms, p50 / p95 / p99',
    'open and first get ms',
    'totals ms, p50 / p95 / p99',
    'all sizes ms',
    'evicted per s',
    'longest stall ms: fill, read, evict',
    'Blob ÷ buffer: put, get',
    'one transaction ÷ eight',
  ];
  const text = `${machineLine(machine)}\n\n${markdownTable([head, ...rows])}\n`;
  console.log(text);
  await mkdir(resultsFolder, { recursive: true });
  await writeFile(join(resultsFolder, 'store.md'), text);
  await writeFile(join(resultsFolder, 'store.json'), JSON.stringify({ machine, results }, null, 2));
} finally {
  await context.close();
  await host.stop();
  await rm(folder, { recursive: true, force: true });
}

function percentiles(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  return [0.5, 0.95, 0.99]
    .map((share) => sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)]!.toFixed(1))
    .join(' / ');
}

/** Of medians. */
function ratio(of: readonly number[], to: readonly number[]): string {
  return (median(of) / median(to)).toFixed(2);
}
