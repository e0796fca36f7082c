import { readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { AntwayError } from '../errors.ts';
import { fileError } from './disk-file.ts';

/**
 * Runs work that no other command may do at the same time.
 * @param path the file or folder that the work is about. The lock is the file `<path>.lock`.
 * @throws AntwayError `REFUSED` if another command has the lock; the errors of the work.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  await take(lock, path).catch(async (error) => {
    if (!(await removeIfAbandoned(lock))) throw error;
    await take(lock, path);
  });
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function take(lock: string, path: string): Promise<void> {
  try {
    await writeFile(lock, `process ${process.pid} on ${hostname()}\n`, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      // A full disk may have room for an empty file.
      await rm(lock, { force: true }).catch(() => undefined);
      throw fileError(error, lock);
    }
    const holder = (await holderOf(lock)) || 'unknown';
    const message = `Another command uses “${path}” (${holder}). Wait until it ends. If it was killed, delete “${lock}”.`;
    throw new AntwayError('REFUSED', message, { path: lock });
  }
}

/**
 * Removes the lock of a command that was killed. Whether a command on another machine still runs cannot be known.
 * @returns whether there is no lock any more.
 */
async function removeIfAbandoned(lock: string): Promise<boolean> {
  const holder = await holderOf(lock);
  const [, id, host] = /^process (\d+) on (.*)$/.exec(holder) ?? [];
  if (id === undefined || host !== hostname() || isRunning(Number(id))) return false;
  // Another command may notice the same, or have the lock already. Only one command at a time may look and remove it.
  const claim = `${lock}.claim`;
  try {
    await writeFile(claim, '', { flag: 'wx' });
  } catch {
    return false;
  }
  try {
    if ((await holderOf(lock)) !== holder) return false;
    await rm(lock, { force: true });
    return true;
  } finally {
    await rm(claim, { force: true });
  }
}

async function holderOf(lock: string): Promise<string> {
  return (await readFile(lock, 'utf8').catch(() => '')).trim();
}

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
