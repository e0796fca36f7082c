import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const checksums = 'SHA256SUMS';

/** Writes `SHA256SUMS` of all other files of a folder, in the format of `sha256sum`. */
export function writeChecksums(folder: string): void {
  const lines = readdirSync(folder)
    .filter((name) => name !== checksums)
    .sort()
    .map((name) => {
      const hash = createHash('sha256').update(readFileSync(join(folder, name)));
      return `${hash.digest('hex')}  ${name}\n`;
    });
  writeFileSync(join(folder, checksums), lines.join(''));
}
