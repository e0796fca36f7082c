import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Frame, Page } from '@playwright/test';
import { Address } from '../../src/address.ts';
import { expect, fetchIn, openShellIn, sceneOfFile, test } from '../support/chromium.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import type { Files } from '../support/tar.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { setHidden, untilViewed, viewed } from '../support/viewer.ts';
import { attack, attacks, verdict } from './attack.ts';
import { Outside } from './hostile-site.ts';

const group = 'The viewer';

const scene = sceneOfFile(async ({ startPeer, startHost, context }) => {
  const peer = await startPeer();
  const host = await startHost({ peers: [peer.url] });
  const root = `http://antway.localhost:${new URL(host.url).port}`;
  // The next shells find the worker in place.
  await (await openShellIn(context, root)).close();
  return { peer, host, context, root };
});

let peer: PeerProcess;
let host: PeerProcess;
let context: BrowserContext;
let shell: Page;
let root: string;
let sites = 0;

const originOf = (address: string) => root.replace('//', `//${Address.fromHex(address).base32}.`);
const page = (title: string, body: string) => `<!doctype html><title>${title}</title>${body}`;
const heading = () => shell.getByRole('heading', { level: 1 });
const state = () => shell.locator('.site-state');

test.beforeEach(async () => {
  ({ peer, host, context, root } = scene());
  shell = await openShell(root);
});

/** Opens a shell whose viewer looks at its frame ten times as often. */
async function openShell(origin: string): Promise<Page> {
  const shell = await context.newPage();
  await shell.addInitScript(() => {
    if (window !== top) return;
    const { setInterval } = window;
    const hasty = (run: () => void, ms = 0, ...rest: unknown[]) => setInterval(run, ms / 10, ...rest);
    Object.assign(window, { setInterval: hasty });
  });
  await shell.goto(origin);
  await shell.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
  return shell;
}

/** Resolves when the viewer has looked at its frame twice from now on, at its page and its worker. */
async function lookedTwice(origin: string): Promise<void> {
  // The first answer may belong to a look that began before.
  for (let look = 0; look < 3; look++) {
    await shell.waitForResponse((response) => response.url().startsWith(`${origin}/-/view?`));
  }
}

/** Publishes a site that differs from all others, so its origin is new to the browser. */
async function publishSite(files: Files): Promise<string> {
  return publish(await makeTarchive({ ...files, 'number.txt': String(++sites) }), peer);
}

/** Opens a site in the viewer. @returns its frame, once its page is known to the bar. */
async function view(address: string, title: string): Promise<Frame> {
  await shell.goto(`${root}/#view=${address}/`);
  await untilViewed(shell, `/${address}/`);
  await expect(state()).toHaveText(/Verified|Incomplete/, { timeout: 40_000 });
  await expect(heading()).toHaveText(title);
  return shell.frames().find((frame) => frame.url() === `${originOf(address)}/`)!;
}

/** The content of each frame of a page. The browser shows a page of its own for a refused frame. */
async function framedIn(tab: Page, urls: readonly string[]): Promise<string> {
  await tab.setContent(urls.map((url) => `<iframe src="${url}"></iframe>`).join(''));
  await tab.waitForLoadState('networkidle');
  const contents = await Promise.all(
    tab
      .frames()
      .slice(1)
      .map((frame) => frame.content()),
  );
  return contents.join('\n');
}

attack(
  group,
  'a page of another host frames the shell with a site in its viewer, and the site itself',
  'the browser shows neither',
  async () => {
    const address = await publishSite({ 'index.html': page('Victim', '<p>Publishedwords</p>') });
    await view(address, 'Victim');
    await using outside = await Outside.start();
    const tab = await context.newPage();
    await tab.goto(outside.url);
    const seen = await framedIn(tab, [`${root}/#view=${address}/`, `${originOf(address)}/`]);
    expect(seen).not.toContain('Publishedwords');
    expect(seen).not.toContain('id="app"');
  },
  { tag: '@full' },
);

