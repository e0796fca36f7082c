import type { Page } from '@playwright/test';
import { Address } from '../../src/address.ts';
import { expect, fetchIn, openShellIn, sceneOfFile } from '../support/chromium.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { attack } from './attack.ts';

const group = 'The page that tests a browser';
const path = '/-/self-test';

const scene = sceneOfFile(async ({ startPeer, openGateway }) => {
  const peer = await startPeer();
  const files = { 'index.html': '<!doctype html><title>Attacker</title>' };
  const site = await publish(await makeTarchive(files), peer);
  return { site, gateway: await openGateway({ peers: [peer.url] }) };
});

/** Opens the page in a window of the attacker's page, and tries to send a request of the gateway from that window. */
function requestFrom(attacker: Page, url: string): Promise<string> {
  return attacker.evaluate(async (url) => {
    const popup = window.open(url)!;
    try {
      while (popup.document.readyState !== 'complete' || popup.location.href === 'about:blank') {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const { fetch } = popup as unknown as typeof globalThis;
      const response = await fetch('/-/config');
      return `${response.status} ${await response.text()}`;
    } catch (error) {
      return (error as Error).name;
    }
  }, url);
}

async function openTrusted(): Promise<Page> {
  const { gateway, site } = scene();
  const body = JSON.stringify({ address: site, decision: 'trusted' });
  const headers = { 'Content-Type': 'application/json' };
  expect((await fetchIn(gateway.shell, '/-/trust', { method: 'POST', headers, body })).status).toBe(204);
  const attacker = await gateway.openPage(`/${site}/`);
  await expect(attacker).toHaveTitle('Attacker');
  return attacker;
}

attack(
  group,
  'a site that the user trusts on the gateway’s origin opens the page and sends a request of the gateway from its window',
  'the worker refuses the request: the page has no endpoints',
  async () => {
    const { gateway } = scene();
    const attacker = await openTrusted();
    expect((await fetchIn(gateway.shell, '/-/config')).status).toBe(200);
    expect(await requestFrom(attacker, path)).toContain('REFUSED');
  },
);

attack(group, 'a site that the user trusts on the gateway’s origin frames the page', 'refused', async () => {
  const attacker = await openTrusted();
  const framed = await attacker.evaluate(async (src) => {
    const frame = Object.assign(document.createElement('iframe'), { src });
    const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
    document.body.append(frame);
    await loaded;
    return frame.contentDocument?.getElementById('page') ?? null;
  }, path);
  expect(framed).toBeNull();
});

attack(
  group,
  'a site on its own origin opens and requests the page there, from the host and from the worker',
  'origins of sites do not have it',
  async () => {
    const { gateway, site } = scene();
    const root = `http://antway.localhost:${new URL(gateway.url).port}`;
    const origin = root.replace('//', `//${Address.fromHex(site).base32}.`);
    const context = gateway.shell.context();
    await openShellIn(context, root);
    const page = await context.newPage();
    // No worker yet: the host answers.
    expect((await page.goto(origin + path))!.status()).toBe(404);

    await page.goto(`${root}/${site}/`);
    await expect(page).toHaveTitle('Attacker');
    expect(new URL(page.url()).origin).toBe(origin);
    for (const name of [path, `${path}.html`]) expect((await fetchIn(page, name)).status).not.toBe(200);
    const opened = context.waitForEvent('page');
    await page.evaluate((url) => void window.open(url), path);
    const popup = await opened;
    await popup.waitForLoadState();
    await expect(popup.locator('#page')).toHaveCount(0);
  },
  { tag: '@full' },
);
