import { loadavg } from 'node:os';
import type { Page } from '@playwright/test';
import { viewed } from '../../tests/support/viewer.ts';

/** In milliseconds, since the navigation began. */
export interface Visit {
  /** The link to the sample site is there, with its cover. */
  cover: number;
  /** The first picture of the site is decoded. */
  picture: number;
  load: number;
}

/** A visit with one click. The times include those of the browser's remote control. @param page of an empty profile. */
export async function firstVisit(page: Page, url: string): Promise<Visit> {
  const [load] = loadavg() as [number];
  const start = performance.now();
  await page.goto(url, { waitUntil: 'commit' });
  const link = page.getByRole('link', { name: 'Open the sample site' });
  await link.locator('img').evaluate((image: HTMLImageElement) => image.decode());
  const cover = performance.now() - start;
  await link.click();
  const picture = viewed(page).locator('main img').first();
  await picture.evaluate((image: HTMLImageElement) => image.decode());
  return { cover, picture: performance.now() - start, load };
}
