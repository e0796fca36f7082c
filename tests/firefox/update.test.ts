import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { expect } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import {
  beginDownload,
  buildNext,
  Deployment,
  finishDownload,
  lookForUpdate,
  nextVersion,
  updateAtOnce,
} from '../support/deployment.ts';
import { fetchIn } from '../support/gateway-client.ts';
import { publish, RepeatingFile } from '../support/publish.ts';
import { makeTarchive } from '../support/tar.ts';
import { type Page, test } from './harness.ts';

/** It takes some seconds. Firefox reads it whole, whether or not the page does. */
const file = new RepeatingFile(60_000_000);

/** The version of the worker that answers a page. */
const versionFor = async (page: Page) => JSON.parse((await fetchIn(page, '/-/health')).text).version;

test('a download completes during an update, also of a site’s own origin; then the new version serves from the same chunks', {
  tags: 'full',
  timeout: 180_000,
}, async ({ browser, startPeer, folder }) => {
  const hash = createHash('sha256');
  for await (const bytes of file) hash.update(bytes);
  const whole = { size: file.size, sha256: hash.digest('hex') };
  const peer = await startPeer();
  const address = await publish(file, peer);
  const site = await publish(makeTarchive(folder, { 'index.html': '<title>Front</title>' }), peer);
  const nextBuild = await buildNext();
  const deployment = await Deployment.start(folder, { peers: [peer.url] }, (flags) =>
    startPeer({ flags, webTransport: 'none' }),
  );
  const openShell = async () => {
    const page = await browser.newPage();
    await page.goto(deployment.url);
    await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
    return page;
  };
  const [shell, other] = [await openShell(), await openShell()];
  const onSite = await browser.newPage();
  const asked: string[] = [];
  deployment.drops = (path) => {
    asked.push(path);
    return false;
  };
  try {
    await onSite.goto(new URL('/-/site', deployment.siteUrl(site)).href);
    await onSite.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
    expect(await versionFor(onSite)).toBe(packageJson.version);
    deployment.put(nextBuild);
    await shell.bringToFront();
    expect(await shell.evaluate(lookForUpdate)).toBe('found');
    const reload = await shell.waitForSelector('::-p-aria([name="Reload"][role="button"])');
    expect(await versionFor(shell)).toBe(packageJson.version);

    await other.evaluate(beginDownload, `/${address}`);
    const reloaded = shell.waitForNavigation({ timeout: 60_000 });
    await reload!.click();
    expect(await other.evaluate(finishDownload)).toEqual(whole);
    await reloaded;
    await expect.poll(() => versionFor(shell), { timeout: 30_000 }).toBe(nextVersion);
    await onSite.evaluate(updateAtOnce);
    expect(await versionFor(onSite)).toBe(nextVersion);
    // Both times the origin of the site has imported the gateway's worker.
    expect(asked).toContain('/sw.js');
    expect(asked).not.toContain('/sw.js?whole');

    // All that was stored still is.
    await peer.kill();
    const { size, sha256 } = await fetchIn(shell, `/${address}`);
    expect({ size, sha256 }).toEqual(whole);
  } finally {
    await Promise.all([shell.close(), other.close(), onSite.close()]);
    await deployment.close();
    rmSync(nextBuild, { recursive: true });
  }
});
