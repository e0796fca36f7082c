import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AntwayError } from '../errors.ts';

/** The scripts of this command are in one folder. */
const own = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * The folder of the built gateway.
 * @param wanted the folder that the user names.
 * @throws AntwayError `NOT_FOUND`
 */
export function gatewayFiles(wanted: string | undefined): string {
  return folderWith('index.html', wanted === undefined ? [own('web'), own('../dist')] : [resolve(wanted)], {
    what: 'the built gateway',
    advice: 'Build it with “npm run build”, or name its folder with --web.',
  });
}

/** The folder of the built drop-in. @throws AntwayError `NOT_FOUND` */
export function dropInFiles(wanted: string | undefined): string {
  const folders = wanted === undefined ? [own('drop-in'), own('../dist-drop-in')] : [resolve(wanted)];
  return folderWith('antway-sw.js', folders, {
    what: 'the built drop-in',
    advice: 'Build it with “npm run build:drop-in”, or name its folder with --files.',
  });
}

function folderWith(
  file: string,
  folders: readonly string[],
  { what, advice }: { what: string; advice: string },
): string {
  const found = folders.find((folder) => existsSync(join(folder, file)));
  if (found) return found;
  throw new AntwayError('NOT_FOUND', `${folders.at(-1)} does not hold ${what}. ${advice}`);
}
