import { type ChildProcess, fork, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { fromRoot } from './paths.ts';

interface Outcome<Output> {
  code: number | null;
  stdout: Output;
  stderr: Output;
}

export type CliOutcome = Outcome<string>;

export interface CliOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  input?: string;
}

/** Commands at the same time. */
const places = 4;
let taken = 0;
const waiting: (() => void)[] = [];

/** Processes that have loaded the command, and wait for the next one. */
const idle: ChildProcess[] = [];

/** As `runCliForBytes`, with the output as text. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliOutcome> {
  const { code, stdout, stderr } = await runCliForBytes(args, options);
  return { code, stdout: textOf(stdout), stderr: textOf(stderr) };
}

/**
 * Runs the built command without the user's own variables. Most of the time of a short command is the start of Node and the
 * import of its libraries, so that later commands run in the processes of earlier ones. Commands at the same time run in
 * different processes. A command with variables of Node itself gets a process of its own.
 */
export async function runCliForBytes(
  args: readonly string[],
  options: CliOptions = {},
): Promise<Outcome<Uint8Array>> {
  if (taken >= places) await new Promise<void>((resolve) => waiting.push(resolve));
  taken++;
  try {
    return await (options.env?.NODE_OPTIONS === undefined ? runInHost : runAlone)(args, options);
  } finally {
    taken--;
    waiting.shift()?.();
  }
}

const script = fromRoot('dist-cli/antway.js');

function environment(env: NodeJS.ProcessEnv | undefined): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('ANTWAY_'));
  const set = Object.entries(env ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries([...own, ...set]);
}

function runInHost(
  args: readonly string[],
  { cwd = process.cwd(), env, input = '' }: CliOptions,
): Promise<Outcome<Uint8Array>> {
  const host = idle.pop() ?? startHost();
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null, signal: string | null) =>
      reject(new Error(`The command ended its process: ${signal ?? code}.`));
    host.once('exit', onExit);
    host.once('message', (outcome) => {
      host.off('exit', onExit);
      idle.push(host);
      resolve(outcome as Outcome<Uint8Array>);
    });
    host.send({ args, cwd, env: environment(env), input });
  });
}

function startHost(): ChildProcess {
  const host = fork(fromRoot('tests/support/command-host.mjs'), [script], {
    execArgv: [],
    serialization: 'advanced',
    // The command writes to files and devices past `process.stdout`.
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  host.stdout!.resume();
  // It ends with this process.
  host.unref();
  (host.stdout as Socket).unref();
  host.channel!.unref();
  return host;
}

/** Runs the built command in a process of its own, which ends only once nothing is left to do. */
export async function runAlone(
  args: readonly string[],
  { cwd, env, input }: CliOptions = {},
): Promise<Outcome<Uint8Array>> {
  const child = spawn(process.execPath, [script, ...args], {
    env: environment(env),
    stdio: 'pipe',
    ...(cwd !== undefined && { cwd }),
  });
  child.stdin.on('error', () => undefined); // the command may not read its input
  child.stdin.end(input ?? '');
  const [stdout, stderr, code] = await Promise.all([
    buffer(child.stdout),
    buffer(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ]);
  return { code, stdout, stderr };
}

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
