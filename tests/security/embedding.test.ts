import type { BrowserContext, Page } from '@playwright/test';
import { lookup } from 'mrmime';
import type { Antway as InPage } from '../../src/drop-in/antway.ts';
import { expect, fetchIn, sceneOfFile, test } from '../support/chromium.ts';
import { dropInFolder } from '../support/embedding-site.ts';
import { LoopbackServer } from '../support/loopback-server.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import { StaticHost } from '../support/static-host.ts';
import type { Files } from '../support/tar.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { attack } from './attack.ts';

declare const Antway: InPage;

const injection = 'Injected HTML on a site that embeds content';
const embedded = 'An embedded page against its site';
const clobbering = 'Elements with the names of DOM properties';
const dotSegments = 'Content addresses with dot segments';

/** Enough for the drop-in, and for nothing that is injected to run inline. */
const sitePolicy =
  "script-src 'self' 'wasm-unsafe-eval'; object-src 'self'; style-src 'self' 'unsafe-inline'; worker-src 'self'";

const ran = (what: string) => `console.log('RAN ${what}')`;

const hostileFiles: Files = {
  'run.js': ran('script'),
  'module.js': `${ran('module')}; export default 1`,
  'worklet.js': `${ran('worklet')}; registerProcessor('x', class extends AudioWorkletProcessor {})`,
  'data.json': '{"hostile":true}',
  'style.css': 'html { --styled: yes; background: rgb(1, 2, 3) }',
  'transform.xsl': `<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><html><body><p id="transformed">Transformed</p></body></html></xsl:template></xsl:stylesheet>`,
  'sprite.svg': `<svg xmlns="http://www.w3.org/2000/svg"><a id="x" href="javascript:${ran('use')}"><rect id="y" width="99" height="99" onclick="${ran('use')}"/></a></svg>`,
  'app.webmanifest': '{"id":"/","scope":"/","name":"Hostile","start_url":"/ant/x/"}',
  'picture.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"/>',
  'plain.html': '<!doctype html><title>Plain</title><p id="plain">Plain</p>',
};

interface Scene {
  context: BrowserContext;
  peer: PeerProcess;
  /** A site that embeds content. */
  host: StaticHost;
  /** The site's own files by path, beside the drop-in. */
  pages: Record<string, string>;
  /** Starts another such site. */
  startSite(): Promise<Pick<Scene, 'host' | 'pages'>>;
}

/** The page of the site that has no policy. */
const unprotectedPage = '/unprotected.html';

/** A site that embeds content, its worker running in a visitor's browser, and a peer with archives of other authors. */
const scene = sceneOfFile<Scene>(async ({ context, startPeer, use }) => {
  const startSite = async () => {
    const pages: Scene['pages'] = {};
    const host = await StaticHost.start({
      folders: [dropInFolder],
      files: pages,
      headers: (path) => ({
        ...(path !== unprotectedPage && { 'Content-Security-Policy': sitePolicy }),
        'X-Frame-Options': 'SAMEORIGIN',
      }),
    });
    return { host: use(host), pages };
  };
  const peer = await startPeer();
  const { host, pages } = await startSite();
  pages['/index.html'] = sitePage({ peer });
  await openIndex(await context.newPage(), host);
  return { context, peer, host, pages, startSite };
});

/** A page of the site, with the drop-in. */
function sitePage(
  { peer }: { peer: { url: string } },
  body = '',
  { attributes = '', isDeferred = false }: Pick<VisitOptions, 'attributes' | 'isDeferred'> = {},
): string {
  const script = `<script ${isDeferred ? 'defer ' : ''}src="/antway.js" data-peers="${peer.url}" ${attributes}></script>`;
  return `<!doctype html><title>Site</title>${script}<body>${body}`;
}

async function openIndex(page: Page, host: StaticHost): Promise<void> {
  await page.goto(host.url);
  await page.evaluate(() => Antway.ready);
}

interface Visit {
  page: Page;
  host: StaticHost;
  /** Address of the hostile archive. */
  hostile: string;
  /** Everything that a hostile script wrote to the console. */
  ran: string[];
  /** The highest status by path, of everything that the page and its frames loaded; or `failed`. */
  statuses: Map<string, number>;
}

interface VisitOptions {
  /** Of the archive, beside `hostileFiles`. */
  files?: Files;
  /** Of the site. `%HOSTILE%` is the archive's address. */
  pages?: Record<string, string>;
  /** Of the site's script element: then the visit is to a site of its own, whose worker knows no other options. */
  attributes?: string;
  isDeferred?: boolean;
}

