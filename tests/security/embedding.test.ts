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
import { type AttackOfSeveral, attack, attacks, verdict } from './attack.ts';

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

/** Something that HTML injects into a page of the site. It loads a file of its own, so that the file tells which one it is. */
interface Injection extends AttackOfSeveral {
  /** The content of the file. */
  text: string;
  extension: string;
  /** The HTML that loads the file, by its path below the address. */
  html(file: string): string;
  /** Whether the page is unharmed. */
  judge(visit: Visit, path: string): Promise<void>;
}

/** The property that a style sheet sets, by its file. */
const propertyOf = (file: string) => `--styled-${file.replace('.', '-')}`;

const scriptInjections = (
  [
    ['a script element', (file) => `<script src="/ant/%HOSTILE%/${file}"></script>`],
    ['a module script', (file) => `<script type="module" src="/ant/%HOSTILE%/${file}"></script>`],
    ['a module preload', (file) => `<link rel="modulepreload" href="/ant/%HOSTILE%/${file}">`],
    [
      'a preload and then a script element',
      (file) =>
        `<link rel="preload" as="script" href="/ant/%HOSTILE%/${file}"><script defer src="/ant/%HOSTILE%/${file}"></script>`,
    ],
    ['a script element of SVG', (file) => `<svg><script href="/ant/%HOSTILE%/${file}"></script></svg>`],
  ] satisfies [string, Injection['html']][]
).map(([what, html]): Injection => {
  const name = `${what} loads a file of an address`;
  return {
    name,
    outcome: 'refused, nothing runs',
    ...(what === 'a script element' && everywhere),
    text: ran(name),
    extension: 'js',
    html,
    async judge({ page, statuses }, path) {
      await verdict.poll(() => statuses.get(path), name).toBe(403);
      // The same file as data, so that the refusal is of the script.
      verdict((await fetchIn(page, path)).status, name).toBe(200);
    },
  };
});

const knownInjections = (
  [
    ['prefetched', (file) => `<link rel="prefetch" href="/ant/%HOSTILE%/${file}">`],
    [
      'preloaded as data',
      (file) => `<link rel="preload" as="fetch" crossorigin href="/ant/%HOSTILE%/${file}">`,
    ],
    ['preloaded as a picture', (file) => `<link rel="preload" as="image" href="/ant/%HOSTILE%/${file}">`],
  ] satisfies [string, Injection['html']][]
).map(([what, html]): Injection => {
  const name = `a script element loads a file of an address that was ${what} before`;
  return {
    name,
    outcome: 'refused, nothing runs',
    text: ran(name),
    extension: 'js',
    html,
    async judge({ page, statuses }, path) {
      await verdict.poll(() => statuses.get(path), name).toBe(200);
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
      verdict(outcome, name).toBe('refused');
    },
  };
});

const styleInjections = (
  [
    [
      'a link to a style sheet by its path',
      (file) => `<link rel="stylesheet" href="/ant/%HOSTILE%/${file}">`,
    ],
    [
      'a link to a style sheet by its address',
      (file) => `<link rel="stylesheet" href="ant://%HOSTILE%/${file}">`,
    ],
    ['an import in a style element', (file) => `<style>@import "/ant/%HOSTILE%/${file}";</style>`],
    [
      'a link in a srcdoc frame',
      (file) => `<iframe srcdoc='<link rel="stylesheet" href="/ant/%HOSTILE%/${file}">'></iframe>`,
    ],
  ] satisfies [string, Injection['html']][]
).map(([what, html]): Injection => {
  const name = `${what} styles the site with a file of an address`;
  return {
    name,
    outcome: 'refused',
    ...(what === 'a link to a style sheet by its path' && everywhere),
    text: 'html { %PROPERTY%: yes }',
    extension: 'css',
    html,
    async judge({ page, statuses }, path) {
      await verdict.poll(() => statuses.get(path), name).toBe(failed);
      const property = propertyOf(path.split('/').at(-1)!);
      const values = await Promise.all(
        page
          .frames()
          .filter((frame) => frame.url() === page.url() || frame.url() === 'about:srcdoc')
          .map((frame) =>
            frame.evaluate(
              (property) => getComputedStyle(document.documentElement).getPropertyValue(property),
              property,
            ),
          ),
      );
      verdict(values.join(''), name).toBe('');
    },
  };
});

const plugInInjections = (
  [
    ['an object', (file) => `<object data="/ant/%HOSTILE%/${file}" type="text/html"></object>`],
    ['an embed', (file) => `<embed src="/ant/%HOSTILE%/${file}" type="text/html">`],
  ] satisfies [string, Injection['html']][]
).map(([what, html]): Injection => {
  const name = `${what} shows a page of an address`;
  return {
    name,
    outcome: 'refused',
    text: '<!doctype html><title>Plain</title>',
    extension: 'html',
    html,
    async judge({ host, statuses }, path) {
      // Browsers ask the host for it, past every worker.
      await verdict.poll(() => statuses.get(path), name).toBe(404);
      verdict(host.requests, name).toContain(path);
    },
  };
});