attack(
  group,
  'a site in the viewer frames another site and the shell',
  'the browser shows neither: only the shell may frame a site',
  async () => {
    const victim = await publishSite({ 'index.html': page('Victim', '<p>Publishedwords</p>') });
    await view(victim, 'Victim');
    const frames = [`${originOf(victim)}/`, `${root}/`, `${root}/#view=${victim}/`]
      .map((url) => `<iframe src="${url}"></iframe>`)
      .join('');
    const attacker = await publishSite({ 'index.html': page('Attacker', frames) });
    const frame = await view(attacker, 'Attacker');
    const inSite = () => shell.frames().filter((frame) => frame.parentFrame()?.parentFrame());
    await expect.poll(() => inSite().length).toBe(3);
    await frame.waitForLoadState();
    for (const frame of inSite()) {
      const content = await frame.content();
      expect(content).not.toContain('Publishedwords');
      expect(content).not.toContain('id="app"');
    }
  },
  { tag: '@full' },
);

attack(
  group,
  'a site in the viewer leads the whole window away: by scripts, links, forms, also after a click',
  'the window stays',
  async () => {
    await using outside = await Outside.start();
    const attacker = await publishSite({
      'index.html': page(
        'Attacker',
        `<a id="top" href="${outside.url}/link" target="_top">a</a>
<a id="parent" href="${outside.url}/parent" target="_parent">b</a>
<form action="${outside.url}/form" target="_top"><button id="form">c</button></form>
<button id="script" onclick="top.location = '${outside.url}/script'">d</button>
<script>for (const go of [() => { top.location = '${outside.url}/1' }, () => parent.location.replace('${outside.url}/2'), () => open('${outside.url}/3', '_top'), () => { top.location.hash = '#settings' }]) try { go() } catch {}</script>`,
      ),
    });
    const frame = await view(attacker, 'Attacker');
    for (const id of ['top', 'parent', 'form', 'script']) await frame.locator(`#${id}`).click();
    expect(await outside.reachedSoFar(context)).toEqual([]);
    expect(shell.url()).toBe(`${root}/#view=${attacker}/`);
    await expect(heading()).toHaveText('Attacker');
  },
);

const looksForBridge = {
  name: 'a site in the viewer looks for its bridge among the frames of the shell, and reads the shell',
  outcome: 'it finds only its own frame',
};
const usesEndpoints = {
  name: 'a site in the viewer uses the endpoints of its worker, also the list of shown pages',
  outcome: 'all of them are refused',
};
const sendsMessages = {
  name: 'a site in the viewer sends messages like those of the gateway, to the shell and on the gateway’s channel',
  outcome: 'the shell takes none of them',
};

attacks(
  group,
  'a site in the viewer uses its bridge, endpoints and messages',
  [looksForBridge, usesEndpoints, sendsMessages],
  async () => {
    const attacker = await publishSite({
      'index.html': page(
        'Attacker',
        `<script>
const page = { sequence: 9e15, address: 'ab'.repeat(32), path: '/', title: 'Forged', code: null, failures: {}, chunks: { stored: 0, peers: 0 }, peers: [] };
const channel = new BroadcastChannel('antway');
for (const type of ['view', 'visits', 'pins', 'antway:bridge', 'antway:ready', 'antway:move'])
  for (const send of [(data) => channel.postMessage(data), (data) => parent.postMessage(data, '*'), (data) => parent.postMessage(data, '*', [new MessageChannel().port1])])
    send({ type, page, next: page, known: page, pins: [page], title: 'Forged' });
</script>`,
      ),
    });
    const frame = await view(attacker, 'Attacker');
    await lookedTwice(originOf(attacker));
    await verdict(heading(), sendsMessages.name).toHaveText('Attacker');
    await verdict(state(), sendsMessages.name).toHaveText('Verified');
    const { pins } = JSON.parse((await fetchIn(shell, '/-/pins')).text);
    verdict(pins, sendsMessages.name).toEqual([]);

    // The viewer asks the worker of the site by its bridge, so there is a bridge.
    await expect.poll(() => shell.frames().some((each) => each.url().endsWith('/-/bridge'))).toBe(true);
    const found = await frame.evaluate(() => {
      const read = (window: Window) => {
        try {
          return window.location.pathname;
        } catch {
          return 'refused';
        }
      };
      const others = Array.from({ length: top!.length }, (_, index) => top![index]!);
      return { frames: others.map(read), shell: read(top!), isOwn: others.every((each) => each === window) };
    });
    verdict(found, looksForBridge.name).toEqual({ frames: ['/'], shell: 'refused', isOwn: true });

    for (const name of ['view?after=0&client=', 'pins', 'origin', 'settings', 'stats', 'config']) {
      const status = await frame.evaluate(async (name) => (await fetch(`/-/${name}`)).status, name);
      verdict(status, `${usesEndpoints.name}: ${name}`).toBe(403);
    }
  },
);