/** Instead of a status. */
const failed = 999;

let archives = 0;

/** Publishes an archive that differs from all others, so that the browser and the worker know nothing of its address. */
async function publishArchive(files: Files): Promise<string> {
  return publish(await makeTarchive({ ...files, 'number.txt': String(++archives) }), scene().peer);
}

/** A visit to the site in a new page, with requests and messages of its own, and a new archive of another author. */
async function visitSite({
  files = {},
  pages = {},
  attributes,
  isDeferred = false,
}: VisitOptions = {}): Promise<Visit> {
  const { context, peer } = scene();
  const site = attributes === undefined ? scene() : await scene().startSite();
  const { host } = site;
  const hostile = await publishArchive({ ...hostileFiles, ...files });
  const fill = (text: string) => text.replaceAll('%HOSTILE%', hostile).replaceAll('%PEER%', peer.url);
  for (const path of Object.keys(site.pages)) delete site.pages[path];
  for (const [path, body] of Object.entries({ '/index.html': '', ...pages })) {
    site.pages[path] = fill(
      lookup(path) === 'text/html'
        ? sitePage({ peer }, body, { attributes: attributes ?? '', isDeferred })
        : body,
    );
  }
  const page = await context.newPage();
  if (attributes !== undefined) await openIndex(page, host);
  host.requests.length = 0;
  const visit: Visit = { page, host, hostile, ran: [], statuses: new Map() };
  page.on('console', (message) => {
    if (message.text().startsWith('RAN ')) visit.ran.push(message.text());
  });
  const note = (url: string, status: number) => {
    const { pathname } = new URL(url);
    visit.statuses.set(pathname, Math.max(status, visit.statuses.get(pathname) ?? 0));
  };
  page.on('response', (response) => note(response.url(), response.status()));
  // Chromium reports a style sheet with an error as failed, without a status.
  page.on('requestfailed', (request) => {
    if (!visit.statuses.has(new URL(request.url()).pathname)) note(request.url(), failed);
  });
  return visit;
}

/** Opens a page and waits until nothing more is loaded. */
async function open(page: Page, url: string): Promise<void> {
  await page.goto(url, { waitUntil: 'networkidle' });
}

const isStyled = (page: Page) =>
  page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--styled') === 'yes');

/** The central cases are in the suites of the other browsers too. */
const everywhere = { alsoIn: ['Firefox', 'WebKitGTK'] } as const;

for (const [what, file, html] of [
  ['a script element', 'run.js', '<script src="/ant/%HOSTILE%/run.js"></script>'],
  ['a module script', 'module.js', '<script type="module" src="/ant/%HOSTILE%/module.js"></script>'],
  ['a module preload', 'module.js', '<link rel="modulepreload" href="/ant/%HOSTILE%/module.js">'],
  [
    'a preload and then a script element',
    'run.js',
    '<link rel="preload" as="script" href="/ant/%HOSTILE%/run.js"><script defer src="/ant/%HOSTILE%/run.js"></script>',
  ],
  ['a script element of SVG', 'run.js', '<svg><script href="/ant/%HOSTILE%/run.js"></script></svg>'],
] as const) {
  attack(
    injection,
    `${what} loads a file of an address`,
    'refused, nothing runs',
    async () => {
      const { page, host, hostile, ran, statuses } = await visitSite({
        pages: { '/injected.html': html },
      });
      const path = `/ant/${hostile}/${file}`;
      await open(page, `${host.url}/injected.html`);
      await expect.poll(() => statuses.get(path)).toBe(403);
      expect(ran).toEqual([]);
      // The same file as data, so that the refusal is of the script.
      expect((await fetchIn(page, path)).status).toBe(200);
    },
    what === 'a script element' ? everywhere : {},
  );
}

