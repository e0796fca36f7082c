import type { Page } from '@playwright/test';
import { limits } from '../../src/limits.ts';
import { browserProcess } from '../support/browser-process.ts';
import { errorCode, expect, fetchIn, Gateway, stopWorkers, test } from '../support/chromium.ts';
import { type ManyChunks, publishManyChunks } from '../support/many-chunks.ts';
import { PeerProcess } from '../support/peer-process.ts';
import { expectPin, listPins, listSites, pinAction, unpin } from '../support/pins.ts';
import { publish } from '../support/publish.ts';
import { randomBytes } from '../support/random.ts';
import { shellStored } from '../support/shell-stored.ts';
import { ChunkRelay } from './chunk-relay.ts';

// One peer with a site of a thousand chunks, for all tests of a worker.
test.describe.configure({ mode: 'default' });

/** How many chunks an interruption may cost twice: those that were on their way. */
const inFlight = limits.parallelPinFetches + limits.parallelSmallPinFetches;
/** So that the site has about 7.5 MB: more than the quota of a test, which also has to hold the shell. */
const bytesPerFile = 30_000;
const complete = { state: 'complete', activity: 'idle', problem: null } as const;

let peer: PeerProcess;
let site: ManyChunks;
let relay: ChunkRelay;

test.beforeAll(async () => {
  test.setTimeout(180_000);
  peer = await PeerProcess.start();
  site = await publishManyChunks(peer, 1_000, { bytesPerFile });
});

test.beforeEach(async () => {
  test.slow();
  relay = await ChunkRelay.start(peer);
});

test.afterEach(() => relay.stop());
test.afterAll(() => peer.stop());

/** All of it is stored, nothing else is, and nothing came twice but what was on its way when it was interrupted. */
async function expectComplete(page: Page, { interruptions = 1 } = {}): Promise<void> {
  const { chunks } = await expectPin(page, site.address, complete);
  expect(chunks).toEqual({ stored: site.chunks, total: site.chunks });
  expect(new Set(relay.given.keys())).toEqual(site.addresses);
  expect(relay.repeated).toBeLessThanOrEqual(interruptions * inFlight);
  const [listed] = await listSites(page);
  expect(listed).toMatchObject({ address: site.address, kind: 'archive', offline: true, pin: complete });
  const { count } = JSON.parse((await fetchIn(page, '/-/cache')).text);
  expect(count).toBe(site.chunks);
}

