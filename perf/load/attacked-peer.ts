import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { fromRoot } from '../../tests/support/paths.ts';
import { noise } from '../../tests/support/publish.ts';
import type { Target } from './attackers.ts';
import type { Reading } from './honest-reader.ts';

export const mebibyte = 1024 * 1024;
/** Of the chunks that honest clients read. */
export const smallBytes = 64 * 1024;
const smallChunks = 64;
const largeBytes = 4 * mebibyte;
/** More than the peer's cache in memory has room for. */
const largeChunks = 64;
/** The large file, in the folder of the gateway. */
export const filePath = '/film.bin';
const fileBytes = 64 * mebibyte;

/** How an attack comes. */
export interface Attack {
  /** The name of the only kind; undefined for all kinds at once. */
  kind: string | undefined;
  /** Connections or sessions of each kind. */
  count: number;
  networks: number;
}

/** A peer with chunks and a large file, and its clients. */
export interface AttackedPeer {
  name: string;
  processId: number;
  /** The most memory that the documents allow, in bytes. */
  memoryBound: number;
  kinds: readonly string[];
  /** Honest clients read for some seconds, at the same time. */
  read(seconds: number): Promise<Readonly<Record<string, Reading>>>;
  /** Starts hostile clients. @returns what ends them. */
  attack(attack: Attack): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

/** Stores the chunks that clients ask for. @returns their addresses. */
export async function storeChunks(
  put: (address: string, bytes: Uint8Array) => Promise<void>,
): Promise<{ small: string[]; large: string[] }> {
  const store = async (seed: number, count: number, bytes: number) => {
    const addresses: string[] = [];
    for (let n = 0; n < count; n++) {
      const chunk = noise(seed + n, bytes);
      const address = bytesToHex(blake3(chunk));
      await put(address, chunk);
      addresses.push(address);
    }
    return addresses;
  };
  const large = await store(1, largeChunks, largeBytes);
  return { large, small: await store(1 + largeChunks, smallChunks, smallBytes) };
}

/** Makes a folder of the gateway with a large file. @returns its path. */
export async function makeWebFolder(folder: string): Promise<string> {
  const web = join(folder, 'web');
  await mkdir(web);
  await writeFile(join(web, 'index.html'), '<!doctype html>');
  await writeFile(join(web, filePath), noise(0, fileBytes));
  return web;
}

export function pathOf(address: string): string {
  return `/chunk/${address}`;
}

/** Starts hostile clients over HTTP/1. */
export function attackByHttp(
  kinds: readonly string[],
  { count, networks }: Attack,
  target: Target,
): ChildProcess {
  const task = JSON.stringify({ kinds, count, networks, target });
  const args = [fromRoot('perf/run.mjs'), 'load/attackers-main.ts', task];
  return spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
}

/** The attackers would be on other machines, so they get the time that others leave. */
export function giveWay({ pid }: ChildProcess): void {
  setPriority(pid!, constants.priority.PRIORITY_LOW);
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, 'exit');
}

/** The highest resident memory of a process since the last reset, in bytes. */
export function peakMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)![1]) * 1024;
}

/** From now on, only later memory counts. */
export function resetPeakMemory(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
