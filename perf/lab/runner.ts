import type { Sample, ScenarioRun } from './run.ts';
import type { Case, Measured, Scenario } from './scenario.ts';
import { percentile } from './statistics.ts';

export interface RunnerOptions {
  rounds: number;
  /** Rounds before those, which are not counted: code is compiled, files are in the system's cache. */
  warmUps: number;
  /** Sets a scenario up; called once. */
  setUp(): Promise<Case[]>;
  /** Told of each run before it begins. */
  onRun?(name: string, round: number): void;
}

/**
 * Runs the cases of a scenario round by round, so that a slow phase of the machine affects all of them alike. Each round
 * begins with another case. A case that fails is reported and left out of later rounds. The other cases continue.
 */
export async function runScenario(
  { name, summary, measure, targets = [] }: Scenario,
  { rounds, warmUps, setUp, onRun }: RunnerOptions,
): Promise<ScenarioRun> {
  const startedAt = performance.now();
  const run: ScenarioRun = {
    name,
    summary,
    measure,
    targets,
    cases: [],
    samples: [],
    failures: [],
    seconds: 0,
  };
  try {
    const cases = await setUp();
    run.cases = cases.map(({ name, role, group }) => ({ name, role, ...(group && { group }) }));
    for (let round = -warmUps; round < rounds; round++) {
      const left = cases.filter(({ name }) => !run.failures.some((failure) => failure.case === name));
      for (const each of rotated(left, round + warmUps)) {
        onRun?.(each.name, round);
        try {
          await each.prepare?.();
          const measured = await each.run();
          if (round >= 0) run.samples.push(sampleOf(each.name, round, measured));
        } catch (error) {
          run.failures.push({ case: each.name, message: messageOf(error) });
        }
      }
    }
  } catch (error) {
    run.failures.push({ message: messageOf(error) });
  }
  run.seconds = Math.round((performance.now() - startedAt) / 1000);
  return run;
}

/** The same list, beginning further on by some places. */
export function rotated<T>(list: readonly T[], places: number): T[] {
  const start = list.length === 0 ? 0 : places % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}

function sampleOf(
  name: string,
  round: number,
  { bytes, requests, milliseconds, latenciesMs, processorMs, workerPeakBytes }: Measured,
): Sample {
  return {
    case: name,
    round,
    bytes,
    requests,
    milliseconds: rounded(milliseconds),
    ...(latenciesMs &&
      latenciesMs.length > 1 && {
        latencyMs: {
          p50: rounded(percentile(latenciesMs, 0.5)),
          p95: rounded(percentile(latenciesMs, 0.95)),
          p99: rounded(percentile(latenciesMs, 0.99)),
        },
      }),
    ...(processorMs !== undefined && { processorMs: rounded(processorMs) }),
    ...(workerPeakBytes !== undefined && { workerPeakBytes }),
  };
}

/** A clock in a page has steps of 0.1 ms or less; more digits would be made up. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
