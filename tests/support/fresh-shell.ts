import type { Page } from '@playwright/test';
import type { Settings } from '../../src/server-config.ts';
import { Gateway } from './chromium.ts';
import { setSettings } from './names-screen.ts';

/** The reset empties these. A deleted one could not be opened until the worker starts again. */
const workerDatabases = ['antway', 'antway-chunks'];

/**
 * Deletes what earlier tests stored in the gateway of a file's scene, and opens its shell in a new page. So a test finds
 * an empty profile without a start of processes and of the worker. The worker and its stored files stay.
 * @param scene a gateway that `openWorker` of the scene opened. Its own page stays open for all tests.
 * @param path of the new page, with the fragment, without the slash in front.
 * @param settings of the user, which hold before the page opens.
 */
export async function openFreshShell(scene: Gateway, path = '', settings?: Settings): Promise<Gateway> {
  return new Gateway(scene.host, await openFreshPage(scene.shell, path, settings));
}

/**
 * As `openFreshShell`, for any origin of a gateway.
 * @param empty a page of this origin without the app, as `openWorkerIn` opens it.
 */
export async function openFreshPage(empty: Page, path = '', settings?: Settings): Promise<Page> {
  const context = empty.context();
  await Promise.all([context.setOffline(false), context.clearPermissions()]);
  await empty.evaluate(deleteEverything, workerDatabases);
  if (settings) await setSettings(empty, settings);
  const page = await context.newPage();
  await page.goto(`${new URL(empty.url()).origin}/${path}`);
  if (await page.evaluate(() => document.getElementById('app') !== null)) await appListens(page);
  return page;
}

/** The app listens to the user after its first frame. Documents of sites have no timers if their scripts do not run. */
async function appListens(page: Page): Promise<void> {
  await page.waitForFunction(() => document.getElementById('app')!.hasChildNodes());
  await page.evaluate(async () => {
    for (let frame = 0; frame < 2; frame++) {
      await new Promise(requestAnimationFrame);
      await new Promise((resolve) => setTimeout(resolve));
    }
  });
}

/** In the page. */
async function deleteEverything(workerDatabases: readonly string[]): Promise<void> {
  const { ok } = await fetch('/-/reset', { method: 'POST', body: JSON.stringify({ chunks: true }) });
  if (!ok) throw new Error('The gateway was not reset.');
  localStorage.clear();
  for (const { name } of await indexedDB.databases()) {
    if (!name || workerDatabases.includes(name)) continue;
    const deleting = indexedDB.deleteDatabase(name);
    // While a page of the earlier test still closes, the browser waits for it.
    await new Promise<void>((resolve, reject) => {
      deleting.onsuccess = () => resolve();
      deleting.onerror = () => reject(deleting.error);
    });
  }
  const folder = await navigator.storage.getDirectory();
  for await (const name of folder.keys()) await folder.removeEntry(name, { recursive: true });
}
