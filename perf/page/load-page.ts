import type { Page } from '@playwright/test';

/** Times since the navigation began, in milliseconds. */
export interface PageLoad {
  /** Of the document. */
  firstByteMs: number;
  /** Of text or a picture. */
  firstPaintMs: number;
  /** When the last of the page's files was complete. */
  completeMs: number;
}

/** Navigates to a page, and waits for its files. @throws Error if a file is missing. */
export async function loadPage(page: Page, url: string, fileCount: number): Promise<PageLoad> {
  await page.goto(url, { waitUntil: 'load' });
  return timesOf(page, fileCount);
}

/** The times of a page that is loaded, since its own navigation. @throws Error if a file is missing. */
export async function timesOf(page: Page, fileCount: number): Promise<PageLoad> {
  const paint = () => performance.getEntriesByName('first-contentful-paint').length > 0;
  await page.waitForFunction(paint);
  const { status, files, brokenPictures, ...times } = await page.evaluate(() => {
    const navigation = performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming;
    const all = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    const resources = all.filter(({ name }) => !name.includes('favicon'));
    const pictures = [...document.images];
    return {
      status: navigation.responseStatus,
      files: 1 + resources.length,
      brokenPictures: pictures.filter(({ naturalWidth }) => naturalWidth === 0).length,
      firstByteMs: navigation.responseStart,
      firstPaintMs: performance.getEntriesByName('first-contentful-paint')[0]!.startTime,
      completeMs: Math.max(...resources.map(({ responseEnd }) => responseEnd)),
    };
  });
  if (status !== 200 || files !== fileCount || brokenPictures > 0) {
    const found = `status ${status}, ${files} files, ${brokenPictures} broken pictures`;
    throw new Error(`${page.url()}: ${found} instead of ${fileCount} files`);
  }
  return times;
}
