import { expect } from 'vitest';
import { fetchIn } from '../support/gateway-client.ts';
import { shellStored } from '../support/shell-stored.ts';
import { startSiteOnOwnOrigin } from '../support/site-on-own-origin.ts';
import { test } from './harness.ts';

const files = {
  'index.html': '<!doctype html><title>Still</title><script>document.title = "Running"</script>',
  'unseen.html': '<!doctype html><title>Unseen</title>',
};

test('a site runs its scripts on an origin of its own, is pinned there by the library, and opens with peer and host gone', async ({
  startPeer,
  startHost,
  browser,
}) => {
  const { peer, host, address, root, origin } = await startSiteOnOwnOrigin({ startPeer, startHost }, files);
  const shell = await browser.newPage();
  await shell.goto(root);
  await shell.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');

  const page = await browser.newPage();
  await page.goto(`${root}/${address}/`);
  await page.waitForFunction(() => document.title === 'Running');
  expect(page.url()).toBe(`${origin}/`);

  // The visit counts after a second.
  await page.waitForFunction(
    async () => {
      if (!(await indexedDB.databases()).some(({ name }) => name === 'antway')) return false;
      return new Promise((resolve, reject) => {
        const opening = indexedDB.open('antway');
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const reading = opening.result.transaction('settings').objectStore('settings').count('seenAt');
          reading.onsuccess = () => resolve(reading.result > 0);
          opening.result.close();
        };
      });
    },
    { polling: 250 },
  );
  // A shell in the background asks the worker nothing.
  await shell.bringToFront();
  await shell.evaluate(() => {
    location.hash = 'library';
  });
  await (await shell.waitForSelector('button[aria-label="Pin: Still"]'))!.click();
  await expect
    .poll(async () => JSON.parse((await fetchIn(shell, '/-/sites')).text).sites, { timeout: 30_000 })
    .toMatchObject([{ address, hasOwnOrigin: true, offline: true, pin: { state: 'complete' } }]);
  await shellStored(shell);
  await Promise.all([peer.kill(), host.kill()]);
  await page.bringToFront();
  // `goto` waits for an event that WebDriver BiDi does not send for a redirect of a worker.
  await page.evaluate((url) => {
    location.href = url;
  }, `${root}/${address}/unseen.html`);
  await page.waitForFunction(() => document.title === 'Unseen');
  expect(page.url()).toBe(`${origin}/unseen.html`);
  await page.close();
  await shell.close();
});
