import type { BrowserContextOptions, Page } from '@playwright/test';
import { listFolder } from '../../src/cli/folder.ts';
import { createTarchive } from '../../src/publish/tarchive.ts';
import { Gateway, openWithoutScripts, test } from './harness.ts';
import { linkOf, makePrivateManifest } from './manifests.ts';
import { fromRoot } from './paths.ts';
import { noise, publish } from './publish.ts';

/** A minute of activity is what the shell shows; half of one is enough to see. */
const activityMs = 35_000;
const filmBytes = 16 * 1024 * 1024;
const oddsAndEnds = '<!doctype html><title>Odds and ends</title><h1>Odds and ends</h1>';

const screens: Record<string, BrowserContextOptions> = {
  desktop: { viewport: { width: 1280, height: 860 } },
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
};
const schemes = ['light', 'dark'] as const;

for (const [screen, options] of Object.entries(screens)) {
  test(`the gateway on a ${screen}`, async ({ browser, startPeer, startHost }) => {
    const peer = await startPeer();
    const { entries } = await listFolder(fromRoot('tests/sites/sample'), []);
    const sample = await publish(await createTarchive(entries), peer);
    const film = await publish(noise(7, filmBytes), peer);
    const other = await publish(Buffer.from(oddsAndEnds), peer);
    const manifest = await makePrivateManifest('Diary', { 'diary.txt': 'Fog again.' }, peer);
    const host = await startHost({ peers: [peer.url], names: { 'low-tide': sample } });
    const context = await browser.newContext(options);
    const { shell: page } = await Gateway.open(host, await context.newPage());

    await page.goto(`${host.url}/low-tide/`);
    await shoot(page, `first-visit-${screen}`);
    await page.getByRole('button', { name: 'Trust this site' }).click();
    await page.waitForLoadState('networkidle');
    await shoot(page, `sample-site-${screen}`);

    await page.goto(`${host.url}/${other}/`);
    await page.getByRole('button', { name: 'Open without scripts' }).click();
    await page.getByText('Odds and ends').waitFor();
    await page.goto(host.url);
    await page.getByRole('textbox', { name: 'Open an address' }).fill(linkOf(manifest));
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.waitForURL(/\/[0-9a-f]{64}\/$/);
    await openWithoutScripts(page);
    await page.goto(host.url);
    await readPartsOf(page, `/${film}/film.mp4`);
    await shoot(page, `shell-${screen}`, true);
    await context.close();
  });
}

async function shoot(page: Page, name: string, fullPage = false): Promise<void> {
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    const path = fromRoot(`docs/screenshots/${name}-${colorScheme}.png`);
    await page.screenshot({ path, fullPage, animations: 'disabled' });
  }
}

/** Reads now more and now less of a file, as a person does who looks for a scene. */
async function readPartsOf(page: Page, path: string): Promise<void> {
  await page.evaluate(
    async ([path, size, activityMs]) => {
      const end = performance.now() + activityMs;
      for (let i = 1; performance.now() < end; i++) {
        const start = Math.floor(((i * 0.618) % 1) * size);
        const length = Math.floor((0.04 + 0.3 * ((i * 0.382) % 1) ** 2) * size);
        const response = await fetch(path, { headers: { Range: `bytes=${start}-${start + length}` } });
        await response.arrayBuffer();
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
    },
    [path, filmBytes, activityMs] as const,
  );
}
