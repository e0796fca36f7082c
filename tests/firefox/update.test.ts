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
} from '../support/deployment.ts';
import { fetchIn } from '../support/gateway-client.ts';
import { publish, RepeatingFile } from '../support/publish.ts';
import { type Page, test } from './harness.ts';

/** It takes some seconds. Firefox reads it whole, whether or not the page does. */
const file = new RepeatingFile(60_000_000);

/** The version of the worker that answers a page. */
const versionFor = async (page: Page) => JSON.parse((await fetchIn(page, '/-/health')).text).version;

test('a download completes during an update; then the new version serves from the same chunks', {
  timeout: 180_000,
}, async ({ browser, startPeer, folder }) => {
  const hash = createHash('sha256');
  for await (const bytes of file) hash.update(bytes);
  const whole = { size: file.size, sha256: hash.digest('hex') };
  const peer = await startPeer();
  const address = await publish(file, peer);
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
  try {
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

    // All that was stored still is.
    await peer.kill();
    const { size, sha256 } = await fetchIn(shell, `/${address}`);
    expect({ size, sha256 }).toEqual(whole);
  } finally {
    await Promise.all([shell.close(), other.close()]);
    await deployment.close();
    rmSync(nextBuild, { recursive: true });
  }
});
