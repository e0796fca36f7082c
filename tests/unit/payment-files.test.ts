import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withFileLock } from '../../src/cli/file-lock.ts';
import { openJournal } from '../../src/cli/payment-files.ts';
import type { AntwayError } from '../../src/errors.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'antway-journal-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the journal of payments', () => {
  it.each(['', '{"offer":', '\0\0\0\0', 'null', '[]', '5'])('refuses the damaged entry %j', async (text) => {
    const journal = await openJournal(folder);
    const path = join(folder, 'record-1.json');
    await writeFile(path, text);
    await expect(journal.get('record-1')).rejects.toMatchObject({ code: 'BAD_CONFIG', details: { path } });
  });

  it('is only for the user', async () => {
    const journal = join(folder, 'payments/31337');
    await openJournal(journal);
    for (const path of [journal, join(folder, 'payments')])
      expect((await stat(path)).mode & 0o777).toBe(0o700);
  });

  it('has files that only the user can read, also in an existing folder and in place of open files', async () => {
    const existing = join(folder, 'existing');
    await mkdir(existing, { mode: 0o755 });
    const path = join(existing, 'record-1.json');
    const journal = await openJournal(existing);
    for (let i = 0; i < 2; i++) {
      await journal.put('record-1', { i });
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      await chmod(path, 0o644);
    }
  });

  it('closes the entries that a former version left open', async () => {
    const entry = join(folder, 'record-1.json');
    await writeFile(entry, '{}', { mode: 0o644 });
    await openJournal(folder);
    expect((await stat(entry)).mode & 0o777).toBe(0o600);
  });

  it('opens while another command deletes an entry', async () => {
    // As an entry that was listed, and is gone.
    await symlink(join(folder, 'gone'), join(folder, 'record-1.json'));
    await expect(openJournal(folder)).resolves.toBeDefined();
  });

  it('names no backup that does not exist', async () => {
    await writeFile(join(folder, 'record-1.json'), 'damaged');
    const reading = (await openJournal(folder)).get('record-1');
    await expect(reading).rejects.toThrow(/If you have a copy of the journal, put it back\./);
    await expect(reading).rejects.not.toThrow(/backup/);
  });
});

describe('a lock', () => {
  const path = () => join(folder, 'journal');

  /** A lock of a process that ended. */
  async function abandon(): Promise<void> {
    const { pid } = spawnSync(process.execPath, ['--version']);
    await writeFile(`${path()}.lock`, `process ${pid} on ${hostname()}\n`);
  }

  it('of a process that ended is taken over', async () => {
    await abandon();
    expect(await withFileLock(path(), async () => 'done')).toBe('done');
    expect(await readdir(folder)).toEqual([]);
  });

  it('that two commands take over is held by one of them', async () => {
    await abandon();
    const { rm: original } = fs.promises;
    let resume = () => {};
    const isWaiting = new Promise<void>((waiting) => {
      // The first command stops before it removes the abandoned lock.
      fs.promises.rm = async (target, options) => {
        fs.promises.rm = original;
        syncBuiltinESMExports();
        await new Promise<void>((done) => {
          resume = done;
          waiting();
        });
        return original(target, options);
      };
      syncBuiltinESMExports();
    });
    let [working, most, settled] = [0, 0, 0];
    let release = () => {};
    const released = new Promise<void>((done) => {
      release = done;
    });
    const take = async () => {
      try {
        await withFileLock(path(), async () => {
          most = Math.max(most, ++working);
          settled++;
          await released;
          working--;
        });
        return 'worked';
      } catch (error) {
        settled++;
        return (error as AntwayError).code;
      }
    };
    const first = take();
    await isWaiting;
    const second = take();
    await expect.poll(() => settled).toBe(1);
    resume();
    await expect.poll(() => settled).toBe(2);
    release();
    expect(await Promise.all([first, second])).toEqual(['worked', 'REFUSED']);
    expect(most).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });

  it('is not left behind by a disk without room', async () => {
    const { writeFile: original } = fs.promises;
    fs.promises.writeFile = async (file, _, options) => {
      await original(file, '', options);
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    };
    syncBuiltinESMExports();
    try {
      const locking = withFileLock(path(), async () => undefined);
      await expect(locking).rejects.toMatchObject({ code: 'TOO_LARGE' });
    } finally {
      fs.promises.writeFile = original;
      syncBuiltinESMExports();
    }
    expect(await readdir(folder)).toEqual([]);
  });
});
