import type { CaseDescription, Sample, ScenarioRun } from './run.ts';
import { type Baseline, type Measure, roles, type Target } from './scenario.ts';
import { type Distribution, distribution } from './statistics.ts';

export const baselines = roles.filter((role): role is Baseline => role !== 'gateway');

/** The results of a case over all rounds. */
export interface CaseSummary extends CaseDescription {
  milliseconds: Distribution;
  megabytesPerSecond: number;
  requestsPerSecond: number;
  /** Medians over the rounds. */
  latencyMs?: { p50: number; p95: number; p99: number };
  /** Of the browser's processes. */
  processorMs?: number;
  /** The most of all rounds. */
  workerPeakBytes?: number;
  /** Of the scenario's measure, to the baseline of the same round and group. */
  ratios: Partial<Record<Baseline, Distribution>>;
}

/** Whether more of a measure is better. */
export function isRate(measure: Measure): boolean {
  return measure === 'bytes' || measure === 'requests';
}

/** A sample's bytes or requests per second, or milliseconds. */
export function measured(sample: Sample, measure: Measure): number {
  const { bytes, requests, milliseconds, latencyMs } = sample;
  switch (measure) {
    case 'bytes':
      return (bytes / milliseconds) * 1000;
    case 'requests':
      return (requests / milliseconds) * 1000;
    case 'p95':
      return latencyMs?.p95 ?? milliseconds;
    case 'time':
      return milliseconds;
  }
}

/**
 * A case's measure by that of a baseline, round for round.
 * @returns undefined when there is no such baseline in its group, or it never was measured in the same round.
 */
export function ratiosTo(
  run: ScenarioRun,
  name: string,
  baseline: Baseline,
  measure: Measure = run.measure,
): Distribution | undefined {
  const own = run.cases.find((each) => each.name === name);
  const reference = run.cases.find(({ role, group }) => role === baseline && group === own?.group);
  if (!own || !reference) return undefined;
  const ratios = samplesOf(run, name).flatMap((sample) => {
    const other = run.samples.find(
      (candidate) => candidate.case === reference.name && candidate.round === sample.round,
    );
    return other ? [measured(sample, measure) / measured(other, measure)] : [];
  });
  return ratios.length > 0 ? distribution(ratios) : undefined;
}

/** All cases that were measured at least once, in the scenario's order. */
export function summarise(run: ScenarioRun): CaseSummary[] {
  return run.cases.flatMap((each) => {
    const samples = samplesOf(run, each.name);
    if (samples.length === 0) return [];
    const medianOf = (value: (sample: Sample) => number) => distribution(samples.map(value)).median;
    const latencies = samples.flatMap(({ latencyMs }) => latencyMs ?? []);
    const peaks = samples.flatMap(({ workerPeakBytes }) => workerPeakBytes ?? []);
    const processorTimes = samples.flatMap(({ processorMs }) => processorMs ?? []);
    const ratios: CaseSummary['ratios'] = {};
    for (const baseline of baselines.filter((role) => role !== each.role)) {
      const ratio = ratiosTo(run, each.name, baseline);
      if (ratio) ratios[baseline] = ratio;
    }
    return [
      {
        ...each,
        milliseconds: distribution(samples.map(({ milliseconds }) => milliseconds)),
        megabytesPerSecond: medianOf((sample) => measured(sample, 'bytes')) / 1e6,
        requestsPerSecond: medianOf((sample) => measured(sample, 'requests')),
        ...(latencies.length > 0 && {
          latencyMs: {
            p50: distribution(latencies.map(({ p50 }) => p50)).median,
            p95: distribution(latencies.map(({ p95 }) => p95)).median,
            p99: distribution(latencies.map(({ p99 }) => p99)).median,
          },
        }),
        ...(processorTimes.length > 0 && { processorMs: distribution(processorTimes).median }),
        ...(peaks.length > 0 && { workerPeakBytes: Math.max(...peaks) }),
        ratios,
      },
    ];
  });
}

/** The outcome of a target. `isMet` is undefined when it was not measured. */
export interface Outcome {
  scenario: string;
  target: Target;
  value: number | undefined;
  isMet: boolean | undefined;
}

export function outcomes(run: ScenarioRun): Outcome[] {
  const hasAntTp = run.cases.some(({ role }) => role === 'anttp');
  const targets = run.targets.filter(({ of }) => of !== 'anttp' || hasAntTp);
  return targets.map((target) => {
    const value = reachedFor(run, target);
    const isMet =
      value === undefined
        ? undefined
        : value >= (target.atLeast ?? -Infinity) && value <= (target.atMost ?? Infinity);
    return { scenario: run.name, target, value, isMet };
  });
}

function reachedFor(run: ScenarioRun, { case: name, measure = run.measure, of }: Target) {
  const samples = samplesOf(run, name);
  if (samples.length === 0) return undefined;
  if (measure === 'worker bytes') {
    const peaks = samples.flatMap(({ workerPeakBytes }) => workerPeakBytes ?? []);
    return peaks.length > 0 ? Math.max(...peaks) : undefined;
  }
  if (of) return ratiosTo(run, name, of, measure)?.median;
  return distribution(samples.map((sample) => measured(sample, measure))).median;
}

function samplesOf({ samples }: ScenarioRun, name: string): Sample[] {
  return samples.filter((sample) => sample.case === name);
}
