import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Browser } from '@playwright/test';
import { markdownTable } from '../numbers.ts';
import { WorkerInspector } from './inspector.ts';

/** The members of a CPU profile (`.cpuprofile`, V8's format) that are used here. */
export interface CpuProfile {
  nodes: {
    id: number;
    callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number };
  }[];
  /** Node of each sample. */
  samples?: number[];
  /** Microseconds since the sample before. */
  timeDeltas?: number[];
}

const intervalMicroseconds = 200;

/** A CPU profile of a worker while something is measured. */
export class WorkerProfile {
  private constructor(private readonly inspector: WorkerInspector) {}

  /** @throws Error when the worker does not run. */
  static async start(browser: Browser, scriptUrl: string): Promise<WorkerProfile> {
    const inspector = await WorkerInspector.attach(browser, scriptUrl);
    if (!inspector) throw new Error('There is no worker to be profiled.');
    await inspector.send('Profiler.enable');
    await inspector.send('Profiler.setSamplingInterval', { interval: intervalMicroseconds });
    await inspector.send('Profiler.start');
    return new WorkerProfile(inspector);
  }

  /** Writes `<path>.cpuprofile` for developer tools, and `<path>.md` with what took most of the time. */
  async stop(path: string): Promise<void> {
    const { profile } = await this.inspector.send<{ profile: CpuProfile }>('Profiler.stop');
    await this.inspector.detach();
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.cpuprofile`, JSON.stringify(profile));
    await writeFile(`${path}.md`, `${selfTimeTable(profile)}\n`);
  }
}

/** The functions in which most of the time was spent, without what they called. */
function selfTimeTable(profile: CpuProfile, most = 25): string {
  const times = selfTimes(profile);
  const total = [...times.values()].reduce((sum, milliseconds) => sum + milliseconds, 0);
  const rows = [...times].sort(([, a], [, b]) => b - a).slice(0, most);
  return markdownTable([
    ['function', 'ms', 'share'],
    ...rows.map(([name, milliseconds]) => [
      name,
      milliseconds.toFixed(1),
      `${((milliseconds / total) * 100).toFixed(1)} %`,
    ]),
  ]);
}

/** Milliseconds by function. */
export function selfTimes({ nodes, samples = [], timeDeltas = [] }: CpuProfile): Map<string, number> {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber, columnNumber } }) => {
      const file = url.split('/').at(-1);
      return [
        id,
        `${functionName || 'anonymous'}${file ? ` (${file}:${lineNumber + 1}:${columnNumber + 1})` : ''}`,
      ];
    }),
  );
  const times = new Map<string, number>();
  for (const [i, id] of samples.entries()) {
    const name = names.get(id) ?? 'unknown';
    // A sample stands for the time until the next one.
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[i + 1] ?? 0) / 1000);
  }
  return times;
}
