import { expect } from 'vitest';
import { shellStored } from '../support/shell-stored.ts';
import { startSiteOnOwnOrigin } from '../support/site-on-own-origin.ts';
import { test } from './harness.ts';

const files = {
  'index.html': '<!doctype html><title>Still</title><script>document.title = "Running"</script>',
};

test('a site runs its scripts on an origin of its own, and opens there with peer and host gone', async ({
  startPeer,
  startHost,
  browser,
}) => {
  const { peer, host, address, root, origin } = await startSiteOnOwnOrigin({ startPeer, startHost }, files);
  const shell = await browser.newPage();
  await shell.goto(root);
  await shell.waitFor(() => navigator.serviceWorker.controller?.state === 'activated');

  const page = await browser.newPage();
  await page.goto(`${root}/${address}/`);
  await page.waitFor(() => document.title === 'Running');
  expect(await page.url()).toBe(`${origin}/`);
  await shellStored(shell);
  await Promise.all([peer.kill(), host.kill()]);
  await page.goto(`${root}/${address}/`);
  await page.waitFor(() => document.title === 'Running');
});
