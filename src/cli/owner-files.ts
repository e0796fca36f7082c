import { randomUUID } from 'node:crypto';
import { constants, copyFile, link, open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Address } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { syncFolder } from '../node-peer/sync-folder.ts';
import { type KeyFile, parseKeyFile } from '../owner/key-file.ts';
import { OwnerStates } from '../owner/states.ts';
import { writeAtomically } from './atomic-file.ts';
import { fileError } from './disk-file.ts';
import { withFileLock } from './file-lock.ts';

/** Reads a key file. @throws AntwayError as `parseKeyFile` and `fileError`. */
export async function readKeyFile(path: string): Promise<KeyFile> {
  return parseKeyFile(await readText(path));
}

/**
 * Writes a new key file that only this user can read. It is on the disk when this returns.
 * @throws AntwayError `REFUSED` if the file exists: it could have the only copy of another key.
 */
export async function writeNewKeyFile(path: string, text: string): Promise<void> {
  // A failure, such as a full disk, must leave no incomplete file with the name of a key.
  const temporary = `${path}.${randomUUID()}.partial`;
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await giveName(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw fileError(error, path);
    const message = `“${path}” exists. A key file is never replaced. Name another file.`;
    throw new AntwayError('REFUSED', message, { path });
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Gives a complete file another name, which no file has yet. */
async function giveName(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    // Some file systems have no hard links.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL);
  }
}

/** The file with the known states of a key's pointer. docs/reference/formats.md has the layout. */
export const statesPath = (keyPath: string): string => `${keyPath}.states`;

/** @returns no states if there is no file. @throws AntwayError `BAD_CONFIG` if it is damaged; as `fileError`. */
export async function readStates(keyPath: string, address: Address): Promise<OwnerStates> {
  const path = statesPath(keyPath);
  let text: string;
  try {
    text = await readText(path);
  } catch (error) {
    if (error instanceof AntwayError && error.code === 'NOT_FOUND') return OwnerStates.empty(address);
    throw error;
  }
  try {
    return OwnerStates.fromJson(text, address);
  } catch (cause) {
    const message = `“${path}”: ${(cause as Error).message}`;
    throw new AntwayError('BAD_CONFIG', message, { path }, { cause });
  }
}

export async function writeStates(keyPath: string, states: OwnerStates): Promise<void> {
  const bytes = new TextEncoder().encode(states.toJson());
  await writeAtomically(statesPath(keyPath), [bytes], { mode: 0o600 });
}

/** Runs work that reads the states, signs and stores the new state. Two commands at once could sign one counter twice. */
export function withKeyLock<T>(keyPath: string, work: () => Promise<T>): Promise<T> {
  return withFileLock(keyPath, work);
}

async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error) => {
    throw fileError(error, path);
  });
}
