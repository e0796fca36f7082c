import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BrowserContextOptions, Page } from '@playwright/test';
import { createTarchive } from '../../src/archive/create-tar.ts';
import { listFolder } from '../../src/cli/folder.ts';
import { expect, Gateway, openWithoutScripts, test, trustSite } from '../support/chromium.ts';
import { linkOf, makePrivateManifest } from '../support/manifests.ts';
import { fromRoot } from '../support/paths.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { noise, publish } from '../support/publish.ts';

/** A minute of activity is what the live screen shows; half of one is enough to see. */
const activityMs = 35_000;
const filmBytes = 24 * 1024 * 1024;

const devices: Record<string, BrowserContextOptions> = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
};
const schemes = ['light', 'dark'] as const;

for (const [device, options] of Object.entries(devices)) {
  test(`the gateway on a ${device}`, async ({ browser, startPeer, startHost, folder }) => {
    const peers = [await startPeer(), await startPeer()];
    const { entries } = await listFolder(fromRoot('tests/sites/sample'), []);
    const sample = await publish(createTarchive(entries), ...peers);
    const film = await publish(noise(7, filmBytes), peers[0]!);
    const sites = await Promise.all(
      ['Field notes', 'The lighthouse keeper’s log', 'Odds and ends'].map((title) =>
        publishSite(title, peers),
      ),
    );
    const manifest = await makePrivateManifest('Diary', { 'diary.txt': 'Fog again.' }, peers[0]!);
    const host = await startHost({
      peers: ['/', ...peers.map(({ url }) => url)],
      names: { 'low-tide': sample, film },
    });
    const context = await browser.newContext(options);
    const { shell: page } = await Gateway.open(host, await context.newPage());

    await page.goto(`${host.url}/low-tide/`);
    await shoot(page, `first-visit-${device}`);
    await trustSite(page);
    await page.waitForLoadState('networkidle');
    await shoot(page, `sample-site-${device}`);

    for (const site of sites) {
      await page.goto(`${host.url}/${site}/`);
      await openWithoutScripts(page);
    }
    await page.goto(host.url);
    await page.getByRole('textbox', { name: 'Open an address' }).fill(linkOf(manifest));
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.waitForURL(/\/[0-9a-f]{64}\/$/);
    await openWithoutScripts(page);

    await page.goto(`${host.url}/#live`);
    await readPartsOf(page, `/film/low-tide.mp4`);
    await shoot(page, `live-${device}`, true);

    await page.goto(`${host.url}/#library`);
    const first = page.locator('.site-row').filter({ hasText: 'lighthouse' });
    await first.getByRole('button', { name: /^Pin:/ }).click();
    await expect(first.locator('.pin-fact')).toHaveText('Pinned');
    await shoot(page, `library-${device}`);

    await page.goto(host.url);
    await expect(page.getByRole('region', { name: 'Last opened' }).getByRole('link')).toHaveCount(5);
    await shoot(page, `open-${device}`);
    await shootForManifest(page, device);

    await page.goto(`${host.url}/#publish`);
    await page.locator('input[name=folder]').setInputFiles(writeGarden(folder));
    await expect(page.getByText('before compression')).toBeVisible();
    for (const peer of peers) await page.getByLabel(new URL(peer.url).host).uncheck();
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await shoot(page, `publish-${device}`, true);
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('img', { name: 'QR code of the link' }).waitFor();
    await shoot(page, `published-${device}`);

    await page.goto(`${host.url}/#settings`);
    await page.getByRole('region', { name: 'Names' }).waitFor();
    await shoot(page, `settings-${device}`);
    await context.close();
  });
}

async function publishSite(title: string, peers: readonly PeerProcess[]): Promise<string> {
  const page = `<!doctype html><title>${title}</title><h1>${title}</h1>`;
  const read = (text: string) => ({
    size: Buffer.byteLength(text),
    read: async (start: number, end: number) => Buffer.from(text).subarray(start, end),
  });
  return publish(createTarchive([{ path: 'index.html', source: read(page) }]), ...peers);
}

function writeGarden(folder: string): string {
  const garden = join(folder, 'garden');
  const files = { 'index.html': '<h1>Garden</h1>', 'plan.bin': noise(1, 900_000), '.git/HEAD': 'ref' };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(garden, path)), { recursive: true });
    writeFileSync(join(garden, path), content);
  }
  return garden;
}

async function shoot(page: Page, name: string, fullPage = false): Promise<void> {
  const window = page.viewportSize()!;
  // In a window that is high enough, so that what is fixed to its edge stays there.
  const height = fullPage ? await page.evaluate(() => document.documentElement.scrollHeight) : window.height;
  await page.setViewportSize({ ...window, height });
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    const path = fromRoot(`docs/screenshots/${name}-${colorScheme}.png`);
    await page.screenshot({ path, animations: 'disabled' });
  }
  await page.setViewportSize(window);
}

/** Takes the screenshots for the installation dialogs of systems. */
async function shootForManifest(page: Page, device: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  const name = device === 'phone' ? 'narrow' : 'wide';
  await page.screenshot({ path: fromRoot(`public/screenshot-${name}.png`), animations: 'disabled' });
}

/** Reads now more and now less of a file, as a user does who looks for a scene. */
async function readPartsOf(page: Page, path: string): Promise<void> {
  await page.evaluate(
    async ([path, size, activityMs]) => {
      const end = performance.now() + activityMs;
      for (let i = 1; performance.now() < end; i++) {
        const start = Math.floor(((i * 0.618) % 1) * size * 0.6);
        const length = Math.floor((0.04 + 0.3 * ((i * 0.382) % 1) ** 2) * size);
        const response = await fetch(path, { headers: { Range: `bytes=${start}-${start + length}` } });
        await response.arrayBuffer();
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
    },
    [path, filmBytes, activityMs] as const,
  );
}
