// `npm run perf:nodes`: lookups in simulated networks of nodes, in simulated time. The same on every machine.
import { mkdir, writeFile } from 'node:fs/promises';
import { fromRoot } from '../../tests/support/paths.ts';
import { SimulatedNetwork } from '../../tests/support/simulated-nodes.ts';
import { VirtualClock } from '../../tests/support/virtual-clock.ts';
import { markdownTable, median } from '../numbers.ts';

const sizes = [100, 1_000, 10_000];
const deadShares = [0, 0.3, 0.6];
const networks = 3;
/** Records that a client reads one after the other: the first with seven known nodes, the last with many. */
const reads = 60;
const absentReads = 5;
const seeds = 7;

interface Measured {
  firstMs: number;
  laterMs: number[];
  absentMs: number[];
  requests: number[];
  connects: number[];
  failures: number;
}

const rows = [];
for (const nodes of sizes) {
  for (const dead of deadShares) {
    const all: Measured[] = [];
    for (let seed = 1; seed <= networks; seed++) all.push(await measure(nodes, dead, seed));
    const laterMs = all.flatMap((measured) => measured.laterMs).toSorted((a, b) => a - b);
    const perRead = (values: readonly number[]) =>
      values.reduce((sum, value) => sum + value, 0) / values.length;
    rows.push([
      nodes.toLocaleString('en'),
      `${dead * 100} %`,
      String(networks * (reads + absentReads)),
      String(all.reduce((sum, { failures }) => sum + failures, 0)),
      inSeconds(median(all.map(({ firstMs }) => firstMs))),
      inSeconds(median(laterMs)),
      inSeconds(laterMs[Math.floor(laterMs.length * 0.9)]!),
      inSeconds(median(all.flatMap((measured) => measured.absentMs))),
      perRead(all.flatMap(({ requests }) => requests)).toFixed(1),
      perRead(all.flatMap(({ connects }) => connects)).toFixed(1),
    ]);
  }
}

const head = [
  'nodes',
  'dead',
  'lookups',
  'failed',
  'first record, s',
  'later ones: median, s',
  '90 %, s',
  'absent, s',
  'requests per record',
  'connections per record',
];
const text = `${markdownTable([head, ...rows])}\n`;
console.log(text);
const results = fromRoot('test-results/nodes');
await mkdir(results, { recursive: true });
await writeFile(`${results}/lookups.md`, text);

/** One client reads records of one network, then absent ones. */
async function measure(nodes: number, dead: number, seed: number): Promise<Measured> {
  const clock = new VirtualClock();
  const network = new SimulatedNetwork({ nodes, seed, clock, shares: { dead } });
  const client = network.client(network.seeds(seeds));
  const measured: Measured = {
    firstMs: 0,
    laterMs: [],
    absentMs: [],
    requests: [],
    connects: [],
    failures: 0,
  };
  const verify = ({ length }: Uint8Array) => length;
  const { counts } = network;
  const requestsSoFar = () => counts.findNode + counts.getChunk;
  for (let i = 0; i < reads; i++) {
    const address = network.store(new Uint8Array(1));
    const [start, requests, connects] = [clock.now(), requestsSoFar(), counts.connects];
    await clock.run(client.chunk(address, { verify })).catch(() => measured.failures++);
    const milliseconds = clock.now() - start;
    if (i === 0) measured.firstMs = milliseconds;
    else measured.laterMs.push(milliseconds);
    measured.requests.push(requestsSoFar() - requests);
    measured.connects.push(counts.connects - connects);
  }
  for (let i = 0; i < absentReads; i++) {
    const start = clock.now();
    const code = await clock.run(
      client.chunk(network.randomAddress(), { verify }).catch((error) => error.code as string),
    );
    if (code !== 'NOT_FOUND') measured.failures++;
    measured.absentMs.push(clock.now() - start);
  }
  return measured;
}

function inSeconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(2);
}
