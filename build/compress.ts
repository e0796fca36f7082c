import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { compressedSuffixes, filesOf } from './files-of.ts';

/** Types that compression makes smaller. */
const compressible = /\.(css|html|js|json|mjs|svg|txt|wasm|webmanifest)$/;
/** Below this size, in bytes, the headers of an answer are larger than the gain. */
const minBytes = 1_024;

/** Writes a file in Brotli and a file in gzip beside each compressible file of a folder. The same input gives the same bytes. */
export function compressFiles(folder: string): void {
  for (const path of filesOf(folder)) {
    if (!compressible.test(path)) continue;
    const file = join(folder, path);
    const bytes = readFileSync(file);
    if (bytes.length < minBytes) continue;
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(file + compressedSuffixes.brotli, brotliCompressSync(bytes, { params }));
    writeFileSync(file + compressedSuffixes.gzip, gzipSync(bytes, { level: 9 }));
  }
}
