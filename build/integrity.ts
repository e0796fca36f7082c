import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Prints the hashes for `<script integrity>`, and writes them to `integrity.json` in the folder. */
export function writeIntegrity(folder: string, names: readonly string[]): void {
  const hashes = Object.fromEntries(
    names.map((name) => {
      const hash = createHash('sha384').update(readFileSync(join(folder, name)));
      return [name, `sha384-${hash.digest('base64')}`];
    }),
  );
  writeFileSync(join(folder, 'integrity.json'), `${JSON.stringify(hashes, null, 2)}\n`);
  for (const [name, hash] of Object.entries(hashes)) console.log(`${name.padEnd(20)} integrity="${hash}"`);
}
