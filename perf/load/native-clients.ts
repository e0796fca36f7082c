import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { fromRoot } from '../../tests/support/paths.ts';
import type { Reading } from './honest-reader.ts';

const program = fromRoot('peer/target/release/examples/hostile_clients');

/** The peer that the clients connect to. */
export interface NativeTarget {
  /** Loopback addresses with ports. */
  webTransport: string;
  https: string;
  certificateFile: string;
  /** Addresses of chunks that it has. */
  chunks: readonly string[];
  /** The path of a large file that it hosts. */
  file: string;
}

/** Builds the clients over WebTransport and HTTP/2. */
export function buildNativeClients(): void {
  const build = ['build', '--release', '--locked', '--example', 'hostile_clients'];
  execFileSync('cargo', [...build, '--manifest-path', fromRoot('peer/Cargo.toml')], { stdio: 'inherit' });
}

/** The names of the kinds of clients. */
export async function nativeKinds(target: NativeTarget): Promise<string[]> {
  const { stdout } = await promisify(execFile)(program, [...flags(target), 'kinds']);
  return JSON.parse(stdout);
}

/** Starts `count` clients of one kind, or of each, from so many networks. */
export async function attackNatively(
  target: NativeTarget,
  { kind, count, networks }: { kind: string | undefined; count: number; networks: number },
): Promise<ChildProcess> {
  const numbers = ['--count', String(count), '--networks', String(networks)];
  const args = [...flags(target), 'attack', ...numbers, ...(kind === undefined ? [] : ['--kind', kind])];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const failed = once(child, 'exit').then(() => {
    throw new Error('the hostile clients ended');
  });
  await Promise.race([once(createInterface(child.stdout!), 'line'), failed]);
  failed.catch(() => undefined); // from here on, ending is what it is asked to do
  return child;
}

/** An honest session reads chunks with a pause after each. */
export async function readBySession(
  target: NativeTarget,
  { seconds, pauseMs }: { seconds: number; pauseMs: number },
): Promise<Reading> {
  const times = ['--seconds', String(seconds), '--pause', String(pauseMs)];
  const { stdout } = await promisify(execFile)(program, [...flags(target), 'read', ...times]);
  return JSON.parse(stdout);
}

function flags({ webTransport, https, certificateFile, chunks, file }: NativeTarget): string[] {
  const peer = ['--web-transport', webTransport, '--https', https, '--certificate', certificateFile];
  return [...peer, '--file', file, ...chunks.flatMap((address) => ['--chunk', address])];
}
