import { expect } from 'vitest';
import { Address } from '../../src/address.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { test } from './harness.ts';

const files = {
  'index.html': '<!doctype html><title>Still</title><script>document.title = "Running"</script>',
};

test('a site runs its scripts on an origin of its own, and opens there with peer and host gone', async ({
  startPeer,
  startHost,
  browser,
}) => {
  const peer = await startPeer();
  const address = await publish(await makeTarchive(files), peer);
  const host = await startHost({ peers: [peer.url] });
  const root = `http://antway.localhost:${new URL(host.url).port}`;
  const shell = await browser.newPage();
  await shell.goto(root);
  await shell.waitFor(() => navigator.serviceWorker.controller?.state === 'activated');

  const page = await browser.newPage();
  await page.goto(`${root}/${address}/`);
  await page.waitFor(() => document.title === 'Running');
  expect(await page.url()).toBe(`${root.replace('//', `//${Address.fromHex(address).base32}.`)}/`);
  await Promise.all([peer.kill(), host.kill()]);
  await page.goto(`${root}/${address}/`);
  await page.waitFor(() => document.title === 'Running');
});
