import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The suffixes of compressed copies. A host sends a copy in place of the file if the client accepts the encoding. */
export const compressedSuffixes = { brotli: '.br', gzip: '.gz' };

/** Whether a file of a build is a compressed copy of another one. */
export function isCompressed(path: string): boolean {
  return Object.values(compressedSuffixes).some((suffix) => path.endsWith(suffix));
}

/**
 * Returns the paths of all files of a build, sorted by their UTF-8 bytes, with `/` between names. Leaves out the
 * compressed copies.
 */
export function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !isCompressed(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, '/').length).replaceAll('\\', '/'))
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}
