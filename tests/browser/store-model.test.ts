import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encode } from '@msgpack/msgpack';
import fc from 'fast-check';
import { build } from 'vite';
import { Address } from '../../src/address.ts';
import { expect, test } from '../support/chromium.ts';
import { fromRoot } from '../support/paths.ts';
import { PeerProcess } from '../support/peer-process.ts';
import { noise, publish } from '../support/publish.ts';
import { testSeed } from '../support/random.ts';
import type { Step, StorePage } from './store-page/store-page.ts';

/** How many runs: 2 in the default tier, 12 in the full tier. `ANTWAY_MODEL_RUNS` sets another number. */
const runs = Number(process.env.ANTWAY_MODEL_RUNS ?? (process.env.ANTWAY_TIER === 'default' ? 2 : 12));
const seed = Number(process.env.ANTWAY_MODEL_SEED ?? testSeed);

const file = fc.nat({ max: 7 });
const crash = fc.option(fc.nat({ max: 25 }), { nil: undefined, freq: 3 });
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('read' as const), file, crashAfterMs: crash }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constant('pin' as const), file, crashAfterMs: crash }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('unpin' as const), file, crashAfterMs: crash }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('verify' as const), file, crashAfterMs: crash }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('forget' as const), file, crashAfterMs: crash }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('damage' as const), file }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('limit' as const),
        bytes: fc.integer({ min: 5_000, max: 120_000 }),
      }),
    },
  ),
  { minLength: 10, maxLength: 30 },
);

test('random reads, pins, evictions and restarts lose no pinned chunk, and the counters are right', async ({
  page,
}) => {
  test.setTimeout(60_000 + runs * 20_000);
  const web = mkdtempSync(join(tmpdir(), 'antway-store-page-'));
  await build({
    configFile: false,
    root: fromRoot('tests/browser/store-page'),
    logLevel: 'error',
    worker: { format: 'es' },
    build: { outDir: web, target: 'es2022', assetsInlineLimit: 0, modulePreload: false, minify: false },
  });
  const host = await PeerProcess.start({ flags: ['--web', web], webTransport: 'none' });
  try {
    // Files of up to 23 KB, so that a store of 60 KB is always in need of room, and two sites that share some of them.
    const files: StoredFile[] = [];
    for (let i = 0; i < 6; i++) files.push(await encrypted(noise(i + 1, 3_000 + 4_000 * i)));
    for (const members of [files.slice(0, 3), files.slice(1, 4)]) {
      const entries = members.map(({ address }, i) => ({
        path: `${i}.bin`,
        source: { Public: { address: Address.fromHex(address).bytes } },
      }));
      const header = Buffer.from([0xc1, 0x41, 0x4e, 0x54, 1]);
      const site = await encrypted(Buffer.concat([header, encode({ entries })]));
      files.push({ ...site, records: [...site.records, ...members.flatMap(({ records }) => records)] });
    }
    await page.goto(host.url);
    await page.waitForFunction(() => 'storePage' in globalThis);
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const problem = await page.evaluate(
          ([files, list]) =>
            (globalThis as unknown as { storePage: StorePage }).storePage.run(files, list as Step[]),
          [files, list] as const,
        );
        expect(problem).toBeNull();
      }),
      { numRuns: runs, seed, endOnFailure: true },
    );
  } finally {
    await host.stop();
    rmSync(web, { recursive: true, force: true });
  }
});

type StoredFile = Parameters<StorePage['run']>[0][number];

async function encrypted(content: Uint8Array): Promise<StoredFile> {
  const records: StoredFile['records'] = [];
  const address = await publish(content, {
    async put(hex, bytes) {
      records.push([hex, Buffer.from(bytes).toString('base64')]);
    },
  });
  return { address, records };
}
