import type { HighlightNode } from './code/highlight.ts';
import type { Table } from './table/parse-table.ts';

/** The work on strangers' text that runs in a worker: it can take long, and a page cannot stop its own work. */
export interface Tasks {
  markdown: { input: string; output: string };
  table: { input: { text: string; isCut: boolean }; output: Table };
  highlight: { input: { text: string; language: string }; output: HighlightNode[] };
}

export type TaskName = keyof Tasks;

/** How long a task may take, in milliseconds. */
const mostMs = 10_000;

/** @throws Error when the task fails or takes too long, and an `AbortError` after the signal. */
export function runTask<N extends TaskName>(
  name: N,
  input: Tasks[N]['input'],
  signal: AbortSignal,
): Promise<Tasks[N]['output']> {
  const worker = new Worker(new URL('./task-worker.ts', import.meta.url), { type: 'module' });
  const end = new AbortController();
  return new Promise<Tasks[N]['output']>((resolve, reject) => {
    worker.onmessage = ({ data }) =>
      'output' in data ? resolve(data.output) : reject(new Error(data.problem));
    worker.onerror = ({ message }) => reject(new Error(message || 'The worker of the readers did not load.'));
    const timer = setTimeout(() => reject(new Error(`It took more than ${mostMs / 1000} s.`)), mostMs);
    end.signal.addEventListener('abort', () => clearTimeout(timer));
    signal.addEventListener('abort', () => reject(signal.reason), { signal: end.signal });
    if (signal.aborted) reject(signal.reason);
    else worker.postMessage({ name, input });
  }).finally(() => {
    end.abort();
    worker.terminate();
  });
}
