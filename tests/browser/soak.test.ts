import { join } from 'node:path';
import { expect, test } from '../support/chromium.ts';
import { testSeed } from '../support/random.ts';
import { FaultyPeers, growth, printReport, publishContent, randomNumbers, soak } from './soak.ts';

/** Half a minute for every change; `--full` and `pnpm soak` set how long. */
const seconds = Number(process.env.ANTWAY_SOAK_SECONDS ?? 30);
const seed = Number(process.env.ANTWAY_SOAK_SEED ?? testSeed);

/**
 * The number of megabytes by which the medians of resident memory may differ. It is at least twice the usual difference
 * between two minutes (docs/reference/benchmarks.md), because garbage collection and replaced peers change the memory. It
 * is less than the data that arrives in a minute on an idle machine.
 */
const mostGrowth = { renderers: 256, peers: 128 };

test('mixed load over failing and lying peers yields no wrong byte, no hang, no open stream and no leak', {
  tag: '@full',
}, async ({ folder, openGateway, browser }) => {
  test.setTimeout((seconds + 150) * 1000);
  console.log(`soak for ${seconds} s, ANTWAY_SOAK_SEED=${seed}`);
  const random = randomNumbers(seed);
  const store = join(folder, 'store');
  const resources = await publishContent(store, folder);
  const peers = new FaultyPeers(store, random);
  try {
    await peers.start();
    // The cache is so small that most chunks come from the peers every time.
    const cache = { maxBytes: 16 * 1024 ** 2, memoryBytes: 8 * 1024 ** 2 };
    const gateway = await openGateway({ peers: peers.urls, cache });
    const report = await soak({ gateway, browser, peers, resources, random, seconds });
    printReport(report);
    expect(report.wrong).toEqual([]);
    expect(report.hung).toEqual([]);
    expect([report.activeRequests, report.openStreams]).toEqual([0, 0]);
    expect(report.whole).toBeGreaterThan(seconds);
    expect(growth(report, 'renderers')).toBeLessThan(mostGrowth.renderers);
    expect(growth(report, 'peers')).toBeLessThan(mostGrowth.peers);
    const failed = Object.values(report.failed).reduce((sum, count) => sum + count, 0);
    // One honest peer is up at any time.
    expect(failed / report.requests).toBeLessThan(0.02);
  } finally {
    await peers.stop();
  }
});
