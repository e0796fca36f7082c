import type { Locator, Page } from '@playwright/test';
import { expectAccessible } from '../../support/accessibility.ts';
import { expect, sceneOfFile, stopWorkers, test } from '../../support/chromium.ts';
import { openFreshShell } from '../../support/fresh-shell.ts';
import { noise, publish, RepeatingFile } from '../../support/publish.ts';

/** Chromium buffers about 60 MB of a body that its reader does not want yet. */
const filmBytes = 140_000_000;

const scene = sceneOfFile(async ({ startPeer, openWorker }) => {
  const peer = await startPeer();
  return { peer, gateway: await openWorker({ peers: [peer.url] }) };
});

const region = (page: Page, name: string) => page.getByRole('region', { name });

/** Reads a body piece by piece, as a player does. @returns when `least` bytes were read; the rest follows slowly. */
function play(page: Page, url: string, { least = 0, pauseMs = 60 } = {}): Promise<void> {
  return page.evaluate(
    ([url, least, pauseMs]) =>
      new Promise<void>((resolve) => {
        void (async () => {
          const reader = (await fetch(url)).body!.getReader();
          let read = 0;
          for (;;) {
            const { done, value } = await reader.read();
            read += value?.length ?? 0;
            if (done || read >= least) resolve();
            if (done) return;
            await new Promise((go) => setTimeout(go, pauseMs));
          }
        })();
      }),
    [url, least, pauseMs] as const,
  );
}

/**
 * Counts the elements of a class that appear in a region from now on. They may be gone before a test can look.
 * @returns a function that returns how many there were until then.
 */
async function countAdded(region: Locator, className: string): Promise<() => Promise<number>> {
  const counter = await region.evaluateHandle((region, className) => {
    const counter = { count: 0 };
    new MutationObserver((changes) => {
      const added = changes.flatMap(({ addedNodes }) => [...addedNodes]);
      counter.count += added.filter((node) => (node as Element).classList?.contains(className)).length;
    }).observe(region, { childList: true, subtree: true });
    return counter;
  }, className);
  return () => counter.evaluate(({ count }) => count);
}

/** The bytes that were verified so far, as they are stored. */
function storedVerifiedBytes(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const opening = indexedDB.open('antway');
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(opening.error);
    });
    const reading = database.transaction('settings').objectStore('settings').get('activity');
    const stored = await new Promise<{ lifetime: { verifiedBytes: number } } | undefined>((resolve) => {
      reading.onsuccess = () => resolve(reading.result);
    });
    database.close();
    return stored?.lifetime.verifiedBytes ?? 0;
  });
}

test('a user watches a film arrive, finds the figures again after the worker was killed, and resets them', {
  tag: '@full',
}, async () => {
  test.slow();
  const address = await publish(new RepeatingFile(filmBytes), scene().peer);
  const { shell } = await openFreshShell(scene().gateway);
  await shell.getByRole('link', { name: 'Live' }).click();
  const lifetime = region(shell, 'Verified so far');
  await expect(lifetime).toContainText('0 B verified');
  await expect(lifetime).toContainText('0 bad chunks');
  await expect(region(shell, 'Transfers')).toContainText('Nothing is on its way.');
  await expect(region(shell, 'Throughput').locator('canvas')).toBeVisible();

  await play(shell, `/${address}/film.webm`, { least: 3_000_000, pauseMs: 30 });
  const transfer = region(shell, 'Transfers').getByRole('listitem').filter({ hasText: 'film.webm' });
  await expect(transfer).toContainText(/B\/s, \d+ .* left/);
  await expect(transfer).toContainText(/\d+ from peers/);
  await expect(transfer).toContainText(/MB of 140 MB/);
  const progress = transfer.getByRole('progressbar', { name: 'Progress of film.webm' });
  await expect(progress).toHaveAttribute('value', /^0\.\d/);
  await expectAccessible(shell);
  await expect(lifetime).toContainText(/MB verified/);
  const chart = region(shell, 'Throughput').getByRole('img');
  await expect(chart).toHaveAttribute('aria-label', /pages, the peak was .*MB/);
  // The worker writes the counts some time after it counted them.
  await expect.poll(() => storedVerifiedBytes(shell)).toBeGreaterThan(1_000_000);

  await stopWorkers(shell);
  await shell.reload();
  await expect(lifetime).toContainText(/MB verified/);
  await expect(region(shell, 'Throughput').getByRole('row', { name: /^From peers/ })).toContainText(/MB\/s$/);
  await expect(chart).toHaveAttribute('aria-label', /pages, the peak was .*MB/);

  await lifetime.getByRole('button', { name: 'Reset statistics' }).click();
  await expect(lifetime.getByRole('status')).toHaveText('The statistics begin at 0 again.');
  await expect(lifetime).toContainText('0 B verified');
  await expect(chart).toHaveAttribute('aria-label', /pages, the peak was 0 B/);
  await stopWorkers(shell);
  await shell.reload();
  await expect(lifetime).toContainText('0 B verified');
});

test('a film in one tab and a file in another count once each, in both live screens', {
  tag: '@full',
}, async () => {
  const { peer } = scene();
  const files = await Promise.all([1, 2].map((seed) => publish(noise(seed, 3_000_000), peer)));
  const gateway = await openFreshShell(scene().gateway, '#live');
  const { shell } = gateway;
  const other = await gateway.openPage('/#live');
  await Promise.all(files.map((file, i) => play([shell, other][i]!, `/${file}`, { least: 3_000_000 })));
  for (const page of [other, shell]) {
    await page.bringToFront();
    const served = region(page, 'Activity').locator('div', { hasText: 'Served' }).locator('dd');
    await expect(served).toHaveText(/^6(\.0\d)? MB$/);
  }
});

test('chunks move on the line of their peer while they arrive, and leave it', { tag: '@full' }, async () => {
  const address = await publish(noise(8, 20_000_000), scene().peer);
  const { shell } = await openFreshShell(scene().gateway, '#live');
  const lane = region(shell, 'Chunks on their way').locator('.tone-1');
  await expect(lane).toContainText('0 chunks');
  const flights = await countAdded(lane, 'flight');
  await play(shell, `/${address}`, { least: 20_000_000, pauseMs: 0 });
  await expect(lane).toContainText(/[5-9] chunks/);
  await expect(lane.locator('.flight')).toHaveCount(0);
  expect(await flights()).toBeGreaterThan(0);
});

test('chunks rest where the user has asked for less movement', { tag: '@full' }, async () => {
  const address = await publish(noise(7, 20_000_000), scene().peer);
  const { shell } = await openFreshShell(scene().gateway, '#live');
  await shell.emulateMedia({ reducedMotion: 'reduce' });
  await shell.reload();
  const lane = region(shell, 'Chunks on their way').locator('.tone-1');
  await expect(lane).toBeVisible();
  await expect(region(shell, 'Verified so far')).toContainText('0 B verified');
  await play(shell, `/${address}`, { least: 20_000_000 });
  await expect(lane.locator('.lane-still i').nth(4)).toBeVisible();
  await expect(lane.locator('.flight')).toHaveCount(0);
});
