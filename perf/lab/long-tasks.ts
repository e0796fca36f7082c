import type { Browser } from '@playwright/test';

/** Of Chromium's trace format, what is used here. Times are microseconds. */
export interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  dur?: number;
  /** Of `dur`, what the thread was on a processor. */
  tdur?: number;
  args?: { name?: string };
}

/** Milliseconds of each task that service workers' threads ran while `work` was done. */
export async function tasksDuring(browser: Browser, work: () => Promise<void>): Promise<number[]> {
  await browser.startTracing(undefined, { categories: ['toplevel', '__metadata'] });
  let trace: Buffer;
  try {
    await work();
  } finally {
    trace = await browser.stopTracing();
  }
  return workerTasks((JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] }).traceEvents);
}

/** By the thread's own time, where it is known: how long others had the processor is not the task's doing. */
export function workerTasks(events: readonly TraceEvent[]): number[] {
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid}/${tid}`;
  const workers = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name?.startsWith('ServiceWorker'))
      .map(threadOf),
  );
  return events
    .filter((event) => event.name.endsWith('RunTask') && event.ph === 'X' && workers.has(threadOf(event)))
    .map(({ dur = 0, tdur = dur }) => tdur / 1000);
}
