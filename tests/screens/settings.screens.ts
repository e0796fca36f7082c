import { expect } from '../support/chromium.ts';
import { freePort } from '../support/loopback-server.ts';
import { viewed } from '../support/viewer.ts';
import { publishSample } from './content.ts';
import { tour, withOwnOrigins } from './tour.ts';

tour('7 settings', async ({ album, t, startPeer, startHost, openShell, folder }) => {
  const [peer, other] = [await startPeer(), await startPeer()];
  const sample = await publishSample(peer);
  const host = await startHost({ peers: [peer.url, other.url], names: { 'low-tide': sample.address } });
  const url = `${host.url}/#settings`;
  const shell = await openShell(url);
  const region = (name: string) => shell.getByRole('region', { name, exact: true });
  const peers = region(t.settings.peers);

  await album.load(shell, 'daily', url, () => expect(region(t.settings.names)).toBeVisible());
  await shell.getByText(t.settings.expert, { exact: true }).click();
  await shell.getByLabel(t.settings.denyAddress).fill('cd'.repeat(32));
  await shell.getByRole('button', { name: t.settings.deny, exact: true }).click();
  await expect(shell.getByRole('button', { name: t.settings.allowOf('') })).toBeVisible();
  await album.shoot(shell, 'experts');

  await other.kill();
  await peers.getByRole('button', { name: t.settings.testOf(peer.url) }).click();
  await peers.getByRole('button', { name: t.settings.testOf(other.url) }).click();
  await expect(peers.locator('.note-problem .code')).toBeVisible();
  await album.shoot(shell, 'tested peers');
  await shell.goto(`${host.url}/#peer=127.0.0.1:${await freePort()}`);
  await album.shoot(shell, 'suggested peer');
  await peers.getByLabel(t.settings.addPeer).press('Enter');
  await expect(peers.getByRole('alert')).not.toHaveText('');
  await album.shoot(shell, 'peer that does not answer');

  await shell.goto(`${host.url}/#view=${sample.address}/`);
  await expect(viewed(shell).getByRole('heading').first()).toBeVisible();
  await shell.goto(`${host.url}/${sample.address}/`);
  const { restrict } = t.pages.firstVisit;
  await shell.getByRole('button', { name: restrict }).click();
  await shell.waitForURL(`${host.url}/${sample.address}/`);
  await shell.goto(url);
  const decided = region(t.settings.trusted);
  await decided.getByRole('button', { name: t.settings.decisions.restricted.change }).click();
  await album.shoot(shell, 'question before a site is trusted');
  await decided.getByRole('button', { name: t.common.cancel }).click();
  await region(t.settings.reset).getByRole('button').click();
  await album.shoot(shell, 'question before everything is deleted');
  await region(t.settings.reset).getByRole('button', { name: t.common.cancel }).click();

  const backup = region(t.backup.title);
  await backup.getByRole('button', { name: t.backup.create }).click();
  await backup.getByRole('button', { name: t.backup.suggest }).click();
  await backup.getByLabel(t.backup.again).fill('something else');
  await backup.getByRole('button', { name: t.backup.save }).click();
  await expect(backup.getByText(t.backup.differ)).toBeVisible();
  await album.shoot(shell, 'new backup');
  const passphrase = await backup.getByLabel(t.backup.passphrase, { exact: true }).inputValue();
  await backup.getByLabel(t.backup.again).fill(passphrase);
  const saving = shell.waitForEvent('download', { timeout: 60_000 });
  await backup.getByRole('button', { name: t.backup.save }).click();
  const file = `${folder}/antway.antwaybackup`;
  await (await saving).saveAs(file);
  await expect(backup.getByRole('button', { name: t.backup.done })).toBeVisible();
  await album.shoot(shell, 'saved backup');
  await backup.getByRole('button', { name: t.backup.done }).click();
  await backup.getByRole('button', { name: t.backup.restore }).click();
  await backup.getByLabel(t.backup.file).setInputFiles(file);
  await backup.getByLabel(t.backup.passphrase, { exact: true }).fill('wrong');
  await backup.getByRole('button', { name: t.backup.open }).click();
  await expect(backup.getByRole('alert').first()).toContainText(t.backup.faults.passphrase, {
    timeout: 30_000,
  });
  await album.shoot(shell, 'wrong passphrase');
  await backup.getByLabel(t.backup.passphrase, { exact: true }).fill(passphrase);
  await backup.getByRole('button', { name: t.backup.open }).click();
  await expect(backup.getByRole('button', { name: t.backup.apply, exact: true })).toBeVisible({
    timeout: 30_000,
  });
  await album.shoot(shell, 'contents of a backup');
  await backup.getByRole('button', { name: t.backup.apply, exact: true }).click();
  await expect(backup.getByText(t.backup.restored)).toBeVisible({ timeout: 30_000 });
  await album.shoot(shell, 'restored backup');
  await shell.close();

  const root = withOwnOrigins(host);
  const elsewhere = await openShell(`${root}/#settings`);
  await expect(elsewhere.getByRole('region', { name: t.settings.trusted })).toBeVisible();
  await album.shoot(elsewhere, 'where sites have own origins');
});
