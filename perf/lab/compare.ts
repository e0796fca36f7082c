import { markdownTable } from '../numbers.ts';
import type { LabRun, ScenarioRun } from './run.ts';
import { areApart, type Distribution, distribution } from './statistics.ts';
import { isRate, measured, ratiosTo } from './summary.ts';

/** The change of a case between two runs. `noise`: the difference is no larger than what rounds differ among themselves. */
export type Change = 'faster' | 'slower' | 'noise';

export interface Comparison {
  scenario: string;
  case: string;
  /** The compared value: the ratio to the first of `references` that both have, since it depends less on the machine. */
  unit: 'of the ceiling' | 'of native' | 'MB/s' | 'requests/s' | 'ms';
  before: Distribution;
  after: Distribution;
  /** By which the median became better: 0.1 is a tenth better, -0.1 a tenth worse. */
  gain: number;
  change: Change;
}

/** Baselines that the project's code does not change, measured in the same rounds. */
const references = [
  { role: 'ceiling', unit: 'of the ceiling' },
  { role: 'native', unit: 'of native' },
] as const;

/** Differences of the medians below this share are not told as changes, however close together the rounds are. */
const leastGain = 0.05;

/**
 * Compares the gateway's cases that two runs have in common. A case is called faster or slower when all rounds of one
 * run lie beyond all rounds of the other, and their medians differ by more than a twentieth.
 */
export function compare(before: LabRun, after: LabRun): Comparison[] {
  return after.scenarios.flatMap((run) => {
    const former = before.scenarios.find(({ name }) => name === run.name);
    if (!former || former.measure !== run.measure) return [];
    return run.cases
      .filter(({ role }) => role === 'gateway')
      .flatMap(({ name }) => compareCase(former, run, name) ?? []);
  });
}

function compareCase(former: ScenarioRun, run: ScenarioRun, name: string): Comparison | undefined {
  const found = references
    .map(({ role, unit }) => {
      return { unit, before: ratiosTo(former, name, role), after: ratiosTo(run, name, role) };
    })
    .find(({ before, after }) => before && after);
  const value = found ?? { unit: unitOf(run), before: absolute(former, name), after: absolute(run, name) };
  const { unit, before, after } = value;
  if (!before || !after) return undefined;
  const isMoreBetter = isRate(run.measure);
  const gain = isMoreBetter ? after.median / before.median - 1 : before.median / after.median - 1;
  const isChange = areApart(before, after) && Math.abs(gain) > leastGain;
  return {
    scenario: run.name,
    case: name,
    unit,
    before,
    after,
    gain,
    change: isChange ? (gain > 0 ? 'faster' : 'slower') : 'noise',
  };
}

function absolute(run: ScenarioRun, name: string): Distribution | undefined {
  const values = run.samples
    .filter((sample) => sample.case === name)
    .map((sample) => measured(sample, run.measure) / (run.measure === 'bytes' ? 1e6 : 1));
  return values.length > 0 ? distribution(values) : undefined;
}

function unitOf({ measure }: ScenarioRun): Comparison['unit'] {
  return measure === 'bytes' ? 'MB/s' : measure === 'requests' ? 'requests/s' : 'ms';
}

/** Changes first, the worst of them on top. */
export function comparisonTable(comparisons: readonly Comparison[]): string {
  const order: Record<Change, number> = { slower: 0, faster: 1, noise: 2 };
  const sorted = comparisons.toSorted((a, b) => order[a.change] - order[b.change] || a.gain - b.gain);
  return markdownTable([
    ['scenario', 'case', 'in', 'before', 'after', 'gain', ''],
    ...sorted.map(({ scenario, case: name, unit, before, after, gain, change }) => [
      scenario,
      name,
      unit,
      text(before),
      text(after),
      `${gain >= 0 ? '+' : ''}${(gain * 100).toFixed(0)} %`,
      change === 'noise' ? 'within the noise' : `**${change}**`,
    ]),
  ]);
}

function text({ median, least, most }: Distribution): string {
  return `${median.toFixed(2)} (${least.toFixed(2)}–${most.toFixed(2)})`;
}
