import { chmod, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { AntwayError } from '../errors.ts';
import { syncFolder } from '../node-peer/sync-folder.ts';
import type { JournalStore } from '../payment/journal.ts';
import { writeAtomically } from './atomic-file.ts';
import { fileError } from './disk-file.ts';

/** Where payments are written down, unless the user names a folder. */
export function journalFolder(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_STATE_HOME || join(homedir(), '.local/state'), 'antway/payments');
}

/** A journal of one JSON file for each key. Only the user can read the files. @throws AntwayError as `fileError`. */
export async function openJournal(folder: string): Promise<JournalStore> {
  const wrap = (error: unknown): never => {
    throw fileError(error, folder);
  };
  // Another command may delete it meanwhile.
  const unlessMissing = (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? undefined : wrap(error));
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(wrap);
  // Former versions let others read the entries.
  for (const name of await readdir(folder).catch(wrap)) {
    if (name.endsWith('.json')) await chmod(join(folder, name), 0o600).catch(unlessMissing);
  }
  const pathOf = (key: string) => join(folder, `${key}.json`);
  return {
    async get(key) {
      const text = await readFile(pathOf(key), 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw fileError(error, pathOf(key));
      });
      return text === undefined ? undefined : parseEntry(text, pathOf(key));
    },
    put: (key, value) =>
      writeAtomically(pathOf(key), [new TextEncoder().encode(JSON.stringify(value))], { mode: 0o600 }),
    async delete(key) {
      await rm(pathOf(key), { force: true }).catch(wrap);
      await syncFolder(folder);
    },
    async keys(prefix) {
      const names = await readdir(folder).catch(wrap);
      const files = names.filter((name) => name.startsWith(prefix) && name.endsWith('.json'));
      return files.map((name) => name.slice(0, -'.json'.length));
    },
  };
}

/** @throws AntwayError `BAD_CONFIG` if the file is damaged. Without the entry, its records would be paid for again. */
function parseEntry(text: string, path: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // It is no object either.
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  const message = `“${path}”, a part of the journal of payments, is damaged. If you have a copy of the journal, put it back. If you delete the file instead, its records are paid for again.`;
  throw new AntwayError('BAD_CONFIG', message, { path });
}
