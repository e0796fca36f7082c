// `npm run perf:nodes-memory`: the memory of the page with the connections to nodes, while 1 GB is read.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Browser, Frame, Page } from '@playwright/test';
import { build } from 'vite';
import { acceptElsewhere, NodeBrowser } from '../../tests/support/node-browser.ts';
import { fromRoot } from '../../tests/support/paths.ts';
import { StaticHost } from '../../tests/support/static-host.ts';
import { launchBrowser } from '../browser.ts';
import { describeMachine, machineLine } from '../machine.ts';
import { markdownTable, median } from '../numbers.ts';
import type { MemoryPage } from './memory-page/memory-page.ts';

declare const memoryPage: MemoryPage;

const { values } = parseArgs({ options: { megabytes: { type: 'string', default: '1000' } } });

const nodeCount = 7;
const chunkBytes = 4 * 1024 * 1024;
const chunkCount = 16;
const atOnce = 4;
const sampleMs = 500;
const busyMs = 2_000;
/** The most that the page's process should use, in bytes. */
const aimBytes = 100e6;

const times = Math.ceil((Number(values.megabytes) * 1e6) / (chunkBytes * chunkCount));
const folder = await mkdtemp(join(tmpdir(), 'antway-memory-page-'));
const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
try {
  await build({
    configFile: false,
    root: fromRoot('perf/nodes/memory-page'),
    logLevel: 'error',
    build: {
      outDir: folder,
      target: 'es2022',
      modulePreload: false,
      rolldownOptions: {
        input: ['index.html', 'reader.html'].map((name) => fromRoot(`perf/nodes/memory-page/${name}`)),
      },
    },
  });
  const host = await StaticHost.start({ folders: [folder] });
  stops.push(() => host.stop());
  const kinds = Array.from({ length: nodeCount }, () => 'honest' as const);
  const nodes = await NodeBrowser.start(
    kinds,
    Array.from({ length: chunkCount }, () => chunkBytes),
  );
  stops.push(() => nodes.stop());
  const browser = await launchBrowser();
  stops.push(() => browser.close());
  const page = await browser.newPage();
  await page.exposeFunction(acceptElsewhere, nodes.accept);
  await page.goto(host.url);
  await page.waitForFunction(() => 'memoryPage' in globalThis);
  // Another site than 127.0.0.1, so that Chromium gives the reader another process.
  await measure(browser, page, nodes, `${host.url.replace('127.0.0.1', 'localhost')}/reader.html`);
} finally {
  for (const stop of stops.toReversed()) await stop();
}

async function measure(browser: Browser, page: Page, nodes: NodeBrowser, reader: string): Promise<void> {
  const machine = describeMachine(browser);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const heapBytes = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'JSHeapUsedSize')!.value;
  };
  const process = await processOf(browser, page);
  const idle = { heap: await heapBytes(), process: privateBytes(process) };
  const reading = { chunks: nodes.chunks, times, atOnce };
  await page.evaluate(([nodes, reading, reader]) => memoryPage.read(nodes, reading, reader), [
    nodes.addresses,
    reading,
    reader,
  ] as const);
  const samples: { heap: number; process: number }[] = [];
  let progress = await page.evaluate(() => memoryPage.progress());
  while (!progress.isDone) {
    await sleep(sampleMs);
    samples.push({ heap: await heapBytes(), process: privateBytes(process) });
    progress = await page.evaluate(() => memoryPage.progress());
  }
  const { chunks, bytes, problems, milliseconds } = progress;
  assert.equal(chunks, times * chunkCount, 'all chunks were read');
  const megabytes = (value: number) => (value / 1e6).toFixed(1);
  const row = (what: string, before: number, values: readonly number[]) => [
    what,
    megabytes(before),
    megabytes(median(values)),
    megabytes(Math.max(...values)),
  ];
  const heaps = samples.map(({ heap }) => heap);
  const processes = samples.map((sample) => sample.process);
  const most = Math.max(...processes);
  const verdict = `The process used ${most <= aimBytes ? 'at most' : 'more than'} the ${megabytes(aimBytes)} MB that are the aim.`;
  const text = `${machineLine(machine)} ${(bytes / 1e6).toFixed(0)} MB in ${chunks} chunks from ${nodeCount} nodes, ${(milliseconds / 1000).toFixed(0)} s, ${(bytes / 1e3 / milliseconds).toFixed(1)} MB/s, ${samples.length} samples. ${problems.length} reads were tried again. ${verdict}

${markdownTable([
  ['MB', 'before', 'median', 'most'],
  row("the page's JavaScript heap", idle.heap, heaps),
  row("the page's process", idle.process, processes),
])}
`;
  console.log(text);
  const results = fromRoot('test-results/nodes');
  await mkdir(results, { recursive: true });
  await writeFile(join(results, 'memory.md'), text);
  const [frame] = page.frames().filter((each) => each !== page.mainFrame());
  assert.notEqual(await processOf(browser, frame!), process, 'the reader has a process of its own');
}

/** The id of the process of a document: the process that works while the document is busy. */
async function processOf(browser: Browser, frame: Pick<Frame, 'evaluate'>): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const renderers = async () => {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    return processInfo.filter(({ type }) => type === 'renderer');
  };
  const before = new Map((await renderers()).map(({ id, cpuTime }) => [id, cpuTime]));
  await frame.evaluate((busyMs) => {
    for (const until = performance.now() + busyMs; performance.now() < until; );
  }, busyMs);
  const worked = (await renderers()).map(({ id, cpuTime }) => ({
    id,
    seconds: cpuTime - (before.get(id) ?? 0),
  }));
  await session.detach();
  return worked.toSorted((a, b) => b.seconds - a.seconds)[0]!.id;
}

/** The memory of a process that is in no file, in bytes. */
function privateBytes(id: number): number {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))![1]) * 1024;
}
