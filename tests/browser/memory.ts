import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';

/** Memory of the browser and its pages that is its own, in bytes. */
export async function residentBytes(page: Page): Promise<number> {
  const session = await page.context().browser()!.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.reduce((sum, { id }) => {
    const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1];
    return sum + Number(kilobytes) * 1024;
  }, 0);
}
