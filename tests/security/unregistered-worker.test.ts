import type { Page } from '@playwright/test';
import { Address } from '../../src/address.ts';
import { expect, fetchIn, type Gateway } from '../support/chromium.ts';
import { expectPin, pinAction } from '../support/pins.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { attack } from './attack.ts';
import { unregisterByFrame } from './hostile-site.ts';

const group = 'The worker’s registration';

const files = { 'index.html': '<!doctype html><title>Home</title>', 'page.html': '<title>Page</title>' };

/** Unregisters every worker that the page can reach. @returns how many. */
const unregister = (page: Page) =>
  page.evaluate(async () => {
    const registrations = await navigator.serviceWorker.getRegistrations();
    await Promise.all(registrations.map((registration) => registration.unregister()));
    return registrations.length;
  });

const hasWorker = (page: Page) =>
  page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');

/** The data that the gateway stores for the user. */
async function state(shell: Page) {
  const json = async (name: string) => JSON.parse((await fetchIn(shell, `/-/${name}`)).text);
  const [{ sites }, settings, { pins }, trust] = await Promise.all(
    ['sites', 'settings', 'pins', 'trust'].map(json),
  );
  return { sites, settings, pins, trust };
}

attack(
  group,
  'A trusted page on the gateway’s own origin unregisters the gateway’s worker.',
  'The next load of the shell, or of a site, registers it again; library, pins, settings and decisions are intact.',
  async ({ startPeer, openGateway }) => {
    const peer = await startPeer();
    const site = await publish(await makeTarchive(files), peer);
    const gateway: Gateway = await openGateway({ peers: [peer.url], isolation: 'path', trusted: [site] });
    const body = JSON.stringify({ cache: { maxBytes: 123_000_000 } });
    const headers = { 'Content-Type': 'application/json' };
    expect((await gateway.fetch('/-/settings', { method: 'PUT', headers, body })).status).toBe(200);
    const attacker = await gateway.openPage(`/${site}/`);
    await expect(attacker).toHaveTitle('Home');
    await pinAction(gateway.shell, site, 'pin');
    await expectPin(gateway.shell, site, { state: 'complete', activity: 'idle' });
    await gateway.settled();
    const before = await state(gateway.shell);
    expect(before.sites).toHaveLength(1);

    expect(await unregister(attacker)).toBe(1);
    const shell = await attacker.context().newPage();
    await shell.goto(gateway.url);
    await hasWorker(shell);
    await expect(shell.getByRole('combobox', { name: 'Search or open an address' })).toBeVisible();
    expect(await state(shell)).toEqual(before);

    // Also when every page was closed, and a site is what is opened next.
    expect(await unregister(attacker)).toBe(1);
    const page = await attacker.context().newPage();
    await Promise.all([attacker.close(), gateway.shell.close(), shell.close()]);
    await page.goto(`${gateway.url}/${site}/page.html`);
    await expect(page).toHaveTitle('Page');
    await hasWorker(page);
    // From the pin alone.
    await peer.kill();
    await page.goto(`${gateway.url}/${site}/`);
    await expect(page).toHaveTitle('Home');
    await page.goto(gateway.url);
    await hasWorker(page);
    expect((await state(page)).pins).toEqual(before.pins);
  },
  { tag: '@full' },
);

attack(
  group,
  'A site on an origin of its own unregisters its worker.',
  'Only that site is affected, and its next load registers the worker again; stored data is still there.',
  async ({ startPeer, startHost, browser }) => {
    const peer = await startPeer();
    const [site, other] = [
      await publish(await makeTarchive(files), peer),
      await publish(await makeTarchive({ ...files, 'index.html': '<title>Other</title>' }), peer),
    ];
    const host = await startHost({ peers: [peer.url], isolation: 'subdomain' });
    const context = await browser.newContext();
    try {
      const root = `antway.localhost:${new URL(host.url).port}`;
      const originOf = (address: string) => `http://${Address.fromHex(address).base32}.${root}`;
      const open = async (url: string) => {
        const page = await context.newPage();
        await page.goto(url);
        return page;
      };
      const shell = await open(`http://${root}/`);
      await hasWorker(shell);
      const otherPage = await open(`${originOf(other)}/`);
      await expect(otherPage).toHaveTitle('Other');
      const page = await open(`${originOf(site)}/`);
      await expect(page).toHaveTitle('Home');
      // The worker refuses a page of the site what the host would answer.
      const isAnswered = async (each: Page) => (await fetchIn(each, '/-/health')).status === 403;
      expect(await isAnswered(page)).toBe(true);

      expect(await unregisterByFrame(page)).toBe(1);
      await shell.reload();
      await hasWorker(shell);
      await otherPage.reload();
      expect(await isAnswered(otherPage)).toBe(true);
      await page.goto(`${originOf(site)}/page.html`);
      await expect(page).toHaveTitle('Page');
      expect(await isAnswered(page)).toBe(true);
      await peer.kill();
      await page.goto(`${originOf(site)}/`);
      await expect(page).toHaveTitle('Home');
    } finally {
      await context.close();
    }
  },
);
