// `pnpm perf:store`: the chunk store by itself. `--full` takes 20,000 small chunks and 4 GiB of large ones, `--firefox`
// that browser. No time makes it fail; a chunk that is not there, a wrong total and an exceeded ceiling do.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'vite';
import { fromRoot } from '../../tests/support/paths.ts';
import { PeerProcess } from '../../tests/support/peer-process.ts';
import { describeMachine, machineLine } from '../machine.ts';
import { markdownTable, median } from '../numbers.ts';
import { launchChromium, launchFirefox } from './browsers.ts';
import type { Measurement } from './worker.ts';

const { values } = parseArgs({
  options: { full: { type: 'boolean', default: false }, firefox: { type: 'boolean', default: false } },
});
const kibibyte = 1024;
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
/** Sizes for which Blobs and buffers are compared, in KiB. */
const valueSizes = [1, 64, 256, 512, 1024, 4096];
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
const browser = await (values.firefox ? launchFirefox : launchChromium)(join(folder, 'profile'));
try {
  const machine = describeMachine(browser.name);
  const results: { name: string; measurements: Record<string, Measurement> }[] = [];
  for (const { name, ...shape } of shapes) {
    const tab = await browser.open(host.url);
    const few = { values: Math.min(shape.chunks, shape.chunkBytes > mebibyte ? 48 : 800) };
    const measurements = {
      transactions: await tab.measure({ what: 'transactions', ...few, valueBytes: shape.chunkBytes }),
      fill: await tab.measure({ what: 'fill', ...shape }),
      read: await tab.measure({ what: 'read', ...shape }),
      evict: await tab.measure({ what: 'evict' }),
    };
    results.push({ name, measurements });
    await tab.close();
  }
  const forms: { size: string; measurement: Measurement }[] = [];
  for (const size of valueSizes) {
    const tab = await browser.open(host.url);
    const measurement = await tab.measure({ what: 'blobs', values: 48, valueBytes: size * kibibyte });
    forms.push({ size: `${size} KiB`, measurement });
    await tab.close();
  }
  const rows = results.map(({ name, measurements: { transactions, fill, read, evict } }) => [
    name,
    (shapes.find((shape) => shape.name === name)!.chunks / (fill!.totalMs![0]! / 1000)).toFixed(0),
    percentiles(fill!.putMs!),
    percentiles(read!.getMs!),
    read!.openMs![0]!.toFixed(0),
    percentiles(read!.totalsMs!),
    read!.sizesMs![0]!.toFixed(0),
    (evict!.chunks![0]! / (evict!.totalMs![0]! / 1000)).toFixed(0),
    [fill, read, evict].map((each) => each!.stallMs![0]!.toFixed(0)).join(', '),
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
    'one transaction ÷ eight',
  ];
  const formRows = forms.map(({ size, measurement }) => [
    size,
    ...['Put', 'Get', 'Call'].flatMap((part) => {
      const [buffer, blob] = [measurement[`buffer${part}Ms`]!, measurement[`blob${part}Ms`]!];
      return [`${median(buffer).toFixed(1)}, ${median(blob).toFixed(1)}`, ratio(blob, buffer)];
    }),
  ]);
  const formHead = ['value', 'put', 'get', 'of put, without a break'].flatMap((part, i) =>
    i === 0 ? [part] : [`${part}: buffer, Blob ms`, 'Blob ÷ buffer'],
  );
  const tables = [markdownTable([head, ...rows]), markdownTable([formHead, ...formRows])];
  const text = `${machineLine(machine)}\n\n${tables.join('\n\n')}\n`;
  console.log(text);
  await mkdir(resultsFolder, { recursive: true });
  await writeFile(join(resultsFolder, 'store.md'), text);
  await writeFile(join(resultsFolder, 'store.json'), JSON.stringify({ machine, results, forms }, null, 2));
} finally {
  await browser.close();
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