attack(
  group,
  'a site in the viewer opens a window, leads its own frame to the bridge, and uses the bridge by the window’s opener',
  'the window has no connection to the frame',
  async () => {
    const attacker = await publishSite({
      'index.html': page(
        'Attacker',
        `<button>open</button><script>
document.querySelector('button').onclick = () => {
  const opened = open('about:blank');
  document.title = String(opened);
  console.log('OPENED ' + opened);
  if (!opened) return;
  opened.eval("setInterval(async () => { try { console.log('STATUS ' + (await opener.fetch('/-/pins')).status) } catch {} }, 200)");
  location.href = '/-/bridge';
};
</script>`,
      ),
    });
    const messages: string[] = [];
    context.on('console', (message) => messages.push(message.text()));
    const frame = await view(attacker, 'Attacker');
    const opened = context.waitForEvent('page');
    await frame.getByRole('button').click();
    expect(await (await opened).evaluate(() => window.opener)).toBeNull();
    // Without a window the script has nothing that could ask on.
    await expect.poll(() => messages).toContain('OPENED null');
    expect(messages.filter((message) => message.startsWith('STATUS'))).toEqual([]);
  },
  { tag: '@full' },
);

attack(
  group,
  'a site in the viewer goes to full screen to draw a bar of its own',
  'the browser refuses it before the user allows it in the bar',
  async () => {
    const attacker = await publishSite({
      'index.html': page(
        'Attacker',
        '<button onclick="document.body.requestFullscreen().then(() => console.log(1), (error) => { document.body.append(error.name) })">full</button>',
      ),
    });
    const frame = await view(attacker, 'Attacker');
    await frame.getByRole('button').click();
    await expect(frame.locator('body')).toContainText('TypeError');
    expect(await shell.evaluate(() => document.fullscreenElement)).toBeNull();
  },
  { tag: '@full' },
);

attack(
  group,
  'a site in the viewer has a long title with HTML, control and bidi characters',
  'the bar shows bounded text without these characters, and the other parts stay in place',
  async () => {
    const hostile = `\u202e\u2066<img src=x onerror=alert(1)>Verified by Antway\u0007${'W'.repeat(5_000)}`;
    const attacker = await publishSite({
      'index.html': page(hostile.replaceAll('<', '&lt;'), '<p>Here</p>'),
    });
    await shell.setViewportSize({ width: 390, height: 700 });
    await shell.goto(`${root}/#view=${attacker}/`);
    await expect(viewed(shell).getByText('Here')).toBeVisible();
    await expect(heading()).toContainText('<img src=x onerror=alert(1)>Verified');
    const title = (await heading().textContent())!;
    expect(title).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    expect([...title].length).toBeLessThanOrEqual(200);
    expect(await shell.title()).not.toMatch(/\p{Bidi_Control}/u);
    expect(await heading().locator('img').count()).toBe(0);
    const box = (await state().boundingBox())!;
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width).toBeLessThanOrEqual(390);
  },
);

