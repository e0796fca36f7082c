import type { BrowserContext, Page } from '@playwright/test';
import { Address } from '../../src/address.ts';
import { expect, fetchIn, openShellIn, sceneOfFile, test, trustSite } from '../support/chromium.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { attack } from './attack.ts';

const group = 'Moving a library';

/** The attacks share processes. Each has a profile of its own, because a library is a profile's. */
const scene = sceneOfFile(async ({ startPeer, startHost }) => {
  const peer = await startPeer();
  const files = { 'index.html': '<!doctype html><title>Attacker</title><body>' };
  const attacker = await publish(await makeTarchive(files), peer);
  const { port } = new URL((await startHost({ peers: [peer.url] })).url);
  const names = { former: `http://127.0.0.1:${port}`, root: `http://antway.localhost:${port}` };
  return { attacker, ...names };
});

let context: BrowserContext;
/** The address with a library, where sites that are trusted run scripts. */
let former: string;
/** The address that libraries move to. */
let root: string;
let attacker: string;

const originOf = (address: string) => root.replace('//', `//${Address.fromHex(address).base32}.`);

test.beforeEach(({ context: own }) => {
  context = own;
  ({ former, root, attacker } = scene());
});

const openShell = (origin: string) => openShellIn(context, origin);

/** A page of the attacker where the user trusts it: it is of the same origin as the shell there. */
async function openTrusted(): Promise<Page> {
  const shell = await openShell(former);
  await shell.goto(`${former}/${attacker}/`);
  await trustSite(shell);
  await expect(shell).toHaveTitle('Attacker');
  return shell;
}

/** A library that would change much: what the shell sends on the port of `/-/move`. */
const hostileOffer = () => ({
  language: 'en',
  sites: [
    {
      ...{ address: attacker, path: '//evil.example/', name: null, title: 'Bank', icon: null },
      ...{ kind: 'archive', lastOpened: 1, isPinned: false, isPrivate: false },
    },
  ],
  settings: { peers: ['https://evil.example'], names: { bank: attacker } },
  restricted: [],
  publications: [{ id: attacker, title: '\u202e<img src=x>Bank' }],
});

/** The answer to a request for the offered publication. */
const hostilePublication = () =>
  JSON.stringify({
    ...{ id: attacker, isPrivate: false, isFolder: true, title: 'Bank', name: '', files: 1, bytes: 1 },
    ...{ chunks: '<img src=x>', peers: ['javascript:alert(1)'], publishedAt: 1, replaces: null },
  });

interface Offering {
  /** The messages that the page has received. */
  received: unknown[];
  /** How often it has offered its library unasked. */
  offers: number;
}

/** Resolves when the page has offered its library five more times. */
async function offeredOn(page: Page): Promise<void> {
  const offers = await page.evaluate(() => (window as unknown as Offering).offers);
  await page.waitForFunction((at) => (window as unknown as Offering).offers >= at, offers + 5);
}

/** Opens `/-/move` from a page, which answers each message with the offer, and sends it unasked too. */
async function openMove(page: Page): Promise<Page> {
  const opened = context.waitForEvent('page');
  await page.evaluate(
    ([url, offer, publication]) => {
      const received: unknown[] = [];
      Object.assign(window, { received, offers: 0 });
      window.addEventListener('message', ({ data, ports: [port] }) => {
        received.push(data);
        if (!port) return;
        port.onmessage = ({ data: { id } }) => port.postMessage({ id, body: new Blob([publication]) });
        port.postMessage(offer);
      });
      const popup = window.open(url as string)!;
      setInterval(() => {
        const { port1, port2 } = new MessageChannel();
        port1.postMessage(offer);
        popup.postMessage(offer, '*', [port2]);
        popup.postMessage({ type: 'antway:move', ...(offer as object) }, '*');
        (window as unknown as Offering).offers++;
      }, 100);
    },
    [`${root}/-/move#127.0.0.1`, hostileOffer(), hostilePublication()] as const,
  );
  return opened;
}

async function expectNothingTaken(): Promise<void> {
  const shell = await openShell(root);
  expect((await fetchIn(shell, '/-/settings')).text).toBe('{}');
  expect((await fetchIn(shell, '/-/sites')).text).not.toContain('Bank');
}

for (const [who, open] of [
  [
    'a site on its own origin',
    async () => {
      const page = await openShell(root);
      await page.goto(`${root}/${attacker}/`);
      await expect(page).toHaveTitle('Attacker');
      return page;
    },
  ],
  [
    'a page on another port of the same machine',
    async () => {
      const page = await context.newPage();
      await page.route('http://127.0.0.1:9/', (route) =>
        route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Other</title>' }),
      );
      await page.goto('http://127.0.0.1:9/');
      return page;
    },
  ],
] as const) {
  attack(
    group,
    `${who} opens the page that takes over a library, and offers one`,
    'the page talks only to a window at the gateway’s other names, on the same port',
    async () => {
      const page = await open();
      const popup = await openMove(page);
      await expect(popup.getByRole('status')).toHaveText('Starting the gateway here …');
      await popup.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
      await offeredOn(page);
      await expect(popup.getByRole('button')).toHaveCount(0);
      expect(await page.evaluate(() => (window as unknown as Offering).received)).toEqual([]);
      await expectNothingTaken();
    },
  );
}

