import type { BrowserContext, Page } from '@playwright/test';
import { Address } from '../../src/address.ts';
import { expect, openShellIn, type SceneParts, sceneOfFile } from '../support/chromium.ts';
import { addAuthenticator } from '../support/passkeys.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { attack, attacks, verdict } from './attack.ts';
import { unregisterByFrame } from './hostile-site.ts';

const group = 'Passkeys of the gateway';

/** Where a site's script asks: in its own document, in a frame, or in a window whose functions it calls. */
type Place = 'document' | 'frame' | 'window';

interface Scene {
  context: BrowserContext;
  shell: Page;
  root: string;
  address: string;
}

async function prepare({
  startPeer,
  startHost,
  context,
}: Pick<SceneParts, 'startPeer' | 'startHost' | 'context'>): Promise<Scene> {
  const peer = await startPeer();
  const address = await publish(
    await makeTarchive({ 'index.html': '<!doctype html><title>Site</title><body>', 'note.txt': 'a note' }),
    peer,
  );
  const host = await startHost({ peers: [peer.url] });
  const root = `http://antway.localhost:${new URL(host.url).port}`;
  const shell = await openShellIn(context, root);
  await addAuthenticator(shell);
  // The gateway's own page gets an answer: the refusals below are not the authenticator's.
  for (const kind of ['create', 'get'] as const) {
    expect(await ask(shell, { kind, place: 'document', url: '' })).toBe('PublicKeyCredential');
  }
  return { context, shell, root, address };
}

const scene = sceneOfFile(prepare);

/**
 * Asks for a passkey of the gateway, as a script of the page.
 * @returns the kind of credential, or the name and message of the error.
 */
function ask(page: Page, input: { kind: 'create' | 'get'; place: Place; url: string }): Promise<string> {
  return page.evaluate(async ({ kind, place, url }) => {
    const framed = async () => {
      const frame = document.createElement('iframe');
      frame.allow = 'publickey-credentials-create; publickey-credentials-get';
      frame.src = url;
      const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
      document.body.append(frame);
      await loaded;
      return frame.contentWindow!;
    };
    const opened = async () => (globalThis as unknown as { opened: Window }).opened;
    const places = { document: async () => window, frame: framed, window: opened };
    const { navigator } = (await places[place]()) as Window;
    const challenge = new Uint8Array(32);
    const rp = { id: 'antway.localhost', name: 'Antway' };
    const user = { id: new Uint8Array([1]), name: 'user', displayName: 'user' };
    const pubKeyCredParams = [{ type: 'public-key' as const, alg: -7 }];
    const authenticatorSelection = { residentKey: 'required' as const };
    const extensions = { prf: { eval: { first: challenge } } } as object;
    try {
      const credential =
        kind === 'create'
          ? await navigator.credentials.create({
              publicKey: { challenge, rp, user, pubKeyCredParams, authenticatorSelection, extensions },
            })
          : await navigator.credentials.get({ publicKey: { challenge, rpId: rp.id, extensions } });
      return credential!.constructor.name;
    } catch (error) {
      return `${(error as Error).name}: ${(error as Error).message}`;
    }
  }, input);
}

const siteOrigin = ({ root, address }: Scene) => root.replace('//', `//${Address.fromHex(address).base32}.`);

/** A page of the gateway, opened without the worker. */
const hostPage = '/-/root?host';

/** Opens the site, with an authenticator. */
async function openSite(used: Scene): Promise<Page> {
  const { context, root, address } = used;
  const page = await context.newPage();
  await page.goto(`${root}/${address}/`);
  await page.waitForURL(`${siteOrigin(used)}/**`);
  await expect(page).toHaveTitle('Site');
  await addAuthenticator(page);
  return page;
}

/** Opens a window of the site, for `ask`. @param hasWorker whether the worker answers for it. */
async function openWindow(page: Page, url: string, hasWorker: boolean): Promise<void> {
  const waiting = page.waitForEvent('popup');
  await page.evaluate((url) => Object.assign(globalThis, { opened: window.open(url) }), url);
  const popup = await waiting;
  await popup.waitForLoadState();
  const workerStart = () => performance.getEntriesByType('navigation')[0]!.toJSON().workerStart;
  expect((await popup.evaluate(workerStart)) > 0).toBe(hasWorker);
  await addAuthenticator(popup);
}

const nameOf = (where: string) => `a trusted site asks for them ${where}`;
const outcome = 'the browser refuses before it asks the user';

const places: [where: string, place: Place, url: string][] = [
  ['in its document', 'document', ''],
  ['in a frame of its own page', 'frame', '/index.html'],
  ['in an empty frame', 'frame', 'about:blank'],
  ['in a frame of data', 'frame', 'blob:'],
  ['in a window with an error page', 'window', '/missing'],
  ['in a window with a text', 'window', '/note.txt'],
  ['in a window with a page of the gateway', 'window', '/-/root'],
];

attacks(
  group,
  'a trusted site asks for them in its document, in frames and in windows',
  places.map(([where]) => ({ name: nameOf(where), outcome })),
  async () => {
    const page = await openSite(scene());
    for (const [where, place, url] of places) {
      const blob = () => URL.createObjectURL(new Blob(['<title>Data</title>'], { type: 'text/html' }));
      const at = url === 'blob:' ? await page.evaluate(blob) : url;
      if (place === 'window') await openWindow(page, at, true);
      for (const kind of ['create', 'get'] as const) {
        verdict(await ask(page, { kind, place, url: at }), nameOf(where)).toMatch(/feature is not enabled/);
      }
    }
  },
);

attack(
  group,
  nameOf('in a window with a page that the host sends'),
  outcome,
  // This attack takes the site's worker away, for good.
  async ({ startPeer, startHost, context }) => {
    const own = await prepare({ startPeer, startHost, context });
    const page = await openSite(own);
    // The shell's bridge to the site would register the worker again.
    await own.shell.close();
    expect(await unregisterByFrame(page)).toBe(1);
    // The host's page would register it, too, and would then open its URL through the worker.
    await context.addInitScript(() => {
      ServiceWorkerContainer.prototype.register = () => new Promise(() => {});
    });
    await openWindow(page, hostPage, false);
    for (const kind of ['create', 'get'] as const) {
      expect(await ask(page, { kind, place: 'window', url: hostPage })).toMatch(/feature is not enabled/);
    }
  },
  { tag: '@full' },
);
