import type { Page } from '@playwright/test';
import { expect, type Gateway, sceneOfFile, test } from '../support/chromium.ts';
import { openFreshShell } from '../support/fresh-shell.ts';
import { linkOf, makePrivateManifest } from '../support/manifests.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import { untilViewed } from '../support/viewer.ts';

const names = ['Open', 'Library', 'Live', 'Publish', 'Settings'] as const;

const scene = sceneOfFile(async ({ startPeer, openWorker }) => {
  const peer = await startPeer();
  return { peer, gateway: await openWorker({ peers: [peer.url] }) };
});

let peer: PeerProcess;
let gateway: Gateway;
let shell: Page;

test.beforeEach(async () => {
  peer = scene().peer;
  gateway = await openFreshShell(scene().gateway);
  shell = gateway.shell;
});

const heading = () => shell.getByRole('heading', { level: 1 });
const navigation = () => shell.getByRole('navigation', { name: 'Screens' });

test('each screen has a URL, and back and forward lead through them', { tag: '@smoke' }, async () => {
  await shell.evaluate(() => Object.assign(window, { isSameDocument: true }));
  for (const name of names.slice(1)) {
    await navigation().getByRole('link', { name }).click();
    await expect(heading()).toHaveText(name);
    expect(shell.url()).toBe(`${gateway.url}/#${name.toLowerCase()}`);
    await expect(shell).toHaveTitle(`${name} · Antway`);
    await expect(navigation().getByRole('link', { name })).toHaveAttribute('aria-current', 'page');
  }
  for (const name of ['Publish', 'Live', 'Library']) {
    await shell.goBack();
    await expect(heading()).toHaveText(name);
  }
  await shell.goBack();
  await expect(heading()).toHaveText('Explore the Autonomi network');
  await expect(shell).toHaveTitle('Antway');
  await shell.goForward();
  await expect(heading()).toHaveText('Library');
  expect(await shell.evaluate(() => 'isSameDocument' in window)).toBe(true);
  await shell.reload();
  await expect(heading()).toHaveText('Library');
});

test('every control of every screen has an accessible name', { tag: '@full' }, async () => {
  for (const name of names) {
    await navigation().getByRole('link', { name }).click();
    const nameless = await shell.locator('a, button, input:not([hidden]), select').evaluateAll((elements) =>
      elements
        .filter((element) => (element as HTMLElement).checkVisibility())
        .filter((element) => {
          const { labels } = element as HTMLInputElement;
          const text = element.getAttribute('aria-label') ?? element.textContent;
          return !text?.trim() && !(labels && [...labels].some((label) => label.textContent?.trim()));
        })
        .map((element) => element.outerHTML),
    );
    expect(nameless, name).toEqual([]);
  }
});

/** Opens a link of another program. */
const follow = (text: string) => shell.goto(`${gateway.url}/#open=${encodeURIComponent(text)}`);

/** As the browser sends what another program shares: a form, which the page cannot see. */
const share = (fields: Record<string, string>) =>
  shell.evaluate((fields) => {
    const form = document.createElement('form');
    Object.assign(form, { method: 'post', action: '/-/share', enctype: 'multipart/form-data' });
    for (const [name, value] of Object.entries(fields)) {
      form.append(Object.assign(document.createElement('input'), { name, value }));
    }
    document.body.append(form);
    form.submit();
  }, fields);

/** Has each of some links open a letter once, without a request that names its address to the host. */
async function openLetterOnce(
  ways: (address: string) => Record<string, () => Promise<unknown>>,
): Promise<void> {
  const address = await publish(Buffer.from('a letter'), peer);
  const queries: string[] = [];
  shell.on('request', (request) => queries.push(new URL(request.url()).search));
  for (const [name, come] of Object.entries(ways(address))) {
    await test.step(name, async () => {
      queries.length = 0;
      await come();
      const content = await untilViewed(shell, `/${address}/letter.txt`);
      await expect(content.getByText('a letter')).toBeVisible();
      // A host writes queries into its log.
      if (name.startsWith('a shared')) expect(queries.join()).not.toContain(address);
      // Back leads to the start page, which does not open it again.
      await shell.goBack();
      await expect(heading()).toHaveText('Explore the Autonomi network');
      expect(shell.url()).toBe(`${gateway.url}/`);
    });
  }
  // Links carry keys: a host, which stands in wherever there is no worker, is never asked by one.
  expect(gateway.host.log.join('\n')).not.toContain(address);
}

