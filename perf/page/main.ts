// `pnpm perf:page`: what a user who is far away from the peer waits for.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fromRoot } from '../../tests/support/paths.ts';
import { describeMachine, machineLine } from '../machine.ts';
import { Bench, type Cell } from './bench.ts';
import { coldTable, measureCold } from './cold.ts';
import { measureSlow, slowTable } from './slow.ts';
import { measureVisits, visitTable } from './visit.ts';

const usage = `pnpm perf:page [options] [parts]
  cold                a page of 30 files that the browser has never seen
  slow                the same from a peer that looks its chunks up in a network as slow as the live one
  visit               the first visit of a new profile: to the first picture of the sample site
  --rounds 7          of each case, in turns; one more warms up
  --rtt 50,150        round trips, ms
  --rate 10,50        Mbit/s
  --builds .          folders of the project with a build, whose gateways and peers take turns (cold)
  --real-time         the relay goes before all other programs (Linux, root; needs chrt)`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '7' },
    rtt: { type: 'string', default: '50,150' },
    rate: { type: 'string', default: '10,50' },
    builds: { type: 'string', default: fromRoot('.') },
    'real-time': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const rounds = Number(values.rounds);
const numbers = (list: string) => list.split(',').map(Number);
const cells: Cell[] = numbers(values.rtt).flatMap((rttMs) =>
  numbers(values.rate).map((mbitPerSecond) => ({ rttMs, mbitPerSecond })),
);

/** Of the parts that have one link. */
const nearestCell = cells[0]!;

/** Each part measures, and makes its table. */
const parts: Record<string, (bench: Bench) => Promise<{ table: string; measured: unknown }>> = {
  cold: async (bench) => {
    const measured = await measureCold(bench, cells, rounds);
    return { table: coldTable(measured), measured };
  },
  slow: async (bench) => {
    const measured = await measureSlow(bench, nearestCell, rounds);
    return { table: slowTable(measured), measured };
  },
  visit: async (bench) => {
    const measured = await measureVisits(bench, nearestCell, rounds);
    return { table: visitTable(measured), measured };
  },
};

if (values.help) console.log(usage);
else await main();

async function main(): Promise<void> {
  const folder = fromRoot('test-results/perf');
  await mkdir(folder, { recursive: true });
  for (const [name, measure] of Object.entries(parts)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    const bench = await Bench.start(values.builds.split(','), values['real-time']);
    try {
      const machine = describeMachine(bench.browser);
      const { table, measured } = await measure(bench);
      const text = `${name}: ${machineLine(machine)} Median (range) of ${rounds} rounds.\n\n${table}\n`;
      console.log(`\n${text}`);
      await writeFile(join(folder, `page-${name}.md`), text);
      await writeFile(join(folder, `page-${name}.json`), JSON.stringify({ machine, measured }, null, 2));
    } finally {
      await bench.stop();
    }
  }
}
