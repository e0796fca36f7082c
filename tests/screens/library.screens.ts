import { readFileSync } from 'node:fs';
import type { Locator } from '@playwright/test';
import { expect } from '../support/chromium.ts';
import { linkOf } from '../support/manifests.ts';
import { fromRoot } from '../support/paths.ts';
import { publish } from '../support/publish.ts';
import { viewed } from '../support/viewer.ts';
import { makeDiary, publishLetter, publishSample, publishSmallSites } from './content.ts';
import { tour, withOwnOrigins } from './tour.ts';

tour('5 library', async ({ album, t, startPeer, startHost, openShell }) => {
  const peer = await startPeer();
  const sample = await publishSample(peer);
  const sites = await publishSmallSites(peer);
  const picture = await publish(readFileSync(fromRoot('public/icon-192.png')), peer);
  const letter = await publishLetter(peer);
  const root = withOwnOrigins(await startHost({ peers: [peer.url], sample }));
  const url = `${root}/#library`;
  const shell = await openShell(url);
  const rows = shell.locator('.site-row');
  const more = (row: Locator) => row.locator('.site-actions').getByRole('button').last();
  const search = shell.getByRole('searchbox', { name: t.library.search });

  await album.load(shell, 'empty', url, () => expect(shell.getByText(t.library.empty)).toBeVisible());
  for (const path of [
    `${letter}/a%20letter.txt`,
    `${picture}/sea.png`,
    ...[...sites, sample].map(({ address }) => `${address}/`),
  ]) {
    await shell.goto(`${root}/#view=${path}`);
    await expect(shell.locator('.site-state')).toHaveText(t.viewer.states.verified);
  }
  await shell.goto(`${root}/#open=${encodeURIComponent(linkOf(await makeDiary(peer)))}`);
  await shell.getByRole('button', { name: t.open.manifestQuestion.open }).click();
  await expect(viewed(shell).getByText('monday.txt')).toBeVisible();
  await shell.goto(url);
  await expect(rows).toHaveCount(8);
  const tide = rows.filter({ hasText: 'Low Tide' });
  await tide.getByRole('button', { name: t.library.actions.pin, exact: false }).first().click();
  await expect(tide.locator('.pin-fact')).toHaveText(t.library.pinned, { timeout: 45_000 });

  await album.load(
    shell,
    'sites',
    url,
    () => expect(tide.locator('.pin-fact')).toHaveText(t.library.pinned),
    {
      copies: { 'docs/screenshots/library-light.png': [1280, 'light'] },
    },
  );
  await more(tide).click();
  await album.shoot(shell, 'more actions');
  await tide.getByRole('button', { name: t.common.share }).click();
  await expect(tide.getByRole('img', { name: t.share.qr })).toBeVisible();
  await album.shoot(shell, 'share');
  const [download] = await Promise.all([
    shell.waitForEvent('download'),
    tide.getByRole('button', { name: t.library.actions.export }).click(),
  ]);
  const exported = readFileSync(await download.path());
  await shell.goto(url);
  await shell.reload();
  const diary = rows.filter({ hasText: 'Diary' });
  await more(diary).click();
  await diary.getByRole('button', { name: t.library.actions.delete }).click();
  await album.shoot(shell, 'question before a site is deleted');

  await shell.reload();
  const filters = t.library.filters;
  await shell.getByRole('radio', { name: filters.files, exact: true }).check({ force: true });
  await album.shoot(shell, 'filter');
  await shell.getByRole('radio', { name: filters.mine, exact: true }).check({ force: true });
  await album.shoot(shell, 'filter with nothing');
  await shell.getByRole('radio', { name: filters.all, exact: true }).check({ force: true });
  await search.fill('crab');
  await expect(shell.getByRole('region', { name: t.search.title }).locator('mark').first()).toBeVisible();
  await album.shoot(shell, 'search results');
  await search.fill('zebra');
  await expect(shell.getByText(t.library.noMatch('zebra'))).toBeVisible();
  await album.shoot(shell, 'search without a result');
  await search.fill('');

  const choose = (buffer: Buffer) =>
    shell
      .locator('input[name=import]')
      .setInputFiles({ name: 'Low Tide.antsite', mimeType: 'application/octet-stream', buffer });
  await choose(exported);
  await expect(shell.locator('.imported')).toContainText('Low Tide');
  await album.shoot(shell, 'imported site');
  await shell.locator('.imported').getByRole('button', { name: t.library.closeImported }).click();
  await choose(Buffer.from('something else'));
  await expect(shell.getByText(t.library.notAnExport)).toBeVisible();
  await album.shoot(shell, 'not an export');
});
