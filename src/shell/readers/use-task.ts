import { useEffect, useState } from 'preact/hooks';
import { isAbort } from '../../errors.ts';
import { runTask, type TaskName, type Tasks } from './tasks.ts';

interface Outcome<N extends TaskName> {
  output: Tasks[N]['output'] | null;
  problem: Error | null;
}

/** Runs one task when the component is mounted. Null as input: there is no work. */
export function useTask<N extends TaskName>(name: N, input: Tasks[N]['input'] | null): Outcome<N> {
  const [outcome, setOutcome] = useState<Outcome<N>>({ output: null, problem: null });
  useEffect(() => {
    if (input === null) return;
    const end = new AbortController();
    runTask(name, input, end.signal).then(
      (output) => setOutcome({ output, problem: null }),
      (problem) => {
        if (!isAbort(problem, end.signal)) setOutcome({ output: null, problem });
      },
    );
    return () => end.abort();
  }, []);
  return outcome;
}
