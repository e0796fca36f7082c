import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { fromRoot } from '../support/paths.ts';

/** How a page received a body, down to when each piece came. */
export interface Download {
  /** 0 when the request itself failed. */
  status: number;
  /** `failed`: the body broke off with an error. A body that ends too soon has `ended`, and the wrong hash. */
  outcome: 'ended' | 'failed' | 'cancelled';
  received: number;
  sha256: string;
  /** The `code` of an error answer. */
  code: string | undefined;
  /** When it was asked for, when each piece came, and when it was over, in milliseconds since 1970. */
  times: number[];
}

type DownloadWindow = typeof globalThis & { received: number; hashwasm: typeof import('hash-wasm') };

export interface DownloadOptions {
  /** The `Range` header. */
  range?: string | undefined;
  /** Cancels the body once this many bytes have come. */
  cancelAfter?: number | undefined;
}

/** Fetches a path of the gateway in a page and hashes what comes, as it comes. */
export async function download(
  page: Page,
  path: string,
  { range, cancelAfter = Number.POSITIVE_INFINITY }: DownloadOptions = {},
): Promise<Download> {
  await loadHasher(page);
  return page.evaluate(
    async ([path, range, cancelAfter]) => {
      const window = globalThis as DownloadWindow;
      const hasher = (await window.hashwasm.createSHA256()).init();
      const times = [Date.now()];
      let text = '';
      let status = 0;
      let received = 0;
      let outcome: 'ended' | 'failed' | 'cancelled' = 'ended';
      try {
        const response = await fetch(path, range ? { headers: { Range: range } } : {});
        status = response.status;
        const reader = response.body!.getReader();
        for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
          times.push(Date.now());
          hasher.update(piece.value);
          received += piece.value.length;
          window.received = received;
          if (!response.ok) text += new TextDecoder().decode(piece.value);
          if (received < cancelAfter) continue;
          await reader.cancel();
          outcome = 'cancelled';
          break;
        }
      } catch {
        outcome = 'failed';
      }
      times.push(Date.now());
      const code = text ? (JSON.parse(text) as { code: string }).code : undefined;
      return { status, outcome, received, sha256: hasher.digest('hex'), code, times };
    },
    [path, range, cancelAfter] as const,
  );
}

/** Resolves when the page's one download has brought this many bytes. */
export async function hasReceived(page: Page, bytes: number): Promise<void> {
  await page.waitForFunction((bytes) => (globalThis as DownloadWindow).received >= bytes, bytes, {
    polling: 5,
  });
}

/** The longest time without a byte, in milliseconds, counting only from `since` on. */
export function longestPause({ times }: Download, since = 0): number {
  let longest = 0;
  for (let i = 1; i < times.length; i++) {
    longest = Math.max(longest, times[i]! - Math.max(times[i - 1]!, since));
  }
  return longest;
}

async function loadHasher(page: Page): Promise<void> {
  const isLoaded = await page.evaluate(() => {
    (globalThis as DownloadWindow).received = 0;
    return 'hashwasm' in globalThis;
  });
  if (isLoaded) return;
  await page.evaluate(readFileSync(fromRoot('node_modules/hash-wasm/dist/sha256.umd.min.js'), 'utf8'));
}
