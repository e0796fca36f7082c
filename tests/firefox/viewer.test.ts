import type { Frame, Page } from 'puppeteer-core';
import { describe, expect } from 'vitest';
import { LookingPeer } from '../support/looking-peer.ts';
import { LoopbackServer } from '../support/loopback-server.ts';
import { startSiteOnOwnOrigin } from '../support/site-on-own-origin.ts';
import { test } from './harness.ts';

const files = {
  'index.html':
    '<!doctype html><title>Low Tide</title><p>still</p><script>document.querySelector("p").textContent = "running"</script><a href="second.html">Second</a>',
  'second.html': '<!doctype html><title>Second</title><p>The second page</p>',
};

const textOf = (page: Page | Frame, selector: string) =>
  page.$eval(selector, (element) => element.textContent).catch(() => null);

/** The frame of the viewer, whose page is of this origin. */
function frameOf(shell: Page, origin: string): Frame | undefined {
  return shell.frames().find((frame) => frame.url().startsWith(origin) && !frame.url().includes('/-/'));
}

async function openFromApp(shell: Page, address: string): Promise<void> {
  await (await shell.waitForSelector('#address'))!.type(address);
  await shell.keyboard.press('Enter');
}

test('a site opens below the bar on its own origin, and its links, a reload and the way back work', async ({
  startPeer,
  startHost,
  browser,
}) => {
  const { address, root, origin } = await startSiteOnOwnOrigin({ startPeer, startHost }, files);
  const shell = await browser.newPage();
  await shell.goto(root);
  await shell.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
  await openFromApp(shell, address);
  await expect.poll(() => textOf(shell, '.site-bar h1')).toBe('Low Tide');
  await expect.poll(() => textOf(shell, '.site-state')).toBe('Verified');
  const frame = () => frameOf(shell, origin)!;
  await expect.poll(() => textOf(frame(), 'p')).toBe('running');

  // The site finds neither the shell nor the bridge, and a window that it opens has no opener.
  const found = await frame().evaluate(() => ({
    frames: top!.length,
    isOwn: top![0] === window,
    popup: String(window.open('about:blank')),
    isFullscreen: document.fullscreenEnabled,
    shell: (() => {
      try {
        return top!.document.title;
      } catch {
        return 'refused';
      }
    })(),
  }));
  expect(found).toEqual({ frames: 1, isOwn: true, popup: 'null', isFullscreen: false, shell: 'refused' });

  await frame().evaluate(() => document.querySelector('a')!.click());
  await expect.poll(() => textOf(shell, '.site-bar h1')).toBe('Second');
  await expect.poll(() => new URL(shell.url()).hash).toBe(`#view=${address}/second.html`);
  await shell.reload();
  // A shell in the background asks the worker nothing.
  await shell.bringToFront();
  await expect.poll(() => textOf(shell, '.site-bar h1')).toBe('Second');
  await (await shell.waitForSelector('.site-bar a'))!.click();
  await expect.poll(() => textOf(shell, 'h1')).toBe('Explore the Autonomi network');
  await shell.close();
});

test('a site on the shared origin opens below the bar without scripts', { tags: 'full' }, async ({
  startPeer,
  startHost,
  browser,
}) => {
  const { address, host } = await startSiteOnOwnOrigin({ startPeer, startHost }, files);
  const shell = await browser.newPage();
  await shell.goto(host.url);
  await shell.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
  await openFromApp(shell, address);
  await expect.poll(() => textOf(shell, '.site-bar h1')).toBe('Low Tide');
  await expect.poll(() => textOf(shell, '.site-state')).toBe('Verified');
  const frame = shell.frames().find((frame) => frame.url() === `${host.url}/${address}/`)!;
  expect(await textOf(frame, 'p')).toBe('still');
  await shell.close();
});

test('the viewer shares a link that works elsewhere', { tags: 'full' }, async ({
  startPeer,
  startHost,
  browser,
}) => {
  const { address, root } = await startSiteOnOwnOrigin({ startPeer, startHost }, files);
  const shell = await browser.newPage();
  await shell.goto(root);
  await shell.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
  await openFromApp(shell, address);
  await expect.poll(() => textOf(shell, '.site-bar h1')).toBe('Low Tide');
  await (await shell.waitForSelector('.site-bar button[aria-label="Share"]'))!.click();
  await expect.poll(() => textOf(shell, '.share-main .result-text')).toBe(`ant://${address}/`);
  await shell.waitForSelector('.qr');
  await shell.close();
});

describe('a user leaves while peers look for content, and the next page comes late', () => {
  /** A page that comes this long after Firefox has ended the requests of the page before. */
  const startLatePage = (afterMs: number) =>
    LoopbackServer.start((_, response) => {
      response.setHeader('Content-Type', 'text/html');
      setTimeout(() => response.end('<title>Next</title>'), afterMs);
    });

  test('the viewer lets the user go', { tags: 'full' }, async ({ startPeer, startHost, browser }) => {
    await using looking = await LookingPeer.start(await startPeer());
    await using next = await startLatePage(2_500);
    const host = await startHost({ peers: [looking.url] });
    const shell = await browser.newPage();
    await shell.goto(host.url);
    await shell.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
    await openFromApp(shell, 'ab'.repeat(32));
    await expect.poll(() => looking.busyAnswers).toBeGreaterThan(0);
    await shell.goto(next.url);
    expect(await shell.title()).toBe('Next');
    await shell.close();
  });

  test('the progress page lets the user go', { tags: 'full' }, async ({ startPeer, startHost, browser }) => {
    await using looking = await LookingPeer.start(await startPeer());
    await using next = await startLatePage(3_500);
    const host = await startHost({ peers: [looking.url] });
    const page = await browser.newPage();
    await page.goto(host.url);
    await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
    await page.goto(`${host.url}/${'ab'.repeat(32)}/`);
    await page.waitForSelector('#seconds');
    await page.goto(next.url);
    expect(await page.title()).toBe('Next');
    await page.close();
  });
});