test('a web+ant link and a shared text open once, as pasted text does', async () => {
  await openLetterOnce((address) => ({
    'a link': () => follow(`web+ant:${address}/letter.txt`),
    'the same once more': () => follow(`web+ant:${address}/letter.txt`),
    'a shared text': () =>
      share({ title: 'A letter', text: `Read this & more: ant://${address}/letter.txt`, url: '' }),
  }));
  await share({ text: 'just words' });
  await expect(shell.getByRole('combobox', { name: 'Search or open an address' })).toHaveValue('just words');
  await expect(shell.locator('#address-note')).toContainText('“just words” is neither an address');
  expect(gateway.host.log.join('\n')).not.toContain('just');
});

test('links of other forms and a shared URL open once', { tag: '@full' }, async () => {
  await openLetterOnce((address) => ({
    'a link with slashes': () => follow(`web+ant://${address}/letter.txt`),
    'a link of another scheme': () => follow(`autonomi://${address}/letter.txt`),
    'a shared URL': () => share({ url: `https://other.example/${address}/letter.txt` }),
    'a link, to an app that was installed before': () =>
      shell.goto(`${gateway.url}/?open=${encodeURIComponent(`web+ant:${address}/letter.txt`)}`),
  }));
});

test('an incoming link does not reload an open shell', { tag: '@full' }, async () => {
  const manifest = await makePrivateManifest('Diary', { 'a.txt': 'Fog again.' }, peer);
  await navigation().getByRole('link', { name: 'Settings' }).click();
  await shell.evaluate(() => Object.assign(window, { isSameDocument: true }));
  await shell.evaluate(() => location.assign('/#open=web%2Bant%3Anowhere'));
  await expect(shell.locator('#address-note')).toContainText('“nowhere” is neither an address');
  expect(await shell.evaluate(() => 'isSameDocument' in window)).toBe(true);
  await shell.evaluate((link) => location.assign(`/#open=${encodeURIComponent(link)}`), linkOf(manifest));
  await shell.getByRole('button', { name: 'Open it' }).click();
  await untilViewed(shell, /^\/[0-9a-f]{64}\/$/);
});

test('a link with a manifest in its fragment opens it, and a broken link shows the reason', {
  tag: '@full',
}, async () => {
  const manifest = await makePrivateManifest('Diary', { 'a.txt': 'Fog again.' }, peer);
  const text = linkOf(manifest).slice('ant://manifest/'.length);
  await shell.goto('about:blank');
  await shell.goto(`${gateway.url}/#manifest/${text}/a.txt`);
  await shell.getByRole('button', { name: 'Open it' }).click();
  const content = await untilViewed(shell, /^\/[0-9a-f]{64}\/a\.txt$/);
  await expect(content.getByText('Fog again.')).toBeVisible();

  await shell.goto(`${gateway.url}/#manifest/${text.slice(0, 40)}`);
  await expect(shell.locator('#address-note .code')).toHaveText('BAD_ADDRESS');
});

