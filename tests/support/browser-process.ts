import { readdirSync, readFileSync } from 'node:fs';

/** The process of the browser that runs with a profile: not those of its pages. */
export function browserProcess(profile: string): number {
  for (const id of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const words = readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0');
      const isOwn = words.includes(`--user-data-dir=${profile}`);
      if (isOwn && !words.some((word) => word.startsWith('--type='))) return Number(id);
    } catch {
      // It has ended meanwhile.
    }
  }
  throw new Error(`No browser runs with ${profile}.`);
}
