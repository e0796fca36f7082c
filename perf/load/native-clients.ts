import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { fromRoot } from '../../tests/support/paths.ts';

const program = fromRoot('peer/target/release/examples/hostile_clients');

/** The peer that the clients connect to. */
export interface NativeTarget {
  /** Loopback addresses with ports. */
  webTransport: string;
  https: string;
  certificateFile: string;
}

/** Builds the clients over WebTransport and HTTP/2. */
export function buildNativeClients(): void {
  const build = ['build', '--release', '--locked', '--example', 'hostile_clients'];
  execFileSync('cargo', [...build, '--manifest-path', fromRoot('peer/Cargo.toml')], { stdio: 'inherit' });
}

/** Starts `count` clients of each kind. @returns the process, and the names of the kinds. */
export async function attackNatively(
  target: NativeTarget,
  chunks: readonly string[],
  count: number,
): Promise<{ process: ChildProcess; kinds: string[] }> {
  const args = [...flags(target, chunks), 'attack', '--count', String(count)];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const failed = once(child, 'exit').then(() => {
    throw new Error('the hostile clients ended');
  });
  const [line] = (await Promise.race([once(createInterface(child.stdout!), 'line'), failed])) as [string];
  failed.catch(() => undefined); // from here on, ending is what it is asked to do
  return { process: child, kinds: JSON.parse(line) };
}

/** An honest session reads chunks with a pause after each. */
export async function readBySession(
  target: NativeTarget,
  chunks: readonly string[],
  { seconds, pauseMs }: { seconds: number; pauseMs: number },
): Promise<{ rate: number; failures: number; firstFailure: string | null }> {
  const times = ['--seconds', String(seconds), '--pause', String(pauseMs)];
  const { stdout } = await promisify(execFile)(program, [...flags(target, chunks), 'read', ...times]);
  return JSON.parse(stdout);
}

function flags({ webTransport, https, certificateFile }: NativeTarget, chunks: readonly string[]): string[] {
  const peer = ['--web-transport', webTransport, '--https', https, '--certificate', certificateFile];
  return [...peer, ...chunks.flatMap((address) => ['--chunk', address])];
}