test('the web app manifest meets the criteria of browsers', { tag: '@full' }, async () => {
  const manifest = JSON.parse((await gateway.fetch('/manifest.webmanifest')).text);
  expect(manifest.share_target).toMatchObject({ action: '/-/share', method: 'POST' });
  expect(manifest.launch_handler.client_mode[0]).toBe('navigate-existing');
  const session = await shell.context().newCDPSession(shell);
  const { errors, manifest: read } = await session.send('Page.getAppManifest');
  expect(errors).toEqual([]);
  // As the browser understood it, with the place for the link.
  expect(read.protocolHandlers).toEqual([{ protocol: 'web+ant', url: `${gateway.url}/#open=%s` }]);
  const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
  // Contexts of tests are like private windows, in which nothing is installed.
  expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito')).toEqual(
    [],
  );
  const pictures = [...manifest.icons, ...manifest.screenshots];
  expect(manifest.icons.some(({ purpose }: { purpose?: string }) => purpose === 'maskable')).toBe(true);
  for (const { src, sizes } of pictures) {
    const size = await shell.evaluate(async (src) => {
      const image = new Image();
      image.src = src;
      await image.decode();
      return `${image.naturalWidth}x${image.naturalHeight}`;
    }, src);
    if (sizes !== 'any') expect([src, size]).toEqual([src, sizes]);
  }
  for (const { url } of manifest.shortcuts) {
    await shell.goto(gateway.url + url);
    await expect(heading()).not.toHaveText('Explore the Autonomi network');
  }
});

/** The browser's own offer, and how the user answers it. */
const offer = (outcome: 'accepted' | 'dismissed' = 'dismissed') =>
  shell.evaluate((outcome) => {
    const prompt = Object.assign(new Event('beforeinstallprompt', { cancelable: true }), {
      prompt: async () => ({ outcome }),
    });
    window.dispatchEvent(prompt);
  }, outcome);
const notice = () => shell.getByText('Install Antway to open it');

test('an installed app requests persistent storage', { tag: '@full' }, async () => {
  for (const text of ['the first', 'the second']) {
    await gateway.openPage(`/${await publish(Buffer.from(text), peer)}`);
  }
  await shell.reload();
  await expect(shell.getByRole('region', { name: 'Last opened' }).getByRole('link')).toHaveCount(2);
  await shell.evaluate(() => {
    navigator.storage.persist = async () => Boolean(Object.assign(window, { isAsked: true }));
  });
  await offer('accepted');
  await shell.getByRole('button', { name: 'Install', exact: true }).click();
  await shell.waitForFunction(() => 'isAsked' in window);
  await expect(notice()).toHaveCount(0);
});

test('the shell offers to install it after the second site, and not again after a refusal', {
  tag: '@full',
}, async () => {
  await gateway.openPage(`/${await publish(Buffer.from('the first'), peer)}`);
  await shell.reload();
  await expect(shell.getByRole('region', { name: 'Last opened' }).getByRole('link')).toHaveCount(1);
  await offer();
  await expect(notice()).toHaveCount(0);
  await gateway.openPage(`/${await publish(Buffer.from('the second'), peer)}`);
  await shell.reload();
  await expect(shell.getByRole('region', { name: 'Last opened' }).getByRole('link')).toHaveCount(2);
  await offer();
  await expect(notice()).toBeVisible();
  for (const [width, most] of [
    [1280, 80],
    [390, 130],
  ] as const) {
    await shell.setViewportSize({ width, height: 800 });
    const box = await shell.getByRole('region', { name: 'Install' }).boundingBox();
    expect(box!.height).toBeLessThan(most);
  }
  await shell.getByRole('button', { name: 'Not now' }).click();
  await expect(notice()).toHaveCount(0);
  await shell.reload();
  await expect(heading()).toBeVisible();
  await offer();
  await expect(notice()).toHaveCount(0);
});

test('no animation runs if the user prefers reduced motion', { tag: '@full' }, async () => {
  await shell.emulateMedia({ reducedMotion: 'reduce' });
  for (const name of names) {
    await navigation().getByRole('link', { name }).click();
    await expect(navigation().getByRole('link', { name })).toHaveAttribute('aria-current', 'page');
    const moving = await shell.evaluate(
      () =>
        [...document.querySelectorAll('*')]
          .map((element) => getComputedStyle(element))
          .filter(
            ({ transitionDuration, animationName }) =>
              transitionDuration !== '0s' || animationName !== 'none',
          ).length,
    );
    expect(moving, name).toBe(0);
  }
});
