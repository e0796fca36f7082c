import { type Machine, machineLine } from '../machine.ts';
import { markdownTable } from '../numbers.ts';
import type { LabRun, ScenarioRun } from './run.ts';
import type { Measure, Target } from './scenario.ts';
import type { Distribution } from './statistics.ts';
import { baselines, type CaseSummary, isRate, type Outcome, outcomes, summarise } from './summary.ts';

/** Most memory that the worker may have in any scenario, whatever the size of a file. */
const workerLimitBytes = 200e6;

const baselineNames = {
  ceiling: 'ceiling',
  static: 'static',
  bare: 'bare',
  anttp: 'AntTP',
  native: 'native',
};

/** A run as Markdown: a table for each scenario, then what was aimed at and what was reached. */
export function report({ machine, scale, scenarios }: LabRun): string {
  const parts = [
    heading(machine, scale),
    ...scenarios.map(scenarioSection),
    '### Aims\n',
    aimsTable(scenarios),
  ];
  return `${parts.join('\n')}\n`;
}

function heading(machine: Machine, scale: LabRun['scale']): string {
  const note = scale === 'full' ? '' : ` Sizes and rounds of \`--${scale}\`: these numbers say little.`;
  return `${machineLine(machine)}${note}\n`;
}

function scenarioSection(run: ScenarioRun): string {
  const summaries = summarise(run);
  const rounds = new Set(run.samples.map(({ round }) => round)).size;
  const failures = run.failures.map(
    ({ case: name, message }) => `- **Failed**: ${name ? `${name}: ` : ''}${message.split('\n')[0]}\n`,
  );
  return [
    `### ${run.name}\n`,
    `${run.summary} Rounds: ${rounds}; with its set-up it took ${run.seconds} s.\n`,
    ...(summaries.length > 0 ? [`${scenarioTable(run.measure, summaries)}\n`] : []),
    ...failures,
  ].join('\n');
}

interface Column {
  head: string;
  cell(summary: CaseSummary): string;
}

/** Columns in which no case has anything are left out. */
function scenarioTable(measure: Measure, summaries: readonly CaseSummary[]): string {
  const columns: Column[] = [
    { head: 'case', cell: ({ name }) => name },
    { head: 'by', cell: ({ role }) => role },
    { head: 'median ms', cell: ({ milliseconds }) => number(milliseconds.median) },
    { head: 'spread ms', cell: ({ milliseconds }) => range(milliseconds) },
    { head: 'processor ms', cell: ({ processorMs }) => optional(processorMs) },
    { head: 'MB/s', cell: ({ megabytesPerSecond }) => number(megabytesPerSecond) },
    {
      head: 'requests/s',
      cell: ({ requestsPerSecond, latencyMs }) => (latencyMs ? number(requestsPerSecond) : ''),
    },
    { head: 'p50 ms', cell: ({ latencyMs }) => optional(latencyMs?.p50) },
    { head: 'p95 ms', cell: ({ latencyMs }) => optional(latencyMs?.p95) },
    { head: 'p99 ms', cell: ({ latencyMs }) => optional(latencyMs?.p99) },
    ...baselines.map((baseline) => ({
      head: `${isRate(measure) ? 'of' : '×'} ${baselineNames[baseline]}`,
      cell: ({ ratios }: CaseSummary) => {
        const ratio = ratios[baseline];
        return ratio ? `${ratio.median.toFixed(2)} (${ratio.least.toFixed(2)}–${ratio.most.toFixed(2)})` : '';
      },
    })),
    {
      head: 'worker MB',
      cell: ({ workerPeakBytes }) => optional(workerPeakBytes && workerPeakBytes / 1e6),
    },
  ];
  const used = columns.filter(({ cell }) => summaries.some((summary) => cell(summary) !== ''));
  return markdownTable([
    used.map(({ head }) => head),
    ...summaries.map((summary) => used.map(({ cell }) => cell(summary) || '–')),
  ]);
}

/** Every target with what was measured. */
function aimsTable(scenarios: readonly ScenarioRun[]): string {
  const rows = scenarios.flatMap((run) => outcomes(run).map((outcome) => outcomeRow(run.measure, outcome)));
  return markdownTable([
    ['scenario', 'what', 'aim', 'measured', ''],
    ...rows,
    ...scenarios.flatMap((run) => memoryRow(run)),
  ]);
}

function outcomeRow(measure: Measure, { scenario, target, value, isMet }: Outcome): string[] {
  const show = (number: number) => withUnit(number, target, measure);
  const aim =
    target.atLeast !== undefined ? `at least ${show(target.atLeast)}` : `at most ${show(target.atMost!)}`;
  return [scenario, target.case, aim, value === undefined ? '–' : show(value), verdict(isMet)];
}

function memoryRow(run: ScenarioRun): string[][] {
  const peaks = run.samples.flatMap(({ workerPeakBytes }) => workerPeakBytes ?? []);
  if (peaks.length === 0) return [];
  const peak = Math.max(...peaks);
  const limit = `at most ${workerLimitBytes / 1e6} MB`;
  return [
    [run.name, 'peak of the worker', limit, `${number(peak / 1e6)} MB`, verdict(peak <= workerLimitBytes)],
  ];
}

function verdict(isMet: boolean | undefined): string {
  return isMet === undefined ? 'not measured' : isMet ? 'met' : '**not met**';
}

function withUnit(value: number, { measure, of }: Target, scenarioMeasure: Measure): string {
  if (of) return `${value.toFixed(2)} × ${baselineNames[of]}`;
  switch (measure ?? scenarioMeasure) {
    case 'bytes':
    case 'worker bytes':
      return `${number(value / 1e6)} MB${measure === 'worker bytes' ? '' : '/s'}`;
    case 'requests':
      return `${number(value)} requests/s`;
    default:
      return `${number(value)} ms`;
  }
}

/** Three digits that count. */
function number(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}

function optional(value: number | undefined): string {
  return value === undefined ? '' : number(value);
}

function range({ least, most }: Distribution): string {
  return `${number(least)}–${number(most)}`;
}
