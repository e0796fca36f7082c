import type { BrowserContext, Page } from '@playwright/test';
import { expect, openShellIn, stopWorkers } from '../support/chromium.ts';
import { test } from '../support/chromium-deployments.ts';
import type { Deployment } from '../support/deployment.ts';
import { section } from '../support/lasting-address.ts';
import { shellStored } from '../support/shell-stored.ts';

const shared = 'their scripts could reach your keys';
const unknown = 'The gateway’s host does not answer';
const newAddress = (page: Page) => section(page).getByRole('button', { name: 'New lasting address' });
const rootOf = ({ url }: Deployment) => url.replace('127.0.0.1', 'antway.localhost');

async function openShell(context: BrowserContext, url: string): Promise<Page> {
  const page = await openShellIn(context, url);
  await shellStored(page);
  return page;
}

test('while the host is away, no key is used, and the app does not say that sites share its origin', {
  tag: '@full',
}, async ({ context, deploy }) => {
  test.slow();
  const deployment = await deploy({ peers: [] });
  const page = await openShell(context, `${rootOf(deployment)}/#publish`);
  await expect(newAddress(page)).toBeVisible();

  deployment.drops = () => true;
  await stopWorkers(page);
  await page.reload();
  await expect(section(page)).toContainText(unknown, { timeout: 20_000 });
  await expect(section(page)).not.toContainText(shared);
  await expect(section(page).getByRole('button')).toHaveCount(0);

  deployment.drops = undefined;
  // The worker remembers a failed probe for 20 s.
  await expect(newAddress(page)).toBeVisible({ timeout: 60_000 });
});

test('a script on the gateway’s origin cannot make the app use keys there', async ({ context, deploy }) => {
  const deployment = await deploy({ peers: [] });
  deployment.drops = (path) => path.startsWith('/-/probe-');
  const page = await openShell(context, rootOf(deployment));
  // The worker remembers there that wildcard hosts worked. A script of a trusted site can do the same.
  const written = await page.evaluate(async () => {
    const names = (await indexedDB.databases()).map(({ name }) => name!);
    let stores = 0;
    for (const name of names) {
      const request = indexedDB.open(name);
      const database = await new Promise<IDBDatabase>((resolve) => {
        request.onsuccess = () => resolve(request.result);
      });
      for (const name of database.objectStoreNames) {
        const store = database.transaction(name, 'readwrite').objectStore(name);
        // A store with keys in its values is another one.
        if (store.keyPath !== null) continue;
        store.put(1, 'site-names');
        stores++;
      }
      database.close();
    }
    return stores;
  });
  expect(written).toBeGreaterThan(0);
  await stopWorkers(page);
  await page.goto(`${rootOf(deployment)}/#publish`);
  await page.reload();
  await expect(section(page)).toContainText(shared, { timeout: 20_000 });
  await expect(section(page).getByRole('button')).toHaveCount(0);
});

test('where sites share the origin, the app leads to the address of this computer where they do not', {
  tag: '@full',
}, async ({ context, deploy }) => {
  const deployment = await deploy({ peers: [] });
  const page = await openShell(context, `${deployment.url}/#publish`);
  await expect(section(page)).toContainText(shared);
  const { host } = new URL(rootOf(deployment));
  await section(page)
    .getByRole('link', { name: `Open the gateway at ${host}` })
    .click();
  await expect(page).toHaveURL(`${rootOf(deployment)}/#publish`);
  await expect(newAddress(page)).toBeVisible({ timeout: 20_000 });
});

test('where the operator gives sites no origins, the app says so and shows no link', {
  tag: '@full',
}, async ({ context, deploy }) => {
  const deployment = await deploy({ peers: [], isolation: 'path' });
  const page = await openShell(context, `${rootOf(deployment)}/#publish`);
  await expect(section(page)).toContainText('The operator of this gateway has to give each site');
  await expect(section(page).getByRole('link')).toHaveCount(0);
  await expect(section(page).getByRole('button')).toHaveCount(0);
});
