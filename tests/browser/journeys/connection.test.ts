import type { Page } from '@playwright/test';
import { expect, sceneOfFile, test } from '../../support/chromium.ts';
import { openFreshShell } from '../../support/fresh-shell.ts';
import { infoProxy } from '../../support/info-proxy.ts';
import { freePort, LoopbackServer } from '../../support/loopback-server.ts';

const scene = sceneOfFile(async ({ openWorker }) => ({ gateway: await openWorker({ peers: [] }) }));

/** Opens the shell of a user with these peers. */
const openShell = (peers?: string[]) => openFreshShell(scene().gateway, '', peers && { peers });

const status = (page: Page) => page.getByRole('banner').getByRole('button').first();
const details = (page: Page) => page.getByRole('region', { name: 'Connection', exact: true });

test('a gateway without a peer says so, and leads to the peers', { tag: '@full' }, async () => {
  const { shell } = await openShell();
  await expect(status(shell)).toHaveText('Local only');
  await status(shell).click();
  await expect(details(shell)).toContainText('This gateway has no peer.');
  await expect(details(shell)).toContainText('npm start -- --network');
  await expect(details(shell).getByRole('heading')).toBeFocused();
  await shell.keyboard.press('Escape');
  await expect(details(shell)).toHaveCount(0);
  await expect(status(shell)).toBeFocused();
  await status(shell).press('Enter');
  await details(shell).getByRole('link', { name: 'Add a peer' }).click();
  await expect(shell.getByRole('heading', { name: 'Settings' })).toBeVisible();
});

test('a dead peer is shown before anything was requested, and a living peer when it is back', async ({
  startPeer,
}) => {
  const port = await freePort();
  const { shell } = await openShell([`http://127.0.0.1:${port}`]);
  await expect(status(shell)).toHaveText('No peer answers');
  await status(shell).click();
  await expect(details(shell).getByRole('listitem')).toContainText(`127.0.0.1:${port}`);
  await expect(details(shell).getByRole('listitem')).toContainText('does not answer');
  await expect(details(shell)).toContainText('npm start');
  await startPeer({ http: `127.0.0.1:${port}`, webTransport: 'none' });
  await details(shell).getByRole('button', { name: 'Check again' }).click();
  await expect(details(shell).getByRole('listitem')).toContainText('answers with what it stores');
  await expect(status(shell)).toHaveText('Local only');
  await expect(shell.getByRole('banner').getByRole('status')).toHaveText('Local only');
});

test('a peer’s network is named, and its loss too; the page load itself is not announced', {
  tag: '@full',
}, async ({ startPeer }) => {
  const peer = await startPeer({ webTransport: 'none' });
  let network: object = { name: 'mainnet', state: 'connected', peers: 12 };
  await using proxy = await infoProxy(peer.url, (info) => ({ ...info, network }));
  const { shell } = await openShell([proxy.url]);
  await expect(status(shell)).toHaveText('Connected to Autonomi');
  await expect(shell.getByRole('banner').getByRole('status')).toHaveText('');
  await status(shell).click();
  await expect(details(shell)).toContainText('connected to “Autonomi” through 12 nodes');
  await expect(details(shell)).not.toContainText('npm start');

  network = { name: 'mainnet', state: 'disconnected', peers: 0, problem: 'no route' };
  await details(shell).getByRole('button', { name: 'Check again' }).click();
  await expect(details(shell)).toContainText('not connected to “Autonomi” (no route)');
  await expect(status(shell)).toHaveText('Local only');
});

test('AntTP and antd are named as what they are, although they do not describe themselves', {
  tag: '@full',
}, async () => {
  await using program = await LoopbackServer.start((_, response) => response.writeHead(400).end());
  const { shell } = await openShell([`anttp+${program.url}`]);
  await expect(status(shell)).toHaveText('Autonomi through AntTP');
  await status(shell).click();
  await expect(details(shell).getByRole('listitem')).toContainText('AntTP');
  await program.stop();
  await details(shell).getByRole('button', { name: 'Check again' }).click();
  await expect(status(shell)).toHaveText('No peer answers');
});

test('hostile texts of a peer are shown as text, in their place', { tag: '@full' }, async ({ startPeer }) => {
  const peer = await startPeer({ webTransport: 'none' });
  const hostile = `\u202e<img src=x onerror="document.title='owned'">${'W'.repeat(10_000)}`;
  const network = { name: hostile, state: 'connected', peers: 1e300, problem: hostile };
  await using proxy = await infoProxy(peer.url, (info) => ({ ...info, name: hostile, network }));
  const { shell } = await openShell([proxy.url]);
  for (const width of [390, 1280]) {
    await shell.setViewportSize({ width, height: 800 });
    await expect(status(shell)).toContainText('<img src=x');
    await expect(status(shell)).not.toContainText('\u202e');
    const overflow = await shell.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
  }
  await status(shell).click();
  await expect(details(shell).getByRole('listitem')).toContainText('<img src=x');
  expect(await shell.locator('header [onerror]').count()).toBe(0);
  expect(await shell.title()).toBe('Antway');
});

test('the connection follows a change of the peers in the settings', { tag: '@full' }, async ({
  startPeer,
}) => {
  const peer = await startPeer({ webTransport: 'none' });
  const { shell, url } = await openShell([`http://127.0.0.1:${await freePort()}`]);
  await expect(status(shell)).toHaveText('No peer answers');
  await shell.goto(`${url}/#settings`);
  const peers = shell.getByRole('region', { name: 'Peers' });
  await peers.getByLabel('Add a peer').fill(peer.url);
  await peers.getByLabel('Add a peer').press('Enter');
  await expect(status(shell)).toHaveText('Local only');
});