for (const [how, link] of [
  ['by a link', (url: string) => `<a href="${url}">A comment</a>`],
  [
    'at once, by a script',
    (url: string) =>
      `<script>addEventListener('DOMContentLoaded', () => { location.href = '${url}' })</script>`,
  ],
] as const) {
  attack(
    group,
    `a site leads its frame to another site whose page never finishes loading, ${how}, so that the bar still names the first`,
    'the bar names no site, and covers the frame',
    async () => {
      // Answers nothing.
      const silent = createServer(() => undefined);
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      const { port } = silent.address() as AddressInfo;
      try {
        const attacker = await publishSite({
          'index.html': page('Attacker', `<p>Phish</p><img src="http://127.0.0.1:${port}/never.png">`),
        });
        // Its worker runs.
        const tab = await context.newPage();
        await tab.goto(`${root}/${attacker}/`, { waitUntil: 'commit' });
        await expect(tab).toHaveTitle('Attacker');
        await shell.bringToFront();
        const bank = await publishSite({ 'index.html': page('Bank', link(`${originOf(attacker)}/`)) });
        if (how === 'by a link') {
          const frame = await view(bank, 'Bank');
          await frame.getByRole('link').click({ noWaitAfter: true });
        } else await shell.goto(`${root}/#view=${bank}/`);
        await expect(state()).toHaveText('Not verified');
        await expect(heading()).toHaveText('Unknown page');
        await expect(shell).toHaveTitle(/^Unknown page/);
        const cover = (await shell.locator('.viewer-cover').boundingBox())!;
        const covered = (await shell.locator('.viewer-frame').boundingBox())!;
        expect(cover).toEqual(covered);
        await expect(shell.getByRole('button', { name: 'Back to the site' })).toBeVisible();
      } finally {
        silent.closeAllConnections();
        silent.close();
      }
    },
    how === 'by a link' ? {} : { tag: '@full' },
  );
}

attack(
  group,
  'a site that is also open in another tab leads its frame to another site, so that the bar takes the page of the other tab for that of the frame',
  'the bar names no site, and covers the frame',
  async () => {
    const attacker = await publishSite({ 'index.html': page('Attacker', '<p>Phish</p>') });
    // Its worker runs.
    const tab = await context.newPage();
    await tab.goto(`${root}/${attacker}/`);
    await expect(tab).toHaveTitle('Attacker');
    const bank = await publishSite({
      'index.html': page('Bank', `<a href="${originOf(attacker)}/">A comment</a>`),
    });
    const frame = await view(bank, 'Bank');
    await setHidden(shell, true);
    await tab.goto(`${root}/#view=${bank}/`);
    await expect(tab.locator('.site-state')).toHaveText('Verified');
    await setHidden(shell, false);
    await lookedTwice(originOf(bank));
    await frame.getByRole('link').click();
    await expect(heading()).toHaveText('Unknown page');
    await expect(state()).toHaveText('Not verified');
    // The worker of the attacker refuses frames of other sites.
    await expect(viewed(shell).getByText('Phish')).toHaveCount(0);
    // The page of the other tab stays open.
    await lookedTwice(originOf(bank));
    await expect(heading()).toHaveText('Unknown page');
    await expect(shell.locator('.viewer-cover')).toBeVisible();
  },
  { tag: '@full' },
);