const manifestInjection: Injection = {
  name: 'a link claims the site’s app id with a manifest of an address',
  outcome: 'refused',
  text: '{"id":"/","scope":"/","name":"Hostile","start_url":"/ant/x/"}',
  extension: 'webmanifest',
  html: (file) => `<link rel="manifest" href="/ant/%HOSTILE%/${file}">`,
  async judge({ page }, path) {
    verdict(await manifestOf(page), this.name).not.toContain('Hostile');
    // Nor is it in the browser because it was asked for as data.
    verdict((await fetchIn(page, path)).status, this.name).toBe(200);
    verdict(await manifestOf(page), this.name).not.toContain('Hostile');
  },
};

const frameInjection: Injection = {
  name: 'a frame without a sandbox shows a page of an address that has scripts',
  outcome: 'shown without scripts',
  text: `<!doctype html><script>${ran('frame')}</script><p id="shown" onclick="${ran('handler')}">Shown</p>`,
  extension: 'html',
  html: (file) => `<iframe src="/ant/%HOSTILE%/${file}"></iframe>`,
  async judge({ page, host, ran: scripts }, path) {
    const frame = page.frames().find((each) => each.url() === host.url + path)!;
    await frame.locator('#shown').click();
    verdict(scripts, this.name).toEqual([]);
  },
};

const injections = [
  ...scriptInjections,
  ...knownInjections,
  ...styleInjections,
  ...plugInInjections,
  manifestInjection,
  frameInjection,
];

attacks(injection, 'HTML loads files of an address', injections, async () => {
  const fileOf = ({ extension }: Injection, i: number) => `${i}.${extension}`;
  const files = injections.map((each, i) => [
    fileOf(each, i),
    each.text.replace('%PROPERTY%', propertyOf(fileOf(each, i))),
  ]);
  const visit = await visitSite({
    files: Object.fromEntries(files),
    pages: { '/injected.html': injections.map((each, i) => each.html(fileOf(each, i))).join('\n') },
  });
  await open(visit.page, `${visit.host.url}/injected.html`);
  for (const [i, each] of injections.entries()) {
    await each.judge(visit, `/ant/${visit.hostile}/${fileOf(each, i)}`);
  }
  expect(visit.ran).toEqual([]);
});

const parameters = [
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
] as const;

const nameOfParameter = (what: string) => `a parameter of the site names a file of an address for ${what}`;

attacks(
  injection,
  'a parameter of the site names a file of an address',
  parameters.map(([what]) => ({ name: nameOfParameter(what), outcome: 'refused, nothing runs' })),
  async () => {
    const { page, host, hostile, ran } = await visitSite();
    await openIndex(page, host);
    const outcomes = await Promise.all(
      parameters.map(([, file, load]) =>
        page.evaluate(`(${load})('/ant/${hostile}/${file}').then(() => 'loaded', () => 'refused')`),
      ),
    );
    for (const [i, [what]] of parameters.entries()) {
      verdict(outcomes[i], nameOfParameter(what)).toBe('refused');
    }
    expect(ran).toEqual([]);
  },
);

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

const accountPage = `<form method="post" action="/transfer"><button id="transfer">Transfer</button></form>
  <button id="scripted">Transfer</button><script src="/account.js"></script>`;
const account = {
  '/account.html': accountPage,
  '/account.js': `document.getElementById('scripted').onclick = () => fetch('/transfer', { method: 'POST' });
    fetch('/account-ran');`,
};

/** Ways for a page to request a URL of the site that shows it. */
const siteRequests: readonly [what: string, html: (url: string) => string][] = [
  ['a picture', (url) => `<img src="${url}">`],
  ['a picture by srcset', (url) => `<img srcset="${url} 1x">`],
  ['a frame', (url) => `<iframe src="${url}"></iframe>`],
  ['an object', (url) => `<object data="${url}"></object>`],
  ['a film', (url) => `<video src="${url}"></video>`],
  ['captions', (url) => `<video src="film.webm"><track default src="${url}"></video>`],
  ['a background', (url) => `<body style="background: url(${url})">`],
  [
    'a font',
    (url) => `<style>@font-face { font-family: x; src: url(${url}) } p { font-family: x }</style><p>Text`,
  ],
  ['a style sheet', (url) => `<link rel="stylesheet" href="${url}">`],
  ['an icon', (url) => `<link rel="icon" href="${url}">`],
  ['a prefetch', (url) => `<link rel="prefetch" href="${url}">`],
  ['a preload', (url) => `<link rel="preload" as="image" href="${url}">`],
  ['a refresh', (url) => `<meta http-equiv="refresh" content="0;url=${url}">`],
  ['a frame in a frame with a document of its own', (url) => `<iframe srcdoc='<img src="${url}">'></iframe>`],
  ['a file of its own by a path that leaves it', (url) => `<img src="x/../../..${url}">`],
];