for (const [what, link] of [
  ['prefetched', '<link rel="prefetch" href="/ant/%HOSTILE%/run.js">'],
  ['preloaded as data', '<link rel="preload" as="fetch" crossorigin href="/ant/%HOSTILE%/run.js">'],
  ['preloaded as a picture', '<link rel="preload" as="image" href="/ant/%HOSTILE%/run.js">'],
] as const) {
  attack(
    injection,
    `a script element loads a file of an address that was ${what} before`,
    'refused, nothing runs',
    async () => {
      const { page, host, hostile, ran, statuses } = await visitSite({
        pages: { '/injected.html': link },
      });
      const path = `/ant/${hostile}/run.js`;
      await open(page, `${host.url}/injected.html`);
      await expect.poll(() => statuses.get(path)).toBe(200);
      const outcome = await page.evaluate(
        (src) =>
          new Promise((done) => {
            const script = Object.assign(document.createElement('script'), { src });
            script.onload = () => done('loaded');
            script.onerror = () => done('refused');
            document.head.append(script);
          }),
        path,
      );
      expect(outcome).toBe('refused');
      expect(ran).toEqual([]);
    },
  );
}

for (const [what, html] of [
  ['a link to a style sheet by its path', '<link rel="stylesheet" href="/ant/%HOSTILE%/style.css">'],
  ['a link to a style sheet by its address', '<link rel="stylesheet" href="ant://%HOSTILE%/style.css">'],
  ['an import in a style element', '<style>@import "/ant/%HOSTILE%/style.css";</style>'],
  [
    'a link in a srcdoc frame',
    `<iframe srcdoc='<link rel="stylesheet" href="/ant/%HOSTILE%/style.css">'></iframe>`,
  ],
] as const) {
  attack(
    injection,
    `${what} styles the site with a file of an address`,
    'refused',
    async () => {
      const { page, host, hostile, statuses } = await visitSite({
        pages: { '/injected.html': html },
      });
      await open(page, `${host.url}/injected.html`);
      await expect.poll(() => statuses.get(`/ant/${hostile}/style.css`)).toBe(failed);
      expect(await isStyled(page)).toBe(false);
    },
    html.startsWith('<link') && html.includes('href="/') ? everywhere : {},
  );
}

for (const [what, file, load] of [
  [
    'a worker',
    'run.js',
    (url: string) =>
      new Promise<void>((done, failed) => {
        const worker = new Worker(url);
        worker.onmessage = () => done();
        worker.onerror = () => failed(new Error('refused'));
      }),
  ],
  [
    'a shared worker',
    'run.js',
    (url: string) =>
      new Promise<void>((done, failed) => {
        const worker = new SharedWorker(url);
        // The browser may drop an object that nothing refers to, and its error event with it.
        Object.assign(globalThis, { worker });
        worker.port.onmessage = () => done();
        worker.onerror = () => failed(new Error('refused'));
        // Chromium sometimes sends no error event, about once in 500 runs. A worker that ran would have sent its message.
        setTimeout(failed, 30_000, new Error('refused'));
      }),
  ],
  ['a service worker', 'run.js', (url: string) => navigator.serviceWorker.register(url)],
  ['an audio worklet', 'worklet.js', (url: string) => new AudioContext().audioWorklet.addModule(url)],
  ['an import of a module', 'module.js', (url: string) => import(/* @vite-ignore */ url)],
  [
    'an import of JSON as a module',
    'data.json',
    (url: string) => import(/* @vite-ignore */ url, { with: { type: 'json' } }),
  ],
] as const) {
  attack(
    injection,
    `a parameter of the site names a file of an address for ${what}`,
    'refused, nothing runs',
    async () => {
      const { page, host, hostile, ran } = await visitSite();
      await openIndex(page, host);
      const outcome = await page.evaluate(
        `(${load})('/ant/${hostile}/${file}').then(() => 'loaded', () => 'refused')`,
      );
      expect(outcome).toBe('refused');
      expect(ran).toEqual([]);
    },
  );
}

attack(injection, 'an XML file of the site names a stylesheet of an address', 'refused', async () => {
  const { page, host, hostile, statuses } = await visitSite({
    pages: {
      '/feed.xml': `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="/ant/%HOSTILE%/transform.xsl"?><a/>`,
    },
  });
  await open(page, `${host.url}/feed.xml`);
  expect(statuses.get(`/ant/${hostile}/transform.xsl`) ?? 403).toBe(403);
  await expect(page.locator('#transformed')).toHaveCount(0);
});

for (const [what, html] of [
  ['an object', '<object data="/ant/%HOSTILE%/plain.html" type="text/html"></object>'],
  ['an embed', '<embed src="/ant/%HOSTILE%/plain.html" type="text/html">'],
] as const) {
  attack(injection, `${what} shows a page of an address`, 'refused', async () => {
    const { page, host, hostile, statuses } = await visitSite({
      pages: { '/injected.html': html },
    });
    await open(page, `${host.url}/injected.html`);
    // Browsers ask the host for it, past every worker.
    await expect.poll(() => statuses.get(`/ant/${hostile}/plain.html`)).toBe(404);
    expect(host.requests).toContain(`/ant/${hostile}/plain.html`);
  });
}

