import type { Page } from '@playwright/test';
import { expect } from '../support/chromium.ts';
import { viewed } from '../support/viewer.ts';
import { publishSmallSites } from './content.ts';
import { tour, withOwnOrigins } from './tour.ts';

tour('9 moving the library', async ({ album, t, startPeer, startHost, openShell }) => {
  const peer = await startPeer();
  const sites = await publishSmallSites(peer);
  const host = await startHost({ peers: [peer.url] });
  const shell = await openShell(host.url);
  // The other address knows its language from its shell.
  await openShell(withOwnOrigins(host), shell.context());
  for (const { address, title } of sites) {
    await shell.goto(`${host.url}/#view=${address}/`);
    await expect(viewed(shell).getByRole('heading', { name: title })).toBeVisible();
  }
  const offer = shell.getByRole('region', { name: t.move.title });
  const start = offer.getByRole('button', { name: t.move.start });
  await album.load(shell, 'offer', `${host.url}/#library`, () => start.waitFor());

  const opened = shell.context().waitForEvent('page');
  await start.click();
  const popup: Page = await opened;
  const take = popup.locator('button').last();
  await expect(take).toBeVisible();
  await album.shoot(popup, 'question in the new window');
  await popup.bringToFront();
  await expect(popup.locator('[aria-disabled=true]')).toHaveCount(0);
  await popup.locator('[aria-disabled=false]').click();
  await expect(popup.getByRole('link')).toBeVisible({ timeout: 30_000 });
  await album.shoot(popup, 'result in the new window');
  await popup.close();
  await expect(offer.getByRole('status')).toContainText('4');
  await album.shoot(shell, 'result');
  await offer.getByRole('button', { name: t.move.delete }).click();
  await album.shoot(shell, 'question before the former library is deleted');
});