test.describe('a pin of a thousand chunks', () => {
  test('brings each chunk once, and its site then opens without a peer', { tag: '@full' }, async ({
    openWorker,
  }) => {
    const gateway = await openWorker({ peers: [relay.url] });
    expect(await pinAction(gateway.shell, site.address, 'pin')).toMatchObject({ state: 'partial' });
    await expectComplete(gateway.shell, { interruptions: 0 });
    await shellStored(gateway.shell);
    await gateway.shell.context().setOffline(true);
    await stopWorkers(gateway.shell);
    const file = await gateway.fetch(`/${site.address}/files/77.bin`);
    expect([file.status, file.size]).toEqual([200, bytesPerFile]);
    expect(await expectPin(gateway.shell, site.address, complete)).toMatchObject({ bytesPerSecond: null });
  });

  test('continues after its tab was closed and the worker ended', { tag: '@full' }, async ({
    openWorker,
  }) => {
    const gateway = await openWorker({ peers: [relay.url] });
    const context = gateway.shell.context();
    const { held } = relay.holdAfter(300);
    await pinAction(gateway.shell, site.address, 'pin');
    await held;
    const other = await context.newPage();
    await gateway.shell.close();
    await stopWorkers(other);
    relay.drop();
    relay.release();
    const again = await Gateway.open(gateway.host, other);
    await expectComplete(again.shell);
  });

  test('continues after the worker was killed, at each of three places', { tag: '@full' }, async ({
    openWorker,
  }) => {
    const gateway = await openWorker({ peers: [relay.url] });
    // In the inventory, at its end, and among the files' parts.
    for (const chunks of [2, 250, 300]) {
      const { held } = relay.holdAfter(chunks);
      if (chunks === 2) await pinAction(gateway.shell, site.address, 'pin');
      else await listPins(gateway.shell);
      await held;
      await stopWorkers(gateway.shell);
      relay.drop();
    }
    relay.release();
    await expectComplete(gateway.shell, { interruptions: 3 });
  });

  test('continues after the browser was killed', { tag: '@full' }, async ({
    playwright,
    launchOptions,
    startHost,
    folder,
  }) => {
    const host = await startHost({ peers: [relay.url] });
    const profile = `${folder}/profile`;
    const before = await playwright.chromium.launchPersistentContext(profile, launchOptions);
    const { shell } = await Gateway.openWorker(host, await before.newPage());
    const { held } = relay.holdAfter(400);
    await pinAction(shell, site.address, 'pin');
    await held;
    const ended = new Promise((resolve) => before.once('close', resolve));
    process.kill(browserProcess(profile), 'SIGKILL');
    await ended;
    relay.drop();
    relay.release();

    const after = await playwright.chromium.launchPersistentContext(profile, launchOptions);
    const again = await Gateway.open(host, await after.newPage());
    await expectComplete(again.shell);
    await after.close();
  });

  test('waits while its peer is down, and continues by itself when the peer is back', {
    tag: '@full',
  }, async ({ openWorker }) => {
    const gateway = await openWorker({ peers: [relay.url] });
    const { held } = relay.holdAfter(500);
    await pinAction(gateway.shell, site.address, 'pin');
    await held;
    await peer.kill();
    relay.release();
    const waiting = await expectPin(gateway.shell, site.address, { state: 'partial', activity: 'waiting' });
    expect(waiting.problem).toMatchObject({ code: 'PEERS_UNREACHABLE' });
    peer = await PeerProcess.start({ http: new URL(peer.url).host, store: peer.storeFolder });
    await expectComplete(gateway.shell);
  });

  test('continues without a page when the browser fires a sync event', { tag: '@full' }, async ({
    playwright,
    launchOptions,
    startHost,
    folder,
  }) => {
    const host = await startHost({ peers: [relay.url] });
    const profile = `${folder}/profile`;
    const before = await playwright.chromium.launchPersistentContext(profile, launchOptions);
    const { shell } = await Gateway.openWorker(host, await before.newPage());
    await before.setOffline(true);
    await pinAction(shell, site.address, 'pin');
    const waiting = await expectPin(shell, site.address, { state: 'partial', activity: 'waiting' });
    expect(waiting.problem).toMatchObject({ code: 'OFFLINE' });
    await before.close();
    expect(relay.total).toBe(0);

    const after = await playwright.chromium.launchPersistentContext(profile, launchOptions);
    const page = await after.newPage();
    await dispatchSync(page, host.url, 'antway-pins');
    await expect.poll(() => relay.given.size, { timeout: 120_000 }).toBe(site.chunks);
    const again = await Gateway.open(host, page);
    await expectComplete(again.shell, { interruptions: 0 });
    await after.close();
  });

  test('waits while the limit is too low, and continues when the user raises it', { tag: '@full' }, async ({
    openWorker,
  }) => {
    const gateway = await openWorker({ peers: [relay.url], cache: { maxBytes: 3_000_000 } });
    await pinAction(gateway.shell, site.address, 'pin');
    const waiting = await expectPin(gateway.shell, site.address, { activity: 'waiting' });
    expect(waiting).toMatchObject({ state: 'partial', problem: { code: 'TOO_LARGE' } });
    expect(JSON.parse((await gateway.fetch('/-/cache')).text).bytes).toBeLessThanOrEqual(3_000_000);
    await gateway.fetch('/-/settings', {
      method: 'PUT',
      body: JSON.stringify({ cache: { maxBytes: 30_000_000 } }),
    });
    await expectComplete(gateway.shell);
  });

  test('waits while the browser’s quota is full, and continues by itself when there is room', {
    tag: '@full',
  }, async ({ startHost, page }) => {
    const host = await startHost({ peers: [relay.url] });
    const session = await page.context().newCDPSession(page);
    const setQuota = (quota: { quotaSize?: number }) =>
      session.send('Storage.overrideQuotaForOrigin', { origin: host.url, ...quota });
    // Before the database is open: Chromium remembers for half a minute how much room there was.
    await setQuota({ quotaSize: 6_000_000 });
    const gateway = await Gateway.openWorker(host, page);
    await pinAction(gateway.shell, site.address, 'pin');
    const waiting = await expectPin(gateway.shell, site.address, { activity: 'waiting' });
    expect(waiting).toMatchObject({ state: 'partial', problem: { code: 'TOO_LARGE' } });
    await setQuota({});
    // By itself: each try that comes too early fetches some chunks in vain.
    await expectComplete(gateway.shell, { interruptions: 20 });
  });

  test('can be paused, stays paused when the worker ends, and continues when the user resumes it', {
    tag: '@smoke',
  }, async ({ openWorker }) => {
    const gateway = await openWorker({ peers: [relay.url] });
    const { held } = relay.holdAfter(100);
    await pinAction(gateway.shell, site.address, 'pin');
    await held;
    expect(await pinAction(gateway.shell, site.address, 'pause')).toMatchObject({ activity: 'paused' });
    relay.release();
    await stopWorkers(gateway.shell);
    const paused = await expectPin(gateway.shell, site.address, { state: 'partial', activity: 'paused' });
    const given = relay.total;
    await gateway.settled();
    expect([relay.total, (await listPins(gateway.shell))[0]!.chunks.stored]).toEqual([
      given,
      paused.chunks.stored,
    ]);
    await pinAction(gateway.shell, site.address, 'resume');
    await expectComplete(gateway.shell);
  });
});

