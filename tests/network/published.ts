import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { runCli } from '../support/cli-process.ts';
import type { NetworkPeer } from './network-peer.ts';

export const siteFiles = 300;

/** Makes a site of {@link siteFiles} pages. */
export async function makeSite(folder: string, words = 'text'): Promise<void> {
  await mkdir(folder);
  for (let i = 0; i < siteFiles; i++) {
    const name = i === 0 ? 'index.html' : `page-${i}.html`;
    await writeFile(
      join(folder, name),
      `<!doctype html><title>Page ${i}</title>${`${words} `.repeat(i * 10)}`,
    );
  }
}

/**
 * Verifies every chunk by way of a peer that has nothing yet, and compares the content.
 * @param target an address, or the link to private content.
 * @returns its length.
 */
export async function readBack(
  peer: NetworkPeer,
  target: string,
  path: string,
  folder: string,
): Promise<number> {
  const out = join(await mkdtemp(join(folder, 'read-')), basename(path));
  const outcome = await runCli(['get', target, '-o', out, '--peer', peer.url]);
  assert.equal(outcome.code, 0, outcome.stderr);
  return compare(path, out);
}

async function compare(expected: string, actual: string): Promise<number> {
  const pairs = (await stat(expected)).isDirectory()
    ? (await readdir(expected)).map((name) => [join(expected, name), join(actual, name)] as const)
    : [[expected, actual] as const];
  let bytes = 0;
  for (const [a, b] of pairs) {
    const [first, second] = await Promise.all([readFile(a), readFile(b)]);
    assert.ok(first.equals(second), b);
    bytes += first.length;
  }
  return bytes;
}
