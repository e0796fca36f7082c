import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The folder of a new profile of a browser. */
export function createProfile(): string {
  return mkdtempSync(join(tmpdir(), 'antway-profile-'));
}

/**
 * Removes the folder of a profile once the last process of its browser writes no more: some outlive the browser that
 * was closed. `maxRetries` does not do: it tries a folder again without the files that came after it was listed.
 */
export async function removeProfile(folder: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await rm(folder, { recursive: true, force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY' || attempt === 100) throw error;
      await sleep(100);
    }
  }
}
