import type { FrameLocator, Page } from '@playwright/test';

/** The content in the shell's viewer. */
export function viewed(page: Page): FrameLocator {
  return page.frameLocator('iframe.viewer-frame');
}

/**
 * Waits until the viewer shows a path of content.
 * @param path encoded, with a leading slash, or a pattern of it. @returns the content.
 */
export async function untilViewed(page: Page, path: string | RegExp): Promise<FrameLocator> {
  await page.waitForURL(({ pathname, hash }) => {
    const [, shown] = /^#view=(.*)$/s.exec(hash) ?? [];
    if (pathname !== '/' || shown === undefined) return false;
    return typeof path === 'string' ? `/${shown}` === path : path.test(`/${shown}`);
  });
  await page.locator('iframe.viewer-frame').waitFor();
  return viewed(page);
}

/** Hides a tab like a change to another tab, or shows it again. Tests have no window whose tabs hide each other. */
export async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate((isHidden) => {
    const state = isHidden ? 'hidden' : 'visible';
    Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  }, isHidden);
}

/**
 * Shortens the intervals that the app's page sets after its next load, so that a test need not wait for the viewer's polls.
 * The limits of time stay, as they are timeouts.
 */
export async function hurryPolls(page: Page): Promise<void> {
  await page.addInitScript(() => {
    if (window.top !== window) return;
    const { setInterval } = window;
    const hurried = (run: TimerHandler, delay = 0, ...args: unknown[]) =>
      setInterval(run, delay / 10, ...args);
    Object.assign(window, { setInterval: hurried });
  });
}