test('unpinning deletes a site’s chunks, except the chunks of other pins', { tag: '@full' }, async ({
  openWorker,
}) => {
  const gateway = await openWorker({ peers: [relay.url] });
  // The same files as the large one begins with.
  const part = await publishManyChunks(peer, 40, { bytesPerFile });
  const shared = [...part.addresses].filter((address) => site.addresses.has(address));
  expect(shared).toHaveLength(36);
  for (const { address } of [site, part]) {
    await pinAction(gateway.shell, address, 'pin');
    await expectPin(gateway.shell, address, complete);
  }
  expect(relay.repeated).toBe(0);
  expect((await gateway.cache()).count).toBe(site.chunks + 4);

  await unpin(gateway.shell, site.address);
  expect((await gateway.cache()).count).toBe(part.chunks);
  await expectPin(gateway.shell, part.address, complete);
  expect((await listSites(gateway.shell)).map(({ address }) => address)).toEqual([part.address]);
  await unpin(gateway.shell, part.address);
  expect(await gateway.cache()).toMatchObject({ count: 0, bytes: 0 });
  const missing = await gateway.fetch(`/-/pins?address=${part.address}`, { method: 'DELETE' });
  expect([missing.status, errorCode(missing)]).toEqual([404, 'NOT_FOUND']);
});

test('pinned chunks stay while opened content fills the store again and again', { tag: '@full' }, async ({
  openWorker,
}) => {
  const gateway = await openWorker({ peers: [relay.url], cache: { maxBytes: 200_000 } });
  const kept = await publishManyChunks(peer, 40, { seed: 7 });
  await pinAction(gateway.shell, kept.address, 'pin');
  await expectPin(gateway.shell, kept.address, complete);
  for (let seed = 100; seed < 112; seed++) {
    const file = await publish(Buffer.alloc(60_000, `${seed}`), peer);
    const noise = await publish(randomBytes(60_000), peer);
    for (const address of [file, noise]) expect((await gateway.fetch(`/${address}`)).size).toBe(60_000);
    await gateway.settled();
    expect((await gateway.cache()).bytes).toBeLessThanOrEqual(200_000);
  }
  await expectPin(gateway.shell, kept.address, { ...complete, chunks: { stored: 40, total: 40 } });
  await stopWorkers(gateway.shell);
  await expectPin(gateway.shell, kept.address, { ...complete, chunks: { stored: 40, total: 40 } });
});

