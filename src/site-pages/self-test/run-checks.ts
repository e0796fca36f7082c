import { raceAbort } from '../../util/watchdog.ts';
import { type Checks, Inapplicable } from './checks.ts';
import { type CheckId, checkIds, type Result, withoutAddresses } from './report.ts';

/** How long a check may take. The content may have to come from the network. */
const checkMs = 30_000;

/** Runs the checks one after the other, so that they do not disturb each other's times. */
export async function runChecks(
  checks: Checks,
  onStart: (id: CheckId) => void,
  onResult: (result: Result) => void,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const id of checkIds) {
    onStart(id);
    const result = await runCheck(id, checks[id]);
    results.push(result);
    onResult(result);
  }
  return results;
}

async function runCheck(id: CheckId, { needed, run }: Checks[CheckId]): Promise<Result> {
  const startedAt = performance.now();
  const signal = AbortSignal.timeout(checkMs);
  const outcome = await raceAbort(run(signal), signal).then(
    (facts) => ({ state: 'passed', facts, problem: null }) as const,
    (error: Error & { code?: unknown }) => {
      const code = typeof error.code === 'string' ? error.code : error.name;
      const problem = { code, message: withoutAddresses(error.message) };
      return { state: error instanceof Inapplicable ? error.state : 'failed', facts: {}, problem } as const;
    },
  );
  return { id, needed, milliseconds: Math.round(performance.now() - startedAt), ...outcome };
}
