import { expect } from 'vitest';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tar.ts';
import { test } from './harness.ts';

test('a page without trust loads with its pictures, frames and links, and runs no script', async ({
  openGateway,
  startPeer,
  folder,
}) => {
  const peer = await startPeer();
  const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>';
  const script = '<script>document.title = "Scripted"</script>';
  const address = await publish(
    makeTarchive(folder, {
      'index.html': `<title>Canary</title>${script}<img src="p.svg"><iframe src="f.html"></iframe><iframe src="/"></iframe><a href="f.html">On</a>`,
      'f.html': `<title>Framed</title>${script}<img src="p.svg"><a href="./">Back</a>`,
      'p.svg': picture,
    }),
    peer,
  );
  const gateway = await openGateway(peer);
  const page = await gateway.openPage(`/${address}/`);
  await page.follow('Open without scripts');
  await page.waitFor(() => document.images[0]?.naturalWidth === 7);
  await page.waitFor(() => frames[0]?.document.images[0]?.naturalWidth === 7);
  expect(await page.title()).toBe('Canary');
  const frame = await page.evaluate(() => {
    const read = (frame: Window) => {
      try {
        return frame.document.documentElement.outerHTML;
      } catch {
        return 'not readable';
      }
    };
    return [frames[0]!.document.title, read(frames[1]!)];
  });
  expect(frame[0]).toBe('Framed');
  expect(frame[1]).not.toContain('id="app"');

  // With a sandbox, which WebKit is not sent, these would go to the host, and fail without it.
  await page.follow('On');
  await page.waitFor(() => document.images[0]?.naturalWidth === 7);
  expect(await page.title()).toBe('Framed');
  await page.follow('Back');
  expect(await page.title()).toBe('Canary');
  const { headers } = await gateway.fetch(`/${address}/`);
  expect(headers['content-security-policy']).toContain("script-src 'none'");
  expect(headers['content-security-policy']).not.toContain('sandbox');
});
