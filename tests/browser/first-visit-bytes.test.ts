import type { Page } from '@playwright/test';
import { expect, test } from '../support/chromium.ts';
import { CountingProxy } from '../support/counting-proxy.ts';
import { withSample } from '../support/self-test.ts';
import { viewed } from '../support/viewer.ts';

/**
 * The most bytes that the host may send until the sample site's first page shows, in a browser that knows nothing yet. A
 * site on an origin of its own has pages of its own, and asks for the gateway's worker and decoder, which did not change.
 */
const most = 300_000;

for (const { title, name, isolation } of [
  { title: 'in path mode', name: '127.0.0.1', isolation: 'path' },
  { title: 'with origins of sites', name: 'antway.localhost', isolation: 'auto' },
] as const) {
  test(`a first visit ${title} loads at most 300 kB of the gateway’s files until the sample site shows`, {
    tag: isolation === 'path' ? '@full' : [],
  }, async ({ page, startPeer, startHost }) => {
    // WebTransport would go past the proxy.
    const peer = await startPeer({ webTransport: 'none' });
    const config = await withSample(peer);
    const chunks = await CountingProxy.start(peer.url);
    const host = await startHost({ ...config, isolation, peers: [`http://127.0.0.1:${chunks.port}`] });
    const files = await CountingProxy.start(host.url);
    try {
      await neverIdle(page);
      await page.goto(`http://${name}:${files.port}/`);
      await page.getByRole('link', { name: 'Open the sample site' }).click();
      await expect(viewed(page).locator('h1').first()).toBeVisible();
      const figures = { files: files.received, chunks: chunks.received };
      console.log(`a first visit ${title}:`, figures);
      expect(figures.files).toBeLessThanOrEqual(most);
      // Everything came by the proxies.
      expect(figures.files).toBeGreaterThan(150_000);
      expect(figures.chunks).toBeGreaterThan(100_000);
    } finally {
      await page.close();
      files.close();
      chunks.close();
    }
  });
}

/** Keeps the shell from storing the rest of its files, which it does when the page is idle. */
async function neverIdle(page: Page): Promise<void> {
  await page.addInitScript(() => {
    window.requestIdleCallback = () => 0;
  });
}
