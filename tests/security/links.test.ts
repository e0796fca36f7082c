import { Address } from '../../src/address.ts';
import { expect, fetchIn, openShellIn, openTitled, sceneOfFile } from '../support/chromium.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { attack } from './attack.ts';

const group = 'Content addresses that the worker rewrites';

const scene = sceneOfFile(async ({ startPeer, startHost, context }) => {
  const peer = await startPeer();
  const evil = await publish(await makeTarchive(evilFiles), peer);
  const host = await startHost({ peers: [peer.url] });
  return { peer, evil, host, context, root: `http://antway.localhost:${new URL(host.url).port}` };
});

const evilFiles = {
  'index.html': '<!doctype html><title>Evil, still</title><script>document.title = "Evil, running"</script>',
  'sw.js': 'self.addEventListener("fetch", (event) => event.respondWith(new Response("taken over")))',
  'evil.js': 'document.title = "Ran"',
};

/** Markup in which a rewritten address could end an attribute, a string or a comment. */
const traps = (link: string) => `<!doctype html><title>Safe</title>
<img alt='${link}' src="${link}/&quot; onerror=&quot;document.title='Ran'"><img src='${link}' onerror=''>
<img src=${link}/onerror=document.title='Ran'><img src="${link}\\" onerror="document.title='Ran'">
<p style="background:url(${link}/'&quot;)"><style>@import "${link}\\22";</style>
<svg><style><img src="${link}"></style><script href="${link}/evil.js"></script></svg>
<noscript><p title="</noscript><img src=${link} onerror=document.title='Ran'>"></noscript>
<textarea><img src="${link}"></textarea><xmp><img src="${link}" onerror="document.title='Ran'"></xmp>
<a href="${link}//javascript:document.title='Ran'">a</a><iframe srcdoc="<script src=${link}/evil.js></script>"></iframe>
<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=${link} onerror=document.title='Ran'&gt;">`;

attack(
  group,
  'a page without trust puts addresses where a rewriter could break its markup',
  'nothing runs, and the browser parses the same elements',
  async () => {
    const { peer, evil, host, context } = scene();
    const text = traps(`ant://${evil}`);
    const address = await publish(await makeTarchive({ 'index.html': text }), peer);
    // At an address without names, sites have no origins of their own.
    const shell = await openShellIn(context, `${host.url}/`);
    await shell.evaluate(
      (address) =>
        fetch('/-/trust', { method: 'POST', body: JSON.stringify({ address, decision: 'restricted' }) }),
      address,
    );
    const page = await openTitled(context, `${host.url}/${address}/`, 'Safe');
    await page.waitForLoadState('networkidle');
    await expect(page).toHaveTitle('Safe');
    const shown = (await fetchIn(shell, `/${address}/`)).text;
    expect(shown).not.toBe(text);
    const shapes = await shell.evaluate(
      (documents) =>
        documents.map((html) =>
          Array.from(new DOMParser().parseFromString(html, 'text/html').querySelectorAll('*'), (element) => [
            element.localName,
            ...element.getAttributeNames(),
          ]),
        ),
      [text, shown],
    );
    expect(shapes[0]).toEqual(shapes[1]);
  },
);

let sites = 0;

/** Publishes a site that differs from all others, so its origin is new to the browser. */
async function publishLinkingSite(html = '') {
  const { peer, evil, root, context } = scene();
  const page = `<!doctype html><title>Site</title>${html.replaceAll('{evil}', evil)}`;
  const files = { 'index.html': page, 'number.txt': String(++sites) };
  const address = await publish(await makeTarchive(files), peer);
  const origin = root.replace('//', `//${Address.fromHex(address).base32}.`);
  return { root, evil, context, address, origin };
}

attack(
  group,
  'a page of another address opens in a window below a site’s own origin',
  'it opens at its own origin',
  async () => {
    const { root, address, evil, context } = await publishLinkingSite();
    const page = await openTitled(context, `${root}/${address}/`, 'Site');
    await page.evaluate((path) => void location.assign(path), `/-/content/${evil}/`);
    await expect(page).toHaveTitle('Evil, running');
    expect(page.url()).toBe(`${root.replace('//', `//${Address.fromHex(evil).base32}.`)}/`);
  },
  { tag: '@full' },
);

attack(
  group,
  'a frame shows a page of another address on a site’s own origin',
  'shown without scripts',
  async () => {
    const html = '<iframe src="ant://{evil}/"></iframe><object data="ant://{evil}/"></object>';
    const { root, address, context } = await publishLinkingSite(html);
    const page = await openTitled(context, `${root}/${address}/`, 'Site');
    await expect.poll(() => page.frames()[1]?.title()).toBe('Evil, still');
    const titles = await Promise.all(page.frames().map((frame) => frame.title()));
    expect(titles).not.toContain('Evil, running');
  },
);

attack(group, 'a site registers a service worker of another address', 'refused', async () => {
  const { root, address, evil, context } = await publishLinkingSite();
  const page = await openTitled(context, `${root}/${address}/`, 'Site');
  const outcome = await page.evaluate(async (evil) => {
    const frame = document.body.appendChild(document.createElement('iframe'));
    const { register } = Object.getPrototypeOf(frame.contentWindow!.navigator.serviceWorker);
    try {
      await register.call(navigator.serviceWorker, `/-/content/${evil}/sw.js`);
      return 'registered';
    } catch {
      return 'refused';
    }
  }, evil);
  expect(outcome).toBe('refused');
});

attack(
  group,
  'a site that the user forbade scripts loads files of another address',
  'refused',
  async () => {
    const html = '<img src="ant://{evil}/evil.js"><script src="ant://{evil}/evil.js"></script>';
    const { root, address, origin, evil, context } = await publishLinkingSite(html);
    const shell = await openShellIn(context, `${root}/`);
    await shell.evaluate(
      (address) =>
        fetch('/-/trust', { method: 'POST', body: JSON.stringify({ address, decision: 'restricted' }) }),
      address,
    );
    const page = await context.newPage();
    const answers: number[] = [];
    page.on('response', (response) => {
      if (response.url() === `${origin}/-/content/${evil}/evil.js`) answers.push(response.status());
    });
    await page.goto(`${origin}/`);
    await expect(page).toHaveTitle('Site');
    await expect.poll(() => answers).toContain(403);
    expect(answers).not.toContain(200);
  },
  { tag: '@full' },
);
