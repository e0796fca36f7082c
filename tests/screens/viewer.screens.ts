import type { Page } from '@playwright/test';
import { expect } from '../support/chromium.ts';
import { linkOf } from '../support/manifests.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { viewed } from '../support/viewer.ts';
import { makeDiary, publishSample } from './content.ts';
import { tour, withOwnOrigins } from './tour.ts';

tour('3 viewer', async ({ album, t, startPeer, startHost, openShell }) => {
  const peer = await startPeer();
  const sample = await publishSample(peer);
  const broken = await publish(
    await makeTarchive({
      'index.html':
        '<!doctype html><title>Half a site</title><h1>Half a site</h1><img src="missing.png" alt="A picture that is missing"><p><a href="https://outside.example/page">Outside</a></p>',
    }),
    peer,
  );
  const host = await startHost({ peers: [peer.url], sample });
  const url = withOwnOrigins(host);
  const shell = await openShell(url);
  const bar = shell.locator('.site-bar');
  const state = shell.locator('.site-state');
  const asShown = { isWhole: false };

  await album.load(
    shell,
    'site',
    `${url}/#view=${sample.address}/`,
    async () => {
      await expect(state).toHaveText(t.viewer.states.verified);
      await expect(viewed(shell).locator('main img').first()).toHaveJSProperty('complete', true);
    },
    { ...asShown, copies: { 'docs/screenshots/viewer-light.png': [1280, 'light'] } },
  );
  await state.click();
  await album.shoot(shell, 'details', asShown);
  await bar.getByRole('button', { name: t.viewer.files }).click();
  await expect(shell.getByRole('button', { name: 'assets/' })).toBeVisible();
  await album.shoot(shell, 'files', asShown);
  await shell.getByRole('button', { name: 'assets/' }).click();
  await album.shoot(shell, 'files of a folder', asShown);
  await bar.getByRole('button', { name: t.common.share }).click();
  await expect(shell.getByRole('img', { name: t.share.qr })).toBeVisible();
  await album.shoot(shell, 'share', asShown);
  await shell.getByText(t.share.more, { exact: true }).click();
  await album.shoot(shell, 'share, more', asShown);
  await shell.keyboard.press('Escape');
  await bar.getByRole('button', { name: t.viewer.pin, exact: true }).click();
  await expect(bar.getByRole('button', { name: t.viewer.unpin })).toBeVisible({ timeout: 30_000 });
  await album.shoot(shell, 'pinned site', asShown);

  await shell.goto(`${url}/#view=${broken}/`);
  await expect(state).toHaveText(t.viewer.states.incomplete);
  await state.click();
  await album.shoot(shell, 'incomplete site', asShown);
  await shell.keyboard.press('Escape');
  await viewed(shell).getByRole('link', { name: 'Outside' }).click();
  await expect(shell.getByText(t.viewer.blockedTitle)).toBeVisible();
  await album.shoot(shell, 'link to another host', asShown);

  await shell.goto(`${url}/#open=${encodeURIComponent(linkOf(await makeDiary(peer)))}`);
  await shell.getByRole('button', { name: t.open.manifestQuestion.open }).click();
  await expect(viewed(shell).getByText('monday.txt')).toBeVisible();
  await album.shoot(shell, 'list of private files', asShown);
  await bar.getByRole('button', { name: t.common.share }).click();
  await expect(shell.getByText(t.share.keyWarning)).toBeVisible();
  await album.shoot(shell, 'share of private files', asShown);
  await shell.close();

  const shared: Page = await openShell(host.url);
  await shared.goto(`${host.url}/#view=${sample.address}/`);
  await expect(shared.getByText(t.viewer.scriptsBlocked)).toBeVisible();
  await album.shoot(shared, 'site whose scripts do not run', asShown);
  await shared.goto(`${host.url}/#view=${broken}/index.html?download=1`);
  await expect(shared.getByText(t.viewer.savedTitle)).toBeVisible();
  await album.shoot(shared, 'file to save', asShown);
});
