import { spawn } from 'node:child_process';
import { fromRoot } from './paths.ts';

export interface CliOutcome {
  code: number | null;
  stdout: string;
  stderr: string;
  /** From the start of the process to its end. */
  milliseconds: number;
}

export interface CliOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  input?: string;
}

/** Processes at the same time. Each starts Node, which takes a core for a third of a second. */
const places = 4;
let taken = 0;
const waiting: (() => void)[] = [];

/** Runs the built command in a process without the user's own variables. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliOutcome> {
  if (taken >= places) await new Promise<void>((resolve) => waiting.push(resolve));
  taken++;
  try {
    return await run(args, options);
  } finally {
    taken--;
    waiting.shift()?.();
  }
}

function run(args: readonly string[], { cwd, env, input }: CliOptions): Promise<CliOutcome> {
  const startedAt = performance.now();
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('ANTWAY_')),
  );
  const child = spawn(process.execPath, [fromRoot('dist-cli/antway.js'), ...args], {
    env: { ...clean, ...env },
    stdio: 'pipe',
    ...(cwd !== undefined && { cwd }),
  });
  child.stdin.on('error', () => undefined); // the command may not read its input
  child.stdin.end(input ?? '');
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (output.stderr += text));
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code, ...output, milliseconds: performance.now() - startedAt }));
  });
}