const nameOfRequest = (what: string) => `${what} requests a URL of the site, with the visitor’s cookies`;

const framesAccount = {
  name: 'a page frames the site’s account page, which forbids it to others, for a click',
  outcome: 'not framed',
  ...everywhere,
};
const claimsApp = { name: 'a page claims the site’s app id with its manifest', outcome: 'no manifest' };
const showsOthers = {
  name: 'a page shows pictures and frames of another address',
  outcome: 'not requested',
};

attacks(
  embedded,
  'a page requests URLs of the site and of another address',
  [
    ...siteRequests.map(([what]) => ({ name: nameOfRequest(what), outcome: 'not requested' })),
    framesAccount,
    claimsApp,
    showsOthers,
  ],
  async () => {
    const urlOf = (number: number) => `/logout-${number}`;
    const other = await publishArchive({
      'index.html': 'Other',
      'style.css': 'p { color: red }',
      'a.svg': hostileFiles['picture.svg']!,
    });
    const all = siteRequests.map(([, html], i) => html(urlOf(i))).join('\n');
    const { page, host, hostile, statuses } = await visitSite({
      files: {
        'index.html': `<!doctype html>${all}<img id="own" src="picture.svg"><iframe src="/account.html"></iframe>
          <link rel="manifest" href="app.webmanifest"><img src="../${other}/a.svg"><iframe src="../${other}/"></iframe>
          <link rel="stylesheet" href="../${other}/style.css">`,
      },
      pages: { ...account, '/embedding.html': '<div data-ant-embed="ant://%HOSTILE%/"></div>' },
    });
    await open(page, `${host.url}/embedding.html`);
    const inFrame = page.frameLocator('iframe').locator('#own');
    await expect.poll(() => inFrame.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(30);
    await open(page, `${host.url}/ant/${hostile}/`);
    await expect
      .poll(() => page.locator('#own').evaluate((image: HTMLImageElement) => image.naturalWidth))
      .toBe(30);
    for (const [i, [what]] of siteRequests.entries()) {
      verdict(host.requests, nameOfRequest(what)).not.toContain(urlOf(i));
    }
    verdict(host.requests, framesAccount.name).not.toContain('/account.html');
    verdict(await manifestOf(page), claimsApp.name).not.toContain('Hostile');
    verdict(statuses.get(`/ant/${hostile}/app.webmanifest`) ?? failed, claimsApp.name).toBe(failed);
    const shown = [...statuses].filter(([path, status]) => path.includes(other) && status < 400);
    verdict(shown, showsOthers.name).toEqual([]);
  },
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

/** Where a refresh leads the frame of a page. */
const refreshes = [
  ['to the site’s account page', '/account.html'],
  ['to a script', `javascript:${ran('refresh')}`],
  ['within the frame’s own address', 'plain.html'],
] as const;

const nameOfRefresh = (where: string) => `a refresh leads an embedded page’s frame ${where}`;

attacks(
  embedded,
  'a refresh leads an embedded page’s frame away',
  refreshes.map(([where]) => ({
    name: nameOfRefresh(where),
    outcome: 'the frame stays',
    ...(where.includes('account') && { alsoIn: ['Firefox'] as const }),
  })),
  async () => {
    const files = refreshes.map(([, url], i) => [
      `${i}.html`,
      `<!doctype html><meta http-equiv="refresh" content="0;url=${url}"><img id="own" src="picture.svg">`,
    ]);
    const {
      page,
      host,
      ran: scripts,
    } = await visitSite({
      files: Object.fromEntries(files),
      pages: {
        ...account,
        '/embedding.html': refreshes
          .map((_, i) => `<div data-ant-embed="ant://%HOSTILE%/${i}.html"></div>`)
          .join(''),
        '/refreshing.html': '<meta http-equiv="refresh" content="0;url=/refreshed.html">',
      },
    });
    await open(page, `${host.url}/embedding.html`);
    const own = (i: number) => page.frameLocator('iframe').nth(i).locator('#own');
    for (const i of refreshes.keys()) await expect(own(i)).toBeVisible();
    // A page of the site that is loaded after those has led on by its refresh.
    const later = await page.context().newPage();
    await later.goto(`${host.url}/refreshing.html`);
    await later.waitForURL('**/refreshed.html');
    for (const [i, [where]] of refreshes.entries()) {
      await verdict(own(i), nameOfRefresh(where)).toBeVisible();
    }
    expect(host.requests).not.toContain('/account.html');
    expect(scripts).toEqual([]);
  },
);

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
