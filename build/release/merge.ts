import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../../src/cli/setup.mjs';
import { writeChecksums } from './checksums.ts';

/**
 * Copies the files that only other platforms built into the first folder, and writes its checksums again.
 * @throws SetupError if an archive that several platforms built is not the same.
 */
export function mergeReleases([first, ...others]: readonly string[]): void {
  if (!first) throw new SetupError('Name the folders of the platforms’ releases.');
  for (const other of others) {
    for (const name of readdirSync(other)) {
      const [from, to] = [join(other, name), join(first, name)];
      if (!existsSync(to)) copyFileSync(from, to);
      else if (/\.t(ar\.)?gz$/.test(name) && !readFileSync(from).equals(readFileSync(to)))
        throw new SetupError(`${name} differs between the platforms.`);
    }
  }
  writeChecksums(first);
}
