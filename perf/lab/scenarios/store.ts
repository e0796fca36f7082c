import { type BenchGlobal, openBenchPage } from '../open-bench-page.ts';
import type { Case, Scenario } from '../scenario.ts';
import type { StoreTimes } from '../store-bench.ts';

/** The chunk store on a profile that is on disk. */
export const store: Scenario = {
  name: 'store',
  summary:
    '32 chunks of 4 MiB, and 2,000 of 16 KiB, are put into the chunk store and written, then got, four at a time. The ' +
    'ceiling keeps the same in a database of its own, and no books.',
  measure: 'bytes',
  rounds: 5,
  async setUp(lab) {
    const { page } = await openBenchPage(lab);
    const sizes = [
      { what: 'chunks of 4 MiB', count: lab.pick(32, 16, 2), chunkBytes: 4 * 1024 ** 2 },
      { what: 'chunks of 16 KiB', count: lab.pick(2_000, 500, 20), chunkBytes: 16 * 1024 },
    ];
    return sizes.flatMap(({ what, count, chunkBytes }) =>
      (['antway', 'plain'] as const).flatMap((kind) => {
        const role = kind === 'antway' ? 'gateway' : 'ceiling';
        const suffix = kind === 'antway' ? '' : ', plain';
        const done = { bytes: count * chunkBytes, requests: count };
        const time = (): Promise<StoreTimes> =>
          page.evaluate(
            ([kind, count, chunkBytes]) =>
              (globalThis as BenchGlobal).benchPage.timeStore(kind, count, chunkBytes),
            [kind, count, chunkBytes] as const,
          );
        // Each case puts before it gets: each case does both with new chunks, and tells its part.
        const caseOf = (part: 'put' | 'get'): Case => ({
          name: `${part}, ${what}${suffix}`,
          role,
          group: `${part}, ${what}`,
          run: async () => ({ ...done, milliseconds: (await time())[`${part}Ms`] }),
        });
        return [caseOf('put'), caseOf('get')];
      }),
    );
  },
};