attack(
  group,
  'a page in the viewer lies to the bar: it claims to be another site, with a huge title full of bidi characters, and floods the shell with answers',
  'the bar takes none of its addresses, and of its title one line of plain text',
  async () => {
    const bank = await publishSite({ 'index.html': page('Bank', '') });
    const attacker = await publishSite({
      'index.html': page(
        'Attacker',
        `<p>Here</p><script>
const { postMessage } = MessagePort.prototype;
let asked = 0, claims = 0;
MessagePort.prototype.postMessage = function () {
  const all = ['${originOf(bank)}/', '${root}/#settings', '${root}/', 'javascript:alert(1)', 'blob:' + location.origin + '/x', location.origin + '/-/bridge', location.origin + '/' + 'x'.repeat(1e6), { href: 'x' }, null];
  const title = '\\u202e\\u2066Bank\\u0007' + 'W'.repeat(1e6);
  claims = all.length;
  const claim = all[asked++ % (claims + 1)];
  postMessage.call(this, claim === undefined ? [location.origin + '//evil.example/', title] : [claim, 'Bank']);
  for (let i = 0; i < 2000; i++) postMessage.call(this, ['${originOf(bank)}/', 'Bank']);
};
for (let i = 0; i < 2000; i++) parent.postMessage(['${originOf(bank)}/', 'Bank'], '*');
</script>`,
      ),
    });
    // Each look brings thousands of answers, so the viewer looks as often as it does for users.
    shell = await openShellIn(context, root);
    await shell.goto(`${root}/#view=${attacker}/`);
    await expect(viewed(shell).getByText('Here')).toBeVisible();
    await expect(heading()).toHaveText(/^(?:Attacker|Bank W+)$/);
    const seen = await shell.evaluateHandle(() => {
      const seen = { hashes: new Set<string>(), titles: new Set<string>() };
      const note = () => {
        seen.hashes.add(location.hash);
        seen.titles.add(document.querySelector('h1')!.textContent!);
      };
      new MutationObserver(note).observe(document, { subtree: true, childList: true, characterData: true });
      note();
      return seen;
    });
    // The claims that the bar may take.
    await expect
      .poll(() => seen.evaluate(({ hashes, titles }) => [hashes.size, titles.size]), { timeout: 60_000 })
      .toEqual([2, 2]);
    // From now on the page makes each of its claims once more.
    const frame = shell.frames().find((each) => each.url() === `${originOf(attacker)}/`)!;
    const enough = await frame.evaluate<number>('asked + claims + 2');
    await expect.poll(() => frame.evaluate('asked'), { timeout: 60_000 }).toBeGreaterThan(enough);
    const { hashes, titles } = await seen.evaluate(({ hashes, titles }) => ({
      hashes: [...hashes],
      titles: [...titles],
    }));
    expect(hashes.sort()).toEqual([`#view=${attacker}/`, `#view=${attacker}//evil.example/`]);
    expect(titles).toHaveLength(2);
    expect(titles).toContain('Attacker');
    for (const title of titles) {
      expect(title).toMatch(/^(Attacker|Bank W{1,195})$/);
    }
    // The path leads to the attacker only, also in a new viewer.
    await shell.goto(`${root}/#view=${attacker}//evil.example/`);
    await shell.reload();
    await lookedTwice(originOf(attacker));
    expect(new URL(shell.url()).origin).toBe(root);
    for (const frame of shell.frames()) expect(frame.url()).not.toMatch(/^https?:\/\/evil/);
  },
  { tag: '@full' },
);

attack(
  group,
  'a page of a site changes its URL while a viewer in another tab opens another page of this site, so that the bar takes the page of the other tab for that of the frame',
  'the bar never shows the page of the other tab',
  async () => {
    const moves = "<script>history.replaceState(null, '', 'elsewhere.html')</script>";
    const site = await publishSite({
      'index.html': page('First', '<a href="second.html">on</a>'),
      'second.html': page('Second', moves),
      'third.html': page('Third', ''),
    });
    await view(site, 'First');
    const seen = await shell.evaluateHandle(() => {
      const seen = new Set<string>();
      const note = () => seen.add(`${document.querySelector('h1')?.textContent} ${location.hash}`);
      new MutationObserver(note).observe(document, { subtree: true, childList: true, characterData: true });
      return seen;
    });
    // Nothing looks at the frame until it loads a page.
    await setHidden(shell, true);
    const tab = await openShellIn(context, root);
    await tab.goto(`${root}/#view=${site}/third.html`);
    await expect(tab.getByRole('heading', { level: 1 })).toHaveText('Third');
    await viewed(shell).getByRole('link').click();
    await expect(heading()).toHaveText('Second');
    await setHidden(shell, false);
    await lookedTwice(originOf(site));
    await expect(heading()).toHaveText('Second');
    await expect(state()).toHaveText('Verified');
    expect(new URL(shell.url()).hash).toBe(`#view=${site}/elsewhere.html`);
    expect([...(await seen.evaluate((all) => [...all]))].join()).not.toContain('hird');
  },
  { tag: '@full' },
);

