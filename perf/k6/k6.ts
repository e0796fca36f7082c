import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fromRoot } from '../../tests/support/paths.ts';

const version = 'v1.8.1';
const folder = fromRoot('perf/k6/.bin');

/**
 * The system's k6, else one that is built with Go, once, into a folder that Git ignores: that takes some minutes.
 * @returns its path.
 * @throws Error when there is neither.
 */
export async function findK6(): Promise<string> {
  if (spawnSync('k6', ['version']).status === 0) return 'k6';
  const built = join(folder, process.platform === 'win32' ? 'k6.exe' : 'k6');
  if (existsSync(built)) return built;
  if (spawnSync('go', ['version']).status !== 0) {
    throw new Error(
      'There is no k6, and no Go to build one: install one of them (https://k6.io, https://go.dev).',
    );
  }
  console.error(`Building k6 ${version} (once; some minutes) …`);
  await promisify(execFile)('go', ['install', `go.k6.io/k6@${version}`], {
    env: { ...process.env, GOBIN: folder },
  });
  return built;
}
