// `pnpm perf:compare A B`: what became faster or slower between two runs.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromRoot } from '../../tests/support/paths.ts';
import { machineLine } from '../machine.ts';
import { compare, comparisonTable } from './compare.ts';
import type { LabRun } from './run.ts';

const usage = `pnpm perf:compare <before> <after>
Each is the path of a run's JSON (the last one is test-results/perf/lab.json), or the date or commit by which
exactly one run in perf/history/ is found.`;

const [before, after, ...rest] = process.argv.slice(2);
try {
  if (!before || !after || rest.length > 0) throw new Error(usage);
  const runs = [before, after].map((name) => readRun(name));
  for (const { machine } of runs) console.log(machineLine(machine));
  const comparisons = compare(runs[0]!, runs[1]!);
  if (comparisons.length === 0) throw new Error('These two runs have no case in common.');
  console.log(`\n${comparisonTable(comparisons)}`);
  const slower = comparisons.filter(({ change }) => change === 'slower').length;
  console.log(
    `\n${slower} of ${comparisons.length} cases became slower by more than the noise of the rounds.`,
  );
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}

function readRun(name: string): LabRun {
  const path = existsSync(name) ? name : inHistory(name);
  const run = JSON.parse(readFileSync(path, 'utf8'));
  if (run.format !== 1) throw new Error(`${path} is no run of the lab, or of another version of it.`);
  return run;
}

function inHistory(name: string): string {
  const folder = fromRoot('perf/history');
  const found = (existsSync(folder) ? readdirSync(folder) : []).filter(
    (file) => file.endsWith('.json') && file.includes(name),
  );
  if (found.length !== 1) {
    throw new Error(
      `“${name}” is no file, and ${found.length} runs in perf/history/ have it in their names.`,
    );
  }
  return join(folder, found[0]!);
}
