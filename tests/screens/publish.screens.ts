import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UploadGate } from '../browser/upload-gate.ts';
import { expect } from '../support/chromium.ts';
import { noise } from '../support/publish.ts';
import { tour, withOwnOrigins } from './tour.ts';

const token = 'open sesame';

function writeGarden(folder: string): string {
  const garden = join(folder, 'garden');
  const page = '<!doctype html><title>The garden behind the house</title><h1>Garden</h1>';
  const files = { 'index.html': page, 'plan.bin': noise(1, 900_000), '.git/HEAD': 'ref', '.DS_Store': 'x' };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(garden, path)), { recursive: true });
    writeFileSync(join(garden, path), content);
  }
  return garden;
}

tour('4 publish', async ({ album, t, startPeer, startHost, openShell, folder }) => {
  // A page of another origin may only write with a token.
  const peers = [await startPeer({ token }), await startPeer({ token })];
  const gate = await UploadGate.start(peers[0]!.url);
  const host = await startHost({ peers: peers.map(({ url }) => url) });
  const url = `${withOwnOrigins(host)}/#publish`;
  const shell = await openShell(url);
  const list = shell.getByRole('region', { name: t.published.title });
  const start = shell.getByRole('button', { name: t.publish.start, exact: true });

  await album.load(shell, 'empty', url, () => expect(list).toContainText(t.published.empty));
  await shell.locator('input[name=folder]').setInputFiles(writeGarden(folder));
  await expect(shell.getByText(t.publish.leftOut(2, '2'))).toBeVisible();
  await album.shoot(shell, 'chosen folder');
  await shell.getByText(t.publish.leftOut(2, '2')).click();
  for (const { url } of peers) await shell.getByLabel(new URL(url).host).uncheck();
  await start.click();
  await album.shoot(shell, 'no peer chosen');

  await shell.getByLabel(t.publish.otherPeer).fill(gate.url);
  await shell.getByLabel(t.publish.token).fill(token);
  gate.holdAfter(2);
  await start.click();
  await gate.held;
  await album.shoot(shell, 'progress');
  await shell.getByRole('button', { name: t.publish.cancel, exact: true }).click();
  await expect(shell.getByText(t.publish.cancelled)).toBeVisible();
  await album.shoot(shell, 'cancelled');
  gate.open();
  await shell.getByRole('button', { name: t.publish.resume, exact: true }).click();
  await expect(shell.getByRole('heading', { name: t.publish.doneTitle, exact: true })).toBeVisible();
  await album.shoot(shell, 'result', { copies: { 'docs/screenshots/published-light.png': [1280, 'light'] } });

  await shell.getByRole('button', { name: t.publish.again }).click();
  await shell
    .locator('input[name=files]')
    .setInputFiles({ name: 'diary.txt', mimeType: 'text/plain', buffer: Buffer.from('Fog again.') });
  await shell.getByRole('radio', { name: t.publish.private }).check();
  await shell.getByLabel(t.publish.token).fill(token);
  await start.click();
  await expect(shell.getByRole('heading', { name: t.publish.donePrivate, exact: true })).toBeVisible();
  await album.shoot(shell, 'private result');

  await shell.reload();
  await expect(list.locator('.published-row')).toHaveCount(2);
  const row = list.locator('.published-row').last();
  await row.getByRole('button', { name: t.published.actions.check }).click();
  await expect(row.getByRole('button', { name: t.published.actions.check })).toBeEnabled();
  await album.shoot(shell, 'publications');
  await row.getByRole('button', { name: t.published.actions.remove }).click();
  await album.shoot(shell, 'question before a publication is removed');
  await gate.stop();
});
