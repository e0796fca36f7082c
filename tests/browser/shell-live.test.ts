import { readFileSync } from 'node:fs';
import type { StatsSnapshot } from '../../src/stats/stats.ts';
import { expect, test } from '../support/chromium.ts';
import { noise, publish } from '../support/publish.ts';

test('the live screen shows a file being read: its chunks, rates, times, and where they came from', {
  tag: '@full',
}, async ({ startPeer, openGateway }) => {
  test.slow();
  const peer = await startPeer();
  const film = await publish(noise(5, 5 * 4_190_208), peer);
  const gateway = await openGateway({ peers: [peer.url] });
  const { shell } = gateway;
  await shell.goto(`${gateway.url}/#live`);
  const region = (name: string) => shell.getByRole('region', { name });
  await expect(region('Chunks of the file being read')).toContainText('No file is being read.');
  await expect(region('Throughput').locator('canvas')).toBeVisible();

  await expect(region('Activity')).toContainText('when the browser last started the gateway');

  await gateway.fetch(`/${film}/film.bin`);
  const map = region('Chunks of the file being read');
  await expect(map).toContainText(`/${film}/film.bin`);
  await expect(map).toContainText('in 5 chunks');
  await expect(map.getByRole('img', { name: '5 of 5 chunks are here.' })).toBeVisible();
  await expect(map.getByRole('listitem')).toContainText(['from a peer']);
  await expect(region('Throughput').getByRole('img')).toHaveAttribute(
    'aria-label',
    /peak was .*MB per second/,
  );
  await expect(region('Activity').getByRole('row').filter({ hasText: 'Complete response' })).toContainText(
    /\d (m?s)/,
  );
  const row = region('Peers')
    .getByRole('row')
    .filter({ hasText: peer.url.slice(7) });
  await expect(row).toContainText(/B\/s/);
  await expect(region('Stored in this browser').getByRole('progressbar')).toBeVisible();
  await expect(region('Stored in this browser')).toContainText('Nothing is pinned.');

  const [download] = await Promise.all([
    shell.waitForEvent('download'),
    shell.getByRole('button', { name: 'Save as JSON' }).click(),
  ]);
  const stats: StatsSnapshot = JSON.parse(readFileSync(await download.path(), 'utf8'));
  expect(stats.requests.totalMs.count).toBe(1);
  expect(stats.reading).toMatchObject({ path: `/${film}/film.bin`, count: 5, chunks: 'ppppp' });
  await shell.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await shell.getByRole('button', { name: 'Copy as JSON' }).click();
  await expect(shell.getByText('The figures were copied.')).toBeVisible();
  const copied: StatsSnapshot = JSON.parse(await shell.evaluate(() => navigator.clipboard.readText()));
  expect(copied.startedAt).toBe(stats.startedAt);

  // A second read from memory does not shrink the bar of the peer that the bytes came from.
  for (let i = 0; i < 8; i++) await gateway.fetch(`/${film}/film.bin`, { headers: { Range: 'bytes=0-9' } });
  const sources = region('Chunks on their way');
  await expect(sources).toContainText(/were still decrypted in memory: [1-9]\d*×/);
  await expect(sources.getByRole('listitem')).toHaveCount(2);
  await expect(sources.getByRole('listitem').nth(0).locator('.share-part')).toHaveAttribute(
    'width',
    '100.00',
  );
});

test('a file costs no counting and no messages while no live screen is open', { tag: '@smoke' }, async ({
  startPeer,
  openGateway,
}) => {
  const peer = await startPeer();
  const film = await publish(noise(6, 100_000), peer);
  const gateway = await openGateway({ peers: [peer.url] });
  await gateway.shell.evaluate(() => {
    const messages: unknown[] = [];
    new BroadcastChannel('antway').onmessage = ({ data }) => messages.push(data);
    Object.assign(window, { messages });
  });
  await gateway.fetch(`/${film}`);
  await gateway.settled();
  expect((await gateway.stats()).reading).toBeNull();
  expect(await gateway.shell.evaluate(() => (window as unknown as { messages: unknown[] }).messages)).toEqual(
    [],
  );
});