test.describe('verifying', () => {
  test('finds missing and damaged chunks, and fetches them from peers', { tag: '@full' }, async ({
    openWorker,
  }) => {
    const gateway = await openWorker({ peers: [relay.url] });
    const kept = await publishManyChunks(peer, 40, { seed: 8 });
    await pinAction(gateway.shell, kept.address, 'pin');
    await expectPin(gateway.shell, kept.address, complete);
    const [changed, lost] = [...kept.addresses].slice(5);
    await damage(gateway.shell, changed!, 'change');
    await damage(gateway.shell, lost!, 'remove');
    const given = relay.total;
    await pinAction(gateway.shell, kept.address, 'verify');
    await expectPin(gateway.shell, kept.address, complete);
    expect(relay.total).toBe(given + 2);
    expect([relay.given.get(changed!), relay.given.get(lost!)]).toEqual([2, 2]);
    expect((await gateway.stats()).chunks.damaged).toBe(1);
  });

  test('says “damaged” when no peer can repair it', { tag: '@full' }, async ({ openWorker }) => {
    const gateway = await openWorker({ peers: [relay.url] });
    const kept = await publishManyChunks(peer, 40, { seed: 9 });
    await pinAction(gateway.shell, kept.address, 'pin');
    await expectPin(gateway.shell, kept.address, complete);
    const [changed] = [...kept.addresses].slice(5);
    await damage(gateway.shell, changed!, 'change');
    await gateway.shell.context().setOffline(true);
    await pinAction(gateway.shell, kept.address, 'verify');
    const damaged = await expectPin(gateway.shell, kept.address, { state: 'damaged', activity: 'waiting' });
    expect(damaged).toMatchObject({ chunks: { stored: 39, total: 40 }, problem: { code: 'OFFLINE' } });
    expect((await listSites(gateway.shell))[0]).toMatchObject({ offline: false });
    // As it is still in a worker that begins anew; and then it heals.
    await stopWorkers(gateway.shell);
    await expectPin(gateway.shell, kept.address, { state: 'damaged', activity: 'waiting' });
    await gateway.shell.context().setOffline(false);
    await expectPin(gateway.shell, kept.address, complete);
  });
});

test('a pin of missing content and an invalid request fail with a reason', { tag: '@full' }, async ({
  openWorker,
}) => {
  const denied = 'de'.repeat(32);
  const gateway = await openWorker({ peers: [relay.url], denied: [denied] });
  const nothing = '00'.repeat(32);
  await pinAction(gateway.shell, nothing, 'pin');
  const { problem } = await expectPin(gateway.shell, nothing, { state: 'partial', activity: 'waiting' });
  expect(problem).toMatchObject({ code: 'NOT_FOUND' });
  const cases = [
    [{ address: denied, action: 'pin' }, 451, 'DENIED'],
    [{ address: 'x', action: 'pin' }, 400, 'BAD_ADDRESS'],
    [{ action: 'pin' }, 403, 'REFUSED'],
    [{ address: nothing, action: 'remove' }, 403, 'REFUSED'],
    [{ address: 'ab'.repeat(32), action: 'pause' }, 404, 'NOT_FOUND'],
    [{ address: 'ab'.repeat(32), action: 'verify' }, 404, 'NOT_FOUND'],
  ] as const;
  for (const [body, status, code] of cases) {
    const answer = await gateway.fetch('/-/pins', { method: 'POST', body: JSON.stringify(body) });
    expect([answer.status, errorCode(answer)], JSON.stringify(body)).toEqual([status, code]);
  }
});

/** Has the browser tell an origin's worker, as Background Sync does, that there is a network. */
async function dispatchSync(page: Page, url: string, tag: string): Promise<void> {
  const origin = `${url}/`;
  const session = await page.context().newCDPSession(page);
  const registrationId = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const own = registrations.find(({ scopeURL }) => scopeURL === origin);
      if (own) resolve(own.registrationId);
    });
  });
  await session.send('ServiceWorker.enable');
  const event = { origin, registrationId: await registrationId, tag, lastChance: false };
  await session.send('ServiceWorker.dispatchSyncEvent', event);
  await session.detach();
}

/** Changes or removes the bytes of a stored chunk behind the worker's back. */
function damage(page: Page, address: string, how: 'change' | 'remove'): Promise<void> {
  return page.evaluate(
    async ([address, how]) => {
      const done = <T>(request: IDBRequest<T>) =>
        new Promise<T>((resolve, reject) => {
          request.onsuccess = () => resolve(request.result);
          request.onerror = () => reject(request.error);
        });
      const database = await done(indexedDB.open('antway-chunks'));
      const chunks = database.transaction('chunks', 'readwrite').objectStore('chunks');
      const key = Uint8Array.from(address.match(/../g)!, (pair) => Number.parseInt(pair, 16));
      const bytes = new Uint8Array((await done(chunks.get(key))) as ArrayBuffer);
      bytes[bytes.length >> 1]! ^= 1;
      await (how === 'change' ? done(chunks.put(bytes.buffer, key)) : done(chunks.delete(key)));
      database.close();
    },
    [address, how] as const,
  );
}
