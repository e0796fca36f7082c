import type { Page } from '@playwright/test';
import { Gateway } from '../../tests/support/chromium.ts';
import type { PeerProcess } from '../../tests/support/peer-process.ts';

export interface Transfer {
  bytes: number;
  milliseconds: number;
  /** Whether the file came whole, and was not given up for its time. */
  isWhole: boolean;
}

/** A page of any browser, whatever drives it. */
interface TimedPage {
  evaluate(run: (path: string) => Promise<number>, path: string): Promise<number>;
}

/** Milliseconds from asking for a path of the gateway to the first byte of its body. The rest is read, too. */
export function firstByteMs(page: TimedPage, path: string): Promise<number> {
  return page.evaluate(async (path) => {
    const startedMs = performance.now();
    const response = await fetch(path);
    const reader = response.body!.getReader();
    const { value } = await reader.read();
    const elapsedMs = performance.now() - startedMs;
    if (response.status !== 200 || !value) throw new Error(`${path}: status ${response.status}`);
    while (!(await reader.read()).done);
    return elapsedMs;
  }, path);
}

/** Reads a file to its end, or for `atMostMs`. */
export function transfer(page: Page, path: string, atMostMs: number): Promise<Transfer> {
  return page.evaluate(
    async ([path, atMostMs]) => {
      const startedMs = performance.now();
      const response = await fetch(path);
      if (response.status !== 200) throw new Error(`${path}: status ${response.status}`);
      const reader = response.body!.getReader();
      let bytes = 0;
      let milliseconds = 0;
      for (;;) {
        const { done, value } = await reader.read();
        milliseconds = performance.now() - startedMs;
        if (done) break;
        bytes += value.length;
        if (milliseconds > atMostMs) {
          void reader.cancel();
          break;
        }
      }
      const isWhole = bytes === Number(response.headers.get('Content-Length'));
      return { bytes, milliseconds, isWhole };
    },
    [path, atMostMs] as const,
  );
}

/** Opens the gateway, and a session with its peer. @throws Error when chunks come by another transport. */
export async function openWarm(
  page: Page,
  host: PeerProcess,
  transport: 'webtransport' | 'http',
  warmUps: readonly string[],
): Promise<Gateway> {
  const gateway = await Gateway.open(host, page);
  for (const path of warmUps) {
    await firstByteMs(page, path);
    const [peer] = await gateway.peers();
    if (peer?.state === transport) return gateway;
  }
  throw new Error(`The peer was not used by ${transport}: ${JSON.stringify(await gateway.peers())}`);
}
