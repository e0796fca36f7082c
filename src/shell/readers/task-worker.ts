/** A dedicated worker for one task. The page ends the worker when the task takes too long. */
import type { TaskName, Tasks } from './tasks.ts';

type Run = { [N in TaskName]: (input: Tasks[N]['input']) => Promise<Tasks[N]['output']> };

const run: Run = {
  markdown: async (text) => (await import('./markdown/parse-markdown.ts')).parseMarkdown(text),
  table: async ({ text, isCut }) => (await import('./table/parse-table.ts')).parseTable(text, isCut),
  highlight: async ({ text, language }) => (await import('./code/highlight.ts')).highlight(text, language),
};

async function answer<N extends TaskName>(name: N, input: Tasks[N]['input']): Promise<void> {
  try {
    postMessage({ output: await run[name](input) });
  } catch (error) {
    postMessage({ problem: error instanceof Error ? error.message : String(error) });
  }
}

addEventListener('message', ({ data }: MessageEvent<{ name: TaskName; input: never }>) =>
  answer(data.name, data.input),
);
