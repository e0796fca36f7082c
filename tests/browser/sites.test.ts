import { limits } from '../../src/limits.ts';
import { expect, stopWorkers, test } from '../support/chromium.ts';
import { publishManyChunks } from '../support/many-chunks.ts';
import { expectPin, listSites, pinAction } from '../support/pins.ts';
import { publish } from '../support/publish.ts';
import { randomBytes } from '../support/random.ts';
import { makeTarchive } from '../support/tar.ts';

test.beforeEach(() => test.slow());

test('an opened site is listed with its title and icon, and with whether it is complete', {
  tag: '@full',
}, async ({ startPeer, openWorker, folder }) => {
  const peer = await startPeer();
  const small = await publish(
    makeTarchive(folder, {
      'index.html':
        '<title>Front &amp; centre</title><link rel="icon" href="art/icon.svg"><a href="b.html">b</a>',
      'b.html': '<title>Another page</title>',
      'art/icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    }),
    peer,
  );
  // Six parts, of which the front page needs some; a record, and the three chunks of a nested map.
  const large = await publish(
    makeTarchive(folder, {
      'index.html': '<title>Large</title>',
      'favicon.ico': 'an icon',
      'a.bin': randomBytes(4.5 * limits.plaintextChunkBytes),
      'b.bin': randomBytes(limits.plaintextChunkBytes),
    }),
    peer,
  );
  const letter = await publish(Buffer.from('a letter '.repeat(100)), peer);
  const gateway = await openWorker({ peers: [peer.url], names: { library: small } });
  await gateway.openPage('/library/b.html');
  await gateway.openPage(`/${letter}/letter.txt`);
  const sites = () => listSites(gateway.shell);
  const titles = async () => (await sites()).map(({ title }) => title);
  await gateway.openPage('/library/');
  // A visit counts once the user has seen the page for a second.
  await expect.poll(titles).toContain('Front &amp; centre');
  await gateway.openPage('/library/b.html');
  await gateway.openPage(`/${large}/`);

  await expect.poll(titles).toEqual(['Large', 'Front &amp; centre', 'letter.txt']);
  await expect.poll(async () => (await sites()).map(({ chunks }) => chunks.total)).toEqual([10, 4, 4]);
  expect(await sites()).toMatchObject([
    { address: large, kind: 'archive', path: `/${large}/`, icon: `/${large}/favicon.ico`, offline: false },
    {
      address: small,
      name: 'library',
      path: '/library/',
      icon: '/library/art/icon.svg',
      offline: true,
      pin: null,
    },
    { address: letter, kind: 'file', icon: null, offline: true, bytes: { stored: expect.any(Number) } },
  ]);

  // The mark is exact: once all of the large one is here, and no sooner.
  expect((await gateway.fetch(`/${large}/a.bin`)).status).toBe(200);
  expect((await gateway.fetch(`/${large}/b.bin`)).status).toBe(200);
  await gateway.settled();
  expect((await sites())[0]).toMatchObject({ offline: true, chunks: { stored: 10, total: 10 } });
  await stopWorkers(gateway.shell);
  expect((await sites())[0]).toMatchObject({ offline: true, chunks: { stored: 10, total: 10 } });

  // A forgotten site is gone, unless it is pinned.
  await pinAction(gateway.shell, small, 'pin');
  await expectPin(gateway.shell, small, { state: 'complete' });
  for (const address of [small, large]) {
    const { status } = await gateway.fetch(`/-/sites?address=${address}`, { method: 'DELETE' });
    expect(status).toBe(204);
  }
  const left = await sites();
  expect(left.map(({ address, lastOpened }) => [address, lastOpened !== null])).toEqual([
    [letter, true],
    [small, false],
  ]);
  await expect.poll(async () => (await gateway.cache()).count).toBe(8);

  // To forget a visit deletes no chunk; what a pin holds keeps its name until that is gone, too.
  await gateway.openPage('/library/');
  await expect
    .poll(async () => (await sites())[0])
    .toMatchObject({ address: small, lastOpened: expect.any(Number) });
  for (const address of [small, letter]) {
    const { status } = await gateway.fetch(`/-/visits?address=${address}`, { method: 'DELETE' });
    expect(status).toBe(204);
  }
  expect(await sites()).toMatchObject([
    { address: small, lastOpened: null, title: 'Front &amp; centre', path: '/library/' },
  ]);
  expect((await gateway.cache()).count).toBe(8);
  await gateway.fetch(`/-/pins?address=${small}`, { method: 'DELETE' });
  expect(await sites()).toEqual([]);
});

test('a manifest counts as complete once all its files were read, and deleting half of it frees that half', {
  tag: '@smoke',
}, async ({ startPeer, openWorker }) => {
  const peer = await startPeer();
  const site = await publishManyChunks(peer, 20);
  const gateway = await openWorker({ peers: [peer.url] });
  await gateway.openPage(`/${site.address}/`);
  expect((await gateway.fetch(`/${site.address}/files/0.bin`)).status).toBe(200);
  await gateway.settled();
  await expect
    .poll(() => listSites(gateway.shell))
    .toMatchObject([{ kind: 'archive', offline: false, chunks: { total: null } }]);
  for (const i of [1, 2, 3]) {
    expect((await gateway.fetch(`/${site.address}/files/${i}.bin`)).status).toBe(200);
  }
  await gateway.settled();
  expect(await listSites(gateway.shell)).toMatchObject([
    { offline: true, chunks: { stored: 20, total: 20 } },
  ]);

  const half = await publishManyChunks(peer, 20, { seed: 2 });
  await gateway.openPage(`/${half.address}/`);
  expect((await gateway.fetch(`/${half.address}/files/2.bin`)).status).toBe(200);
  await gateway.settled();
  expect((await gateway.cache()).count).toBe(28);
  await gateway.fetch(`/-/sites?address=${half.address}`, { method: 'DELETE' });
  expect((await gateway.cache()).count).toBe(20);
});

test('the worker lists a thousand sites fast and in pieces', { tag: '@full' }, async ({
  startPeer,
  openWorker,
}) => {
  const peer = await startPeer();
  const address = await publish(Buffer.from('one of many'), peer);
  const gateway = await openWorker({ peers: [peer.url] });
  await gateway.openPage(`/${address}`);
  await expect.poll(async () => (await listSites(gateway.shell))[0]?.offline).toBe(true);
  await gateway.shell.evaluate(async (address) => {
    const open = (name: string) =>
      new Promise<IDBDatabase>((resolve, reject) => {
        const request = indexedDB.open(name);
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const bytesOf = (hex: string) => Uint8Array.from(hex.match(/../g)!, (pair) => Number.parseInt(pair, 16));
    const [settings, chunks] = [await open('antway'), await open('antway-chunks')];
    const of = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve) => {
        request.onsuccess = () => resolve(request.result);
      });
    const storeOf = (database: IDBDatabase, name: string) =>
      database.transaction(name, 'readwrite').objectStore(name);
    const visit = await of(storeOf(settings, 'settings').get(`site:${address}`));
    const inventory = await of(storeOf(chunks, 'inventories').get(bytesOf(address)));
    const [visits, inventories] = [storeOf(settings, 'settings'), storeOf(chunks, 'inventories')];
    for (let i = 1; i < 1_000; i++) {
      const hex = i.toString(16).padStart(64, '0');
      visits.put({ ...visit, address: hex, lastOpened: i }, `site:${hex}`);
      // Twenty chunks each; the first four are those of the one that is there.
      const hashes = new Uint8Array(20 * 32).map((_, at) => at ^ i);
      hashes.set(inventory.hashes);
      inventories.put({ ...inventory, hashes, sizes: new Uint32Array(20).fill(1) }, bytesOf(hex));
    }
    settings.close();
    chunks.close();
  }, address);
  await stopWorkers(gateway.shell);
  const sites = await listSites(gateway.shell);
  expect(sites).toHaveLength(1_000);
  expect(sites[0]).toMatchObject({ address, offline: true });
  for (const { offline, chunks } of sites.slice(1)) {
    expect({ offline, chunks }).toEqual({ offline: false, chunks: { stored: 4, total: 20 } });
  }
});