attack(
  group,
  'a site that the user trusts at the former address offers a library, and the user clicks just then',
  'the button works only after the user has seen the page for a second',
  async () => {
    const page = await openTrusted();
    // As a click that was meant for the page before.
    await context.addInitScript(() => {
      if (location.pathname !== '/-/move') return;
      new MutationObserver(() => {
        for (const button of document.querySelectorAll('button')) {
          if (button.textContent === 'Take it over') button.click();
        }
      }).observe(document, { childList: true, subtree: true });
    });
    const popup = await openMove(page);
    await expect(popup.getByRole('heading')).toHaveText(`Take over the library of ${former}?`);
    await expect(popup.getByText('https://evil.example')).toBeVisible();
    const seen = await page.evaluate((url) => {
      const popup = window.open(url as string, 'another')!;
      try {
        return popup.document.title;
      } catch {
        return 'no access';
      }
    }, `${root}/-/move#127.0.0.1`);
    expect(seen).not.toContain('Antway');
    // The clicks above came before the button worked.
    const take = popup.getByRole('button', { name: 'Take it over' });
    await expect(take).toHaveAttribute('aria-disabled', 'false');
    await expect(popup.getByRole('heading')).toHaveText(`Take over the library of ${former}?`);
    await expectNothingTaken();
  },
  { tag: '@full' },
);

attack(
  group,
  'a site that the user trusts at the former address offers a library with links to other origins and a forged publication, and the user agrees',
  'the gateway refuses both and says so',
  async () => {
    const popup = await openMove(await openTrusted());
    const take = popup.getByRole('button', { name: 'Take it over' });
    await expect(take).toHaveAttribute('aria-disabled', 'false');
    await take.click();
    await expect(popup.getByRole('listitem')).toHaveText([
      'Bank: The visit, path: it must be the path of a site. (REFUSED)',
      '<img src=x>Bank: The publication, chunks: it must be hex addresses. (REFUSED)',
    ]);
    const shell = await openShell(root);
    expect((await fetchIn(shell, '/-/sites')).text).toBe('{"sites":[]}');
    await shell.goto(`${root}/#publish`);
    await expect(shell.getByRole('region', { name: 'Published by you' })).toContainText('Nothing yet.');
  },
  { tag: '@full' },
);

attack(
  group,
  'frames the page that takes over a library, to have its button clicked',
  'the browser refuses the frame',
  async () => {
    await openShell(root);
    const trusted = await openTrusted();
    const site = await context.newPage();
    await site.goto(`${root}/${attacker}/`);
    await expect(site).toHaveTitle('Attacker');
    for (const page of [trusted, site]) {
      const frame = await page.evaluateHandle((src) => {
        const frame = document.createElement('iframe');
        frame.src = src;
        const loaded = new Promise((resolve) => frame.addEventListener('load', () => resolve(frame)));
        document.body.append(frame);
        return loaded as Promise<HTMLIFrameElement>;
      }, `${root}/-/move#127.0.0.1`);
      const content = await frame.contentFrame();
      expect(await content?.content()).not.toContain('move.js');
    }
  },
  { tag: '@full' },
);

attack(
  group,
  'a page of another origin is in the window that the shell opened, and asks for the library',
  'the shell answers only the gateway’s other address',
  async () => {
    await context.route(`${root}/-/move`, (route) =>
      route.fulfill({ status: 302, headers: { Location: 'http://evil.localhost:9/' } }),
    );
    await context.route('http://evil.localhost:9/', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<!doctype html><title>Evil</title><script>
          received = [];
          asked = 0;
          onmessage = ({ data }) => received.push(data);
          setInterval(() => {
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = ({ data }) => received.push(data);
            opener.postMessage({ type: 'antway:move' }, '*', [port2]);
            asked++;
          }, 100);
        </script>`,
      }),
    );
    const shell = await openShell(former);
    await fetchIn(shell, '/-/settings', { method: 'PUT', body: '{"transport":"http"}' });
    await shell.reload();
    const opened = context.waitForEvent('page');
    await shell.getByRole('button', { name: 'Move the library there…' }).click();
    const popup = await opened;
    await expect(popup).toHaveTitle('Evil');
    await popup.waitForFunction(() => (globalThis as unknown as { asked: number }).asked > 5);
    expect(
      await popup.evaluate(() => [opener !== null, (window as { received?: unknown }).received]),
    ).toEqual([true, []]);
  },
  { tag: '@full' },
);

attack(
  group,
  'opens the page on its own origin, where that may use the endpoints',
  'there is no such page on the origin of a site',
  async () => {
    const page = await context.newPage();
    const url = `${originOf(attacker)}/-/move`;
    // From the host, and then from the worker.
    expect((await page.goto(url))!.status()).toBe(404);
    await page.goto(`${originOf(attacker)}/`);
    await expect(page).toHaveTitle('Attacker');
    expect((await page.goto(url))!.status()).toBeGreaterThanOrEqual(400);
    expect(await page.content()).not.toContain('move.js');
  },
  { tag: '@full' },
);
