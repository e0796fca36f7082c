import { join } from 'node:path';
import type { Browser, Page } from '@playwright/test';
import { launchFirefox } from '../support/firefox.ts';
import type { Item } from './content.ts';
import type { Devnet, Prepared } from './devnet.ts';
import { readFromNodes } from './direct.ts';
import type { Row } from './rows.ts';

/** As `readFromNodes`, in Debian's Firefox. */
export async function readInFirefox(
  folder: string,
  network: Devnet,
  items: readonly Item[],
  pointer: Prepared['pointer'],
  film: Item,
): Promise<Row[]> {
  const firefox = await launchFirefox(join(folder, 'firefox'));
  // `readFromNodes` uses this part of Playwright's browser. Puppeteer passes the argument of a condition in another place.
  const browser = {
    newContext: async () => {
      const context = await firefox.createBrowserContext();
      const newPage = async () => {
        const page = await context.newPage();
        return {
          goto: (url: string) => page.goto(url),
          evaluate: page.evaluate.bind(page),
          waitForFunction: (condition: () => unknown, argument: unknown) =>
            page.waitForFunction(condition, { timeout: 0 }, argument),
        } as unknown as Page;
      };
      return { newPage, close: () => context.close() };
    },
  } as unknown as Browser;
  try {
    return await readFromNodes(browser, folder, network, items, pointer, film, 'nodes → Firefox');
  } finally {
    await firefox.close();
  }
}
