import { execFileSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';
import type { Browser } from '@playwright/test';
import { fromRoot } from '../tests/support/paths.ts';

/** The machine and the versions that the numbers depend on, to be shown beside them. */
export interface Machine {
  date: string;
  commit: string;
  cpu: string;
  memory: string;
  /** Of one minute, before the measurement began: what else was going on. */
  load: string;
  versions: string;
}

/** @param browser if one takes part: a Chromium, or the name and version of another. */
export function describeMachine(browser?: Browser | string): Machine {
  const [cpu] = cpus();
  const peer = run(fromRoot('peer/target/release/antway-peer'), '--version');
  const name = typeof browser === 'object' ? `Chromium ${browser.version()}` : browser;
  return {
    date: new Date().toISOString().slice(0, 16),
    commit: run('git', '-C', fromRoot('.'), 'describe', '--always', '--dirty', '--exclude=*'),
    cpu: `${cpus().length} × ${cpu?.model}`,
    memory: `${(totalmem() / 2 ** 30).toFixed(1)} GiB`,
    load: loadavg()[0]!.toFixed(1),
    versions: `${name ? `${name}, ` : ''}Node ${process.version}, ${peer}`,
  };
}

export function machineLine({ date, commit, cpu, memory, load, versions }: Machine): string {
  return `${date}, commit ${commit}. ${cpu}, ${memory}, load ${load} at the start. ${versions}.`;
}

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: 'utf8' }).trim();
}
