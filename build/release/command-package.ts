import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../../src/cli/setup.mjs';

/** Keys that only this checkout needs. */
const ownKeys = ['private', 'packageManager', 'scripts', 'devDependencies'];

/**
 * Writes the folder of the package `antway`: the files that npm would pack here, and a package.json that names the
 * packages of the peer. They cannot be in the one of this checkout: npm would look for a version that is not released.
 */
export function writeCommandPackage(folder: string, optionalDependencies: Record<string, string>): void {
  rmSync(folder, { recursive: true, force: true });
  const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
  });
  const [{ files }] = JSON.parse(listed) as [{ files: { path: string }[] }];
  for (const { path } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path));
  }
  const metadata = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>;
  const released = Object.fromEntries(Object.entries(metadata).filter(([key]) => !ownKeys.includes(key)));
  const isAlone = Object.keys(optionalDependencies).length === 0;
  const all = {
    ...released,
    ...(!isAlone && { optionalDependencies }),
    publishConfig: { access: 'public' },
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(all, undefined, 2)}\n`);
}
