import type { Page } from '@playwright/test';

export interface Read {
  milliseconds: number;
  /** Of each body. */
  sha256: string[];
}

/** Fetches all paths at once, as a page does with its pictures. The hashes are taken after the time. */
export function readAll(page: Page, paths: readonly string[]): Promise<Read> {
  return page.evaluate(async (paths) => {
    const startedMs = performance.now();
    const bodies = await Promise.all(
      paths.map(async (path) => {
        const response = await fetch(path, { cache: 'no-store' });
        if (response.status !== 200) throw new Error(`${path}: status ${response.status}`);
        return response.arrayBuffer();
      }),
    );
    const milliseconds = performance.now() - startedMs;
    const hex = (hash: ArrayBuffer) =>
      Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
    const hashes = await Promise.all(bodies.map((body) => crypto.subtle.digest('SHA-256', body)));
    return { milliseconds, sha256: hashes.map(hex) };
  }, paths);
}
