import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fromRoot } from '../../tests/support/paths.ts';
import { historyPage } from './history-page.ts';
import type { LabRun } from './run.ts';

const folder = fromRoot('perf/history');

/** Keeps a run as `perf/history/<date>-<commit>.json`, and draws the page of all runs anew. @returns the path. */
export async function keepInHistory(run: LabRun): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, nameOf(run));
  await writeFile(path, `${JSON.stringify(run, null, 1)}\n`);
  await writeFile(join(folder, 'index.html'), historyPage(await readHistory()));
  return path;
}

/** All stored runs, the oldest first. */
async function readHistory(): Promise<LabRun[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
  return Promise.all(
    names.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as LabRun),
  );
}

/** Sorts by date; no colons, which some file systems refuse. */
function nameOf({ machine: { date, commit } }: LabRun): string {
  return `${date.replaceAll(':', '')}-${commit}.json`;
}