attack(
  injection,
  'a “use” element takes shapes with handlers and links out of an SVG file of an address',
  'refused, nothing is drawn',
  async () => {
    const { page, host, hostile, statuses, ran } = await visitSite({
      pages: {
        [unprotectedPage]:
          '<svg width="100" height="100"><use id="use" href="/ant/%HOSTILE%/sprite.svg#x"/></svg>',
      },
    });
    await open(page, host.url + unprotectedPage);
    await expect.poll(() => statuses.get(`/ant/${hostile}/sprite.svg`)).toBe(403);
    await page.mouse.click(30, 30);
    expect(ran).toEqual([]);
    // As a picture it is still shown.
    const width = await page.evaluate(async (src) => {
      const image = Object.assign(new Image(), { src });
      await image.decode();
      return image.naturalWidth;
    }, `/ant/${hostile}/picture.svg`);
    expect(width).toBe(30);
  },
);

attack(injection, 'a link claims the site’s app id with a manifest of an address', 'refused', async () => {
  const { page, host, hostile } = await visitSite({
    pages: { '/injected.html': '<link rel="manifest" href="/ant/%HOSTILE%/app.webmanifest">' },
  });
  await open(page, `${host.url}/injected.html`);
  expect(await manifestOf(page)).not.toContain('Hostile');
  // Nor is it in the browser because it was asked for as data.
  expect((await fetchIn(page, `/ant/${hostile}/app.webmanifest`)).status).toBe(200);
  expect(await manifestOf(page)).not.toContain('Hostile');
});

attack(
  injection,
  'a frame without a sandbox shows a page of an address that has scripts',
  'shown without scripts',
  async () => {
    const {
      page,
      host,
      hostile,
      ran: scripts,
    } = await visitSite({
      files: {
        'index.html': `<!doctype html><script>${ran('frame')}</script><p id="shown" onclick="${ran('handler')}">Shown</p>`,
      },
      pages: { '/injected.html': '<iframe src="/ant/%HOSTILE%/"></iframe>' },
    });
    await open(page, `${host.url}/injected.html`);
    const frame = page.frames().find((each) => each.url() === `${host.url}/ant/${hostile}/`)!;
    await frame.locator('#shown').click();
    expect(scripts).toEqual([]);
  },
);

attack(
  injection,
  'a page of a trusted address loads scripts and styles of another address',
  'refused',
  async () => {
    const hostile = await publishArchive(hostileFiles);
    const trusted = await publishArchive({
      'index.html': `<!doctype html><script>document.title = 'It ran'</script>
        <script src="../${hostile}/run.js"></script><link rel="stylesheet" href="../${hostile}/style.css">`,
    });
    const { page, host, statuses, ran } = await visitSite({ attributes: `data-trusted="${trusted}"` });
    await open(page, `${host.url}/ant/${trusted}/`);
    await expect(page).toHaveTitle('It ran');
    expect(statuses.get(`/ant/${hostile}/run.js`)).toBe(403);
    expect(statuses.get(`/ant/${hostile}/style.css`)).toBe(failed);
    expect(ran).toEqual([]);
    expect(await isStyled(page)).toBe(false);
  },
);

test('a site loads scripts and styles of an address that its configuration trusts', async () => {
  const address = await publishArchive(hostileFiles);
  const { page, host, ran } = await visitSite({
    attributes: `data-trusted="${address}" data-names="mine=${address}"`,
    pages: {
      '/page.html':
        '<script src="/ant/mine/run.js"></script><link rel="stylesheet" href="ant://mine/style.css">',
    },
  });
  await open(page, `${host.url}/page.html`);
  await expect.poll(() => isStyled(page)).toBe(true);
  expect(ran).toEqual(['RAN script']);
});

/** The web app manifest that the browser has for a page, as text. */
async function manifestOf(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  const { data = '' } = await session.send('Page.getAppManifest');
  await session.detach();
  return data;
}

// Attacks of a page of an address on the site that shows it.

