import { join } from 'node:path';
import { expect } from 'vitest';
import { launchFirefox } from '../support/firefox.ts';
import { publish } from '../support/publish.ts';
import { Gateway, setOffline, test } from './harness.ts';

test('unseen content is an OFFLINE page, which opens the content by itself when the network is back', async ({
  startPeer,
  startHost,
  folder,
}) => {
  const peer = await startPeer();
  const [seen, unseen] = [
    await publish(Buffer.from('a letter'), peer),
    await publish(Buffer.from('a late letter'), peer),
  ];
  const host = await startHost({ peers: [peer.url] });
  // One of its own, since all of it goes offline.
  const browser = await launchFirefox(join(folder, 'profile'));
  try {
    const gateway = await Gateway.open(host, browser);
    expect((await gateway.fetch(`/${seen}`)).text).toBe('a letter');
    await gateway.settled();
    await peer.kill();
    await setOffline(browser, true);

    expect((await gateway.fetch(`/${seen}`)).text).toBe('a letter');
    const { page, response } = await gateway.openPage(`/${unseen}`);
    expect(response.status()).toBe(503);
    const text = () => page.evaluate(() => document.body.textContent);
    expect(await text()).toContain('You are offline');
    expect(await text()).toContain('Code OFFLINE');
    expect(await text()).toContain('No part of it is stored on this device.');

    await startPeer({ http: new URL(peer.url).host, store: peer.storeFolder });
    await setOffline(browser, false);
    await page.waitForFunction(() => document.body.textContent.includes('a late letter'), {
      timeout: 45_000,
    });
  } finally {
    await browser.close();
  }
});

test('private windows store opened content until the last of them is closed', async ({
  startPeer,
  startHost,
  folder,
}) => {
  const peer = await startPeer();
  const address = await publish(Buffer.from('a letter'), peer);
  const host = await startHost({ peers: [peer.url] });
  const profile = join(folder, 'profile');

  const before = await launchFirefox(profile, { isPrivate: true });
  try {
    const gateway = await Gateway.open(host, before);
    expect((await gateway.fetch(`/${address}`)).text).toBe('a letter');
    await gateway.settled();
    expect(await gateway.cache()).toMatchObject({ available: true, count: 4, persisted: false });
    expect(await gateway.shell.evaluate(() => navigator.storage.persist())).toBe(false);
    await peer.kill();
    const { page, response } = await gateway.openPage(`/${address}`);
    expect(response.status()).toBe(200);
    expect(await page.evaluate(() => document.body.textContent)).toContain('a letter');
  } finally {
    await before.close();
  }

  // The host is there, and everything has to begin anew.
  const after = await launchFirefox(profile, { isPrivate: true });
  try {
    const page = await after.newPage();
    await page.goto(`${host.url}/icon.svg`);
    const kept = await page.evaluate(async () => ({
      registrations: (await navigator.serviceWorker.getRegistrations()).length,
      databases: (await indexedDB.databases()).length,
      caches: (await caches.keys()).length,
    }));
    expect(kept).toEqual({ registrations: 0, databases: 0, caches: 0 });
  } finally {
    await after.close();
  }
});