attack(
  group,
  'another visible tab opens a page in the moment in which the frame changes its page, on the shared origin and on that of a site',
  'the bar never shows the page of the other tab',
  async () => {
    const files = {
      'index.html': page('First', '<a href="second.html">on</a>'),
      'second.html': page('Second', ''),
      'third.html': page('Third', ''),
    };
    const site = await publishSite(files);
    const other = await publishSite({ 'index.html': page('Bank', '') });
    for (const [origin, path, title] of [
      [host.url, other, 'Bank'],
      [root, `${site}/third.html`, 'Third'],
    ] as const) {
      shell = await openShell(origin);
      await shell.goto(`${origin}/#view=${site}/`);
      await expect(heading()).toHaveText('First');
      await expect(state()).toHaveText('Verified');
      // Nothing looks at the frame until it loads a page.
      await setHidden(shell, true);
      const tab = await openShellIn(context, origin);
      await tab.goto(`${origin}/#view=${path}${path === other ? '/' : ''}`);
      await expect(tab.getByRole('heading', { level: 1 })).toHaveText(title);
      await viewed(shell).getByRole('link').click();
      await expect(heading()).toHaveText('Second');
      await setHidden(shell, false);
      await lookedTwice(origin === root ? originOf(site) : origin);
      await expect(heading()).toHaveText('Second');
      expect(new URL(shell.url()).hash).toBe(`#view=${site}/second.html`);
      await tab.close();
      await shell.close();
    }
  },
  { tag: '@full' },
);

attack(
  group,
  'a page links to the viewer with another host, the shell, an endpoint or a script in place of content',
  'the viewer frames nothing, and nothing is changed',
  async () => {
    await using outside = await Outside.start();
    const { host } = new URL(outside.url);
    for (const path of [
      `/${host}/x`,
      `\\${host}/x`,
      outside.url,
      'javascript:alert(1)',
      'data:text/html,x',
      'index.html',
      '-/reset',
      '-/settings',
      'x/..//evil',
      '%2e%2e/-/reset',
      '',
    ]) {
      await shell.goto('about:blank');
      await shell.goto(`${root}/#view=${path}`);
      await expect(shell.getByRole('heading', { name: 'Explore the Autonomi network' }), path).toBeVisible();
      expect(await shell.locator('iframe.viewer-frame').count(), path).toBe(0);
    }
    expect(outside.reached).toEqual([]);
  },
  { tag: '@full' },
);

attack(
  group,
  'a site that the user trusts on the shared origin is loaded in a frame of the shell',
  'the worker answers without scripts, and the viewer’s frame has none: the site could reach the shell’s window',
  async () => {
    const url = host.url;
    shell = await openShell(url);
    const address = await publishSite({
      'index.html': page('Trusted', '<script>top.document.title = "Owned"</script><p>Here</p>'),
      'note.txt': 'a note',
    });
    const decided = await fetchIn(shell, '/-/trust', {
      method: 'POST',
      body: JSON.stringify({ address, decision: 'trusted' }),
    });
    expect(decided.status).toBe(204);
    await shell.goto(`${url}/#view=${address}/note.txt`);
    const content = await untilViewed(shell, `/${address}/note.txt`);
    await expect(content.getByText('a note')).toBeVisible();
    await shell.evaluate((path) => {
      const frame = document.createElement('iframe');
      frame.src = path;
      frame.id = 'bare';
      document.body.append(frame);
    }, `/${address}/`);
    await expect(shell.frameLocator('#bare').getByText('Here')).toBeVisible();
    await expect(shell).not.toHaveTitle('Owned');
    // By itself the site opens in the window, with its scripts.
    await shell.goto(`${url}/#view=${address}/`);
    await shell.waitForURL(`${url}/${address}/`);
  },
  { tag: '@full' },
);
