import { expect } from 'vitest';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tar.ts';
import { test } from './harness.ts';

test('a page with a sandbox and an opener policy loads, and its pictures and frames come from the worker', async ({
  openGateway,
  startPeer,
  folder,
}) => {
  const peer = await startPeer();
  const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>';
  const script = '<script>document.title = "Scripted"</script>';
  const address = await publish(
    makeTarchive(folder, {
      'index.html': `<title>Canary</title>${script}<img src="p.svg"><iframe src="f.html"></iframe><a href="f.html">On</a>`,
      'f.html': `<title>Framed</title>${script}<img src="p.svg">`,
      'p.svg': picture,
    }),
    peer,
  );
  const gateway = await openGateway(peer);
  const { page } = await gateway.openPage(`/${address}/`);
  const button = await page.waitForSelector('::-p-aria([name="Open without scripts"][role="button"])');
  const [response] = await Promise.all([page.waitForNavigation(), button!.click()]);
  const headers = response!.headers();
  expect(headers['content-security-policy']).toMatch(/; sandbox allow-same-origin [^;]*$/);
  expect(headers['content-security-policy']).not.toContain('allow-scripts');
  expect(headers['cross-origin-opener-policy']).toBe('same-origin-allow-popups');
  await page.waitForFunction(() => document.images[0]?.naturalWidth === 7);
  expect(await page.title()).toBe('Canary');
  const frame = page.frames()[1]!;
  await frame.waitForFunction(() => document.images[0]?.naturalWidth === 7);
  expect(await frame.title()).toBe('Framed');
  const link = await page.waitForSelector('a');
  await Promise.all([page.waitForNavigation(), link!.click()]);
  expect(page.url()).toBe(`${gateway.url}/${address}/f.html`);
  await page.waitForFunction(() => document.images[0]?.naturalWidth === 7);
  expect(await page.title()).toBe('Framed');
});

test('a page without trust reaches neither the outside nor a trusted page in a frame', async ({
  openGateway,
  startPeer,
  startHost,
  folder,
}) => {
  const peer = await startPeer();
  const outside = await startHost({ peers: [] });
  const address = await publish(
    makeTarchive(folder, {
      'index.html': `<title>Hostile</title><meta http-equiv="refresh" content="0;url=${outside.url}/?refresh"><link rel="manifest" href="app.webmanifest"><img id="out" src="${outside.url}/icon.svg"><img id="own" src="p.svg"><iframe src="/"></iframe>`,
      'app.webmanifest': '{"id":"/","scope":"/"}',
      'p.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>',
    }),
    peer,
  );
  const gateway = await openGateway(peer);
  const { page } = await gateway.openPage(`/${address}/`);
  const button = await page.waitForSelector('::-p-aria([name="Open without scripts"][role="button"])');
  await Promise.all([page.waitForNavigation({ waitUntil: 'networkidle0' }), button!.click()]);
  expect(page.url()).toBe(`${gateway.url}/${address}/`);
  // The network can be idle before the page has loaded anything.
  await page.waitForFunction(() => document.images[1]?.naturalWidth === 7);
  const widths = await page.evaluate(() => Array.from(document.images, (image) => image.naturalWidth));
  expect(widths).toEqual([0, 7]);
  for (const frame of page.frames().slice(1)) expect(await frame.content()).not.toContain('id="app"');
});
