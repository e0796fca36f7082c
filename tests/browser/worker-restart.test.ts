import { expect, type Gateway, stopWorkers, test } from '../support/chromium.ts';
import { hostilePeer } from '../support/paths.ts';
import { publish, RepeatingFile } from '../support/publish.ts';
import { anttpFixture } from '../support/tar.ts';

test('a killed worker starts again for the next request, with its store intact', { tag: '@smoke' }, async ({
  startPeer,
  openWorker,
}) => {
  const peer = await startPeer();
  await peer.putFixture('anttp/tarchive_site');
  const { address } = anttpFixture('tarchive_site');
  const gateway = await openWorker({ peers: [peer.url] });
  const before = await gateway.fetch(`/${address}/docs/readme.txt`);
  expect(before.status).toBe(200);
  await gateway.settled();
  const { startedAt } = await gateway.stats();
  const given = await peer.chunksGiven();

  await stopWorkers(gateway.shell);
  const after = await gateway.fetch(`/${address}/docs/readme.txt`);
  expect(after).toMatchObject({ status: 200, sha256: before.sha256 });
  expect((await gateway.stats()).startedAt).toBeGreaterThan(startedAt);
  // The stored chunks are still there, so the peer was not asked again …
  expect(await peer.chunksGiven()).toBe(given);
  expect((await gateway.cache()).count).toBe(given);

  // … and the peer is found again for something new.
  await stopWorkers(gateway.shell);
  const added = await publish(Buffer.from('published after the worker was killed'), peer);
  expect((await gateway.fetch(`/${added}`)).text).toBe('published after the worker was killed');
});

test('a worker killed before every request of a page still serves all of them', { tag: '@full' }, async ({
  startPeer,
  openWorker,
}) => {
  const peer = await startPeer();
  await peer.putFixture('anttp/tarchive_site');
  const { address } = anttpFixture('tarchive_site');
  const gateway = await openWorker({ peers: [peer.url] });
  for (const path of ['', 'app.js', 'assets/style.css', 'assets/img/a.svg', 'docs/readme.txt', 'sub/']) {
    await stopWorkers(gateway.shell);
    expect((await gateway.fetch(`/${address}/${path}`)).status).toBe(200);
  }
});

test('an open page stays usable after its worker was killed', { tag: '@full' }, async ({
  startPeer,
  openWorker,
}) => {
  const peer = await startPeer();
  await peer.putFixture('anttp/tarchive_site');
  const { address } = anttpFixture('tarchive_site');
  const gateway = await openWorker({ peers: [peer.url] });
  const page = await gateway.openPage(`/${address}/docs/`);
  await stopWorkers(page);
  await page.getByRole('link', { name: 'readme.txt' }).click();
  await expect(page).toHaveURL(`${gateway.url}/${address}/docs/readme.txt`);
  await expect(page.locator('body')).toHaveText('hello docs');
});

test('a download fails instead of ending early if its worker is killed', { tag: '@full' }, async ({
  startPeer,
  openWorker,
}) => {
  // Honest for the maps and the first chunks, then so slow that the worker is killed in the middle.
  const peer = await startPeer({ binary: hostilePeer, flags: ['--fault', 'slow', '--honest-first', '7'] });
  const file = new RepeatingFile(60_000_000);
  const address = await publish(file, peer);
  const gateway: Gateway = await openWorker({ peers: [peer.url] });
  await gateway.shell.evaluate(async (url) => {
    const reader = (await fetch(url)).body!.getReader();
    await reader.read();
    const readOn = async () => {
      try {
        while (!(await reader.read()).done);
        return 'ended';
      } catch {
        return 'failed';
      }
    };
    Object.assign(globalThis, { outcome: readOn() });
  }, `/${address}`);
  await expect.poll(() => peer.metric('streams')).toBeGreaterThan(0);
  await stopWorkers(gateway.shell);
  const outcome = await gateway.shell.evaluate(() => (globalThis as unknown as { outcome: string }).outcome);
  expect(outcome).toBe('failed');
});