attack(
  embedded,
  'a page keeps its own styles, pictures and fonts, and takes none of the site',
  'only its own files apply',
  async () => {
    const { page, host, statuses, hostile } = await visitSite({
      files: {
        'index.html': `<!doctype html><link rel="stylesheet" href="style.css"><link rel="stylesheet" href="/site.css">
        <link rel="stylesheet" href="imported.css"><img src="picture.svg">`,
        'imported.css': '@import "more.css";',
        'more.css': 'body { --more: yes }',
      },
      pages: { '/site.css': 'html { --site: yes }' },
    });
    await open(page, `${host.url}/ant/${hostile}/`);
    expect(await isStyled(page)).toBe(true);
    const property = (name: string) =>
      page.evaluate((name) => getComputedStyle(document.body).getPropertyValue(name), name);
    expect([await property('--more'), await property('--site')]).toEqual(['yes', '']);
    expect(statuses.get(`/ant/${hostile}/picture.svg`)).toBe(200);
    expect(host.requests).not.toContain('/site.css');
  },
);

for (const [what, html] of [
  ['a picture', '<img src="/logout">'],
  ['a picture by srcset', '<img srcset="/logout 1x">'],
  ['a frame', '<iframe src="/logout"></iframe>'],
  ['an object', '<object data="/logout"></object>'],
  ['a film', '<video src="/logout"></video>'],
  ['captions', '<video src="film.webm"><track default src="/logout"></video>'],
  ['a background', '<body style="background: url(/logout)">'],
  ['a font', '<style>@font-face { font-family: x; src: url(/logout) } p { font-family: x }</style><p>Text'],
  ['a style sheet', '<link rel="stylesheet" href="/logout">'],
  ['an icon', '<link rel="icon" href="/logout">'],
  ['a prefetch', '<link rel="prefetch" href="/logout">'],
  ['a preload', '<link rel="preload" as="image" href="/logout">'],
  ['a refresh', '<meta http-equiv="refresh" content="0;url=/logout">'],
  ['a frame in a frame with a document of its own', `<iframe srcdoc='<img src="/logout">'></iframe>`],
  ['a file of its own by a path that leaves it', '<img src="x/../../../logout">'],
] as const) {
  attack(
    embedded,
    `${what} requests a URL of the site, with the visitor’s cookies`,
    'not requested',
    async () => {
      const { page, host, hostile } = await visitSite({
        files: { 'index.html': `<!doctype html>${html}<img id="own" src="picture.svg">` },
        pages: {
          '/embedding.html': '<div data-ant-embed="ant://%HOSTILE%/"></div>',
        },
      });
      await open(page, `${host.url}/embedding.html`);
      const inFrame = page.frameLocator('iframe').locator('#own');
      await expect.poll(() => inFrame.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(30);
      await open(page, `${host.url}/ant/${hostile}/`);
      await expect
        .poll(() => page.locator('#own').evaluate((image: HTMLImageElement) => image.naturalWidth))
        .toBe(30);
      expect(host.requests).not.toContain('/logout');
    },
  );
}

const accountPage = `<form method="post" action="/transfer"><button id="transfer">Transfer</button></form>
  <button id="scripted">Transfer</button><script src="/account.js"></script>`;
const account = {
  '/account.html': accountPage,
  '/account.js': `document.getElementById('scripted').onclick = () => fetch('/transfer', { method: 'POST' });
    fetch('/account-ran');`,
};

attack(
  embedded,
  'a page frames the site’s account page, which forbids it to others, for a click',
  'not framed',
  async () => {
    const { page, host, hostile } = await visitSite({
      files: {
        'index.html': '<!doctype html><iframe src="/account.html"></iframe><img id="own" src="picture.svg">',
      },
      pages: account,
    });
    await open(page, `${host.url}/ant/${hostile}/`);
    await expect(page.locator('#own')).toBeVisible();
    expect(host.requests).not.toContain('/account.html');
  },
  everywhere,
);

attack(
  embedded,
  'a link leads the page’s own frame to the site’s account page, for a click there',
  'shown without scripts and forms',
  async () => {
    const { page, host } = await visitSite({
      files: { 'index.html': '<!doctype html><a id="link" href="/account.html">Win</a>' },
      pages: { ...account, '/embedding.html': '<div data-ant-embed="ant://%HOSTILE%/"></div>' },
    });
    await open(page, `${host.url}/embedding.html`);
    const frame = page.frameLocator('iframe');
    await frame.locator('#link').click();
    await expect.poll(() => host.requests.includes('/account.html')).toBe(true);
    await frame
      // The policy may have removed the element from the frame; the test looks at the requests.
      .locator('#transfer')
      .click({ timeout: 1_000 })
      .catch(() => {});
    await frame
      .locator('#scripted')
      .click({ timeout: 1_000 })
      .catch(() => {});
    await fetchIn(page, '/end');
    expect(host.requests).not.toContain('/transfer');
    expect(host.requests).not.toContain('/account-ran');
  },
);

for (const [what, html] of [
  ['to the site’s account page', '<meta http-equiv="refresh" content="0;url=/account.html">'],
  ['to a script', `<meta http-equiv="refresh" content="0;url=javascript:${ran('refresh')}">`],
  ['within the frame’s own address', '<meta http-equiv="refresh" content="0;url=plain.html">'],
] as const) {
  attack(
    embedded,
    `a refresh leads an embedded page’s frame ${what}`,
    'the frame stays',
    async () => {
      const {
        page,
        host,
        ran: scripts,
      } = await visitSite({
        files: { 'index.html': `<!doctype html>${html}<img id="own" src="picture.svg">` },
        pages: {
          ...account,
          '/embedding.html': '<div data-ant-embed="ant://%HOSTILE%/"></div>',
          '/refreshing.html': '<meta http-equiv="refresh" content="0;url=/refreshed.html">',
        },
      });
      await open(page, `${host.url}/embedding.html`);
      const frame = page.frameLocator('iframe');
      await expect(frame.locator('#own')).toBeVisible();
      // A page of the site that is loaded after that one has led on by its refresh.
      const later = await page.context().newPage();
      await later.goto(`${host.url}/refreshing.html`);
      await later.waitForURL('**/refreshed.html');
      await expect(frame.locator('#own')).toBeVisible();
      expect(host.requests).not.toContain('/account.html');
      expect(scripts).toEqual([]);
    },
    what.includes('account') ? { alsoIn: ['Firefox'] } : {},
  );
}

attack(
  embedded,
  'a link leads the whole tab away from the site out of its frame',
  'the page stays',
  async () => {
    const { page, host } = await visitSite({
      files: {
        'index.html':
          '<!doctype html><a id="link" target="_top" href="plain.html">Win</a><a id="new" target="_blank" href="plain.html">Win</a>',
      },
      pages: { '/embedding.html': '<div data-ant-embed="ant://%HOSTILE%/"></div>' },
    });
    await open(page, `${host.url}/embedding.html`);
    const pages = page.context().pages();
    for (const id of ['link', 'new']) await page.frameLocator('iframe').locator(`#${id}`).click();
    await fetchIn(page, '/end');
    expect(page.url()).toBe(`${host.url}/embedding.html`);
    expect(page.context().pages()).toEqual(pages);
  },
);

attack(
  embedded,
  'another website leads its own window to content of the site and stops that at once, again and again',
  'After two navigations, a page of the gateway replaces the website before the worker asks any peer.',
  async () => {
    const asked = new Set<string>();
    // Asked for a chunk, it does not answer, so that the website has time to stop.
    await using slow = await LoopbackServer.start((request, response) => {
      const [, address] = /^\/chunk\/(\w{64})/.exec(request.url!) ?? [];
      if (address) asked.add(address);
      else response.writeHead(404).end();
    });
    await using website = await LoopbackServer.start((_, response) => void response.end('Website'));
    const { host, pages } = await scene().startSite();
    pages['/index.html'] = sitePage({ peer: slow });
    const page = await scene().context.newPage();
    await openIndex(page, host);
    await page.goto(website.url);
    const addresses = ['1', '2', '3', '4'].map((digit) => digit.repeat(64));
    const hasLeft = () => page.url().startsWith(host.url);
    for (const address of addresses) {
      await page.evaluate((url) => void location.assign(url), `${host.url}/ant/${address}/x.txt`);
      await expect.poll(() => asked.has(address) || hasLeft()).toBe(true);
      if (hasLeft()) break;
      await page.evaluate(() => stop()).catch(() => undefined);
    }
    await expect.poll(hasLeft).toBe(true);
    expect([...asked]).not.toContain(addresses[3]);
    await page.close();
  },
);

attack(embedded, 'a page claims the site’s app id with its manifest', 'no manifest', async () => {
  const { page, host, hostile, statuses } = await visitSite({
    files: { 'index.html': '<!doctype html><link rel="manifest" href="app.webmanifest">Page' },
  });
  await open(page, `${host.url}/ant/${hostile}/`);
  await expect(page.getByText('Page')).toBeVisible();
  expect(await manifestOf(page)).not.toContain('Hostile');
  expect(statuses.get(`/ant/${hostile}/app.webmanifest`) ?? failed).toBe(failed);
});

attack(embedded, 'a page shows pictures and frames of another address', 'not requested', async () => {
  const other = await publishArchive({ 'index.html': 'Other', 'a.svg': hostileFiles['picture.svg']! });
  const { page, host, hostile, statuses } = await visitSite({
    files: {
      'index.html': `<!doctype html><img src="../${other}/a.svg"><iframe src="../${other}/"></iframe>
        <link rel="stylesheet" href="../${other}/style.css"><img id="own" src="picture.svg">`,
    },
  });
  await open(page, `${host.url}/ant/${hostile}/`);
  await expect(page.locator('#own')).toBeVisible();
  expect([...statuses].filter(([path, status]) => path.includes(other) && status < 400)).toEqual([]);
});

// Sanitised HTML keeps names and ids.

attack(
  clobbering,
  'a picture named “currentScript” brings options for a deferred script, with a trusted address',
  'the script’s own options count',
  async () => {
    const { page, host, hostile } = await visitSite({
      isDeferred: true,
      files: {
        'index.html': `<!doctype html><p id="text">Nothing ran</p><script>text.textContent = 'It ran'</script>`,
      },
      pages: {
        '/comments.html': `<img name="currentScript" src="/antway.js" data-peers="%PEER%" data-trusted="%HOSTILE%">
          <form name="currentScript" data-trusted="%HOSTILE%"></form><img name="querySelector" src="/antway.js">`,
      },
    });
    await open(page, `${host.url}/comments.html`);
    await page.evaluate(() => Antway.ready);
    const config = JSON.parse((await fetchIn(page, '/ant/-/config')).text);
    expect(config.trusted).toEqual([]);
    await page.goto(`${host.url}/ant/${hostile}/`);
    await expect(page.locator('#text')).toHaveText('Nothing ran');
  },
);

const documentNames = [
  'addEventListener',
  'adoptedStyleSheets',
  'baseURI',
  'body',
  'cookie',
  'createElement',
  'currentScript',
  'defaultView',
  'dispatchEvent',
  'documentElement',
  'forms',
  'head',
  'images',
  'nodeType',
  'querySelector',
  'querySelectorAll',
  'readyState',
  'styleSheets',
];

attack(
  clobbering,
  'pictures take the names of every property of the document that the script reads',
  'the script works as if they were absent',
  async () => {
    const names = documentNames.map((name) => `<img name="${name}">`).join('');
    const { page, host } = await visitSite({
      isDeferred: true,
      pages: {
        '/comments.html': `${names}<img id="shown" src="ant://%HOSTILE%/picture.svg">
          <p id="drawn" style="background: url(ant://%HOSTILE%/picture.svg)">Drawn</p>
          <div data-ant-embed="ant://%HOSTILE%/plain.html"></div><div id="wrong" data-ant-embed="ant://wrong address"></div>
          <style>#sheet { background: url(ant://%HOSTILE%/picture.svg) }</style><p id="sheet">Sheet</p>`,
      },
    });
    await open(page, `${host.url}/comments.html`);
    await page.evaluate(() => Antway.ready);
    await expect
      .poll(() => page.locator('#shown').evaluate((image: HTMLImageElement) => image.naturalWidth))
      .toBe(30);
    for (const id of ['drawn', 'sheet']) {
      await expect
        .poll(() => page.locator(`#${id}`).evaluate((element) => getComputedStyle(element).backgroundImage))
        .toContain(`${host.url}/ant/`);
    }
    await expect(page.frameLocator('iframe').locator('#plain')).toHaveText('Plain');
    await expect(page.locator('#wrong')).toContainText('is not a content address');
  },
);

attack(
  clobbering,
  'the fields of a form take the names of its own properties, before and after other content',
  'the other content works',
  async () => {
    const fields = [
      'attributes',
      'baseURI',
      'classList',
      'getAttribute',
      'localName',
      'matches',
      'querySelectorAll',
      'setAttribute',
      'shadowRoot',
      'style',
    ];
    const form = `<form data-ant-src="ant://%HOSTILE%/x" data-ant-embed="ant://%HOSTILE%/x" style="background: url(ant://%HOSTILE%/picture.svg)">${fields
      .map((name) => `<input name="${name}">`)
      .join('')}</form>`;
    const { page, host } = await visitSite({
      pages: { '/comments.html': `${form}<img id="shown" src="ant://%HOSTILE%/picture.svg">` },
    });
    await open(page, `${host.url}/comments.html`);
    await page.evaluate(() => Antway.ready);
    const width = (id: string) => page.locator(id).evaluate((image: HTMLImageElement) => image.naturalWidth);
    await expect.poll(() => width('#shown')).toBe(30);
    await page.evaluate(() => {
      const form = document.querySelector('form')!;
      document.body.append(
        form.cloneNode(true),
        Object.assign(new Image(), {
          id: 'later',
          src: document.querySelector('img')!.src.replace(/^.*\/ant\//, 'ant://'),
        }),
      );
    });
    await expect.poll(() => width('#later')).toBe(30);
  },
);

// Nothing with an address leads out of that address.

const escapes = [
  '/../../logout',
  '/x/../../../logout',
  '/%2e%2e/%2E./logout',
  '/..\\..\\logout',
  '\\..\\..\\logout',
  '/.\t./.\n./logout',
  '/x/..',
  '/.',
  '/%2e',
];

attack(
  dotSegments,
  'links, pictures, frames and styles leave the prefix by dot segments in every spelling',
  'BAD_ADDRESS, nothing is requested',
  async () => {
    const { page, host, hostile } = await visitSite();
    await openIndex(page, host);
    const found = await page.evaluate(
      async ({ uris, prefix }) => {
        const wrong: string[] = [];
        for (const uri of uris) {
          const link = Object.assign(document.createElement('a'), { textContent: 'Link' });
          link.setAttribute('href', uri);
          const image = document.createElement('img');
          image.setAttribute('srcset', `${uri.replace(/\s/g, '')} 1x`);
          const frame = document.createElement('iframe');
          frame.setAttribute('src', uri);
          const tagged = document.createElement('img');
          tagged.setAttribute('data-ant-src', uri);
          const container = document.createElement('div');
          container.setAttribute('data-ant-embed', uri.replace('ant://', ''));
          const drawn = document.createElement('p');
          drawn.style.backgroundImage = `url("${CSS.escape(uri)}")`;
          document.body.replaceChildren(link, image, frame, tagged, container, drawn);
          await new Promise((done) => setTimeout(done, 50));
          const results = [
            link.href,
            image.srcset.split(' ')[0]!,
            frame.src,
            tagged.src,
            container.querySelector('iframe')?.src ?? '',
          ];
          const background = /^url\("(.*)"\)$/.exec(getComputedStyle(drawn).backgroundImage)?.[1] ?? '';
          for (const result of [...results, background]) {
            if (/^https?:/.test(result) && !new URL(result).href.startsWith(prefix))
              wrong.push(`${uri}: ${result}`);
          }
          if (container.querySelector('iframe')) wrong.push(`${uri}: is embedded`);
        }
        return wrong;
      },
      { uris: escapes.map((path) => `ant://${hostile}${path}`), prefix: `${host.url}/ant/${hostile}` },
    );
    expect(found).toEqual([]);
    expect(host.requests).not.toContain('/logout');
  },
);

attack(
  dotSegments,
  'a site’s script makes a URL of an address and a path with dot segments',
  'BAD_ADDRESS',
  async () => {
    const { page, host, hostile } = await visitSite();
    await openIndex(page, host);
    const outcomes = await page.evaluate(
      async ({ address, paths }) => {
        const outcome = async (run: () => unknown) => {
          try {
            return String(await run());
          } catch (error) {
            return (error as { code?: string }).code;
          }
        };
        return Promise.all([
          ...paths.map((path) => outcome(() => Antway.url(address + path))),
          outcome(() => Antway.url(address, '../../api')),
          outcome(() => Antway.url(address, 'a/./b')),
          outcome(() => Antway.url(address, '..')),
          outcome(() => Antway.fetch(address, '../../api')),
        ]);
      },
      { address: hostile, paths: escapes },
    );
    expect(new Set(outcomes)).toEqual(new Set(['BAD_ADDRESS']));
    // A path that only looks like one stays below the address.
    const urls = await page.evaluate(
      (address) => ['..\\x', '%2e%2e/x', '...', '.hidden/a'].map((path) => Antway.url(address, path)),
      hostile,
    );
    for (const url of urls) expect(new URL(url).href.startsWith(`${host.url}/ant/${hostile}/`)).toBe(true);
    expect(host.requests).not.toContain('/api');
  },
);
