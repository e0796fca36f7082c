import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { build } from 'vite';
import type { Antway as InPage } from '../../src/drop-in/antway.ts';
import { test as base, errorCode, expect, fetchIn, hardReload, stopWorkers } from '../support/chromium.ts';
import {
  dropInFolder,
  lookAtPlainSite,
  type Published,
  pageText,
  publishContent,
  serveSite,
} from '../support/embedding-site.ts';
import { fromRoot } from '../support/paths.ts';
import { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import { StaticHost, type StaticHostOptions } from '../support/static-host.ts';

declare const Antway: InPage;

/** Width in pixels. */
const crab = 720;

interface Content {
  peer: PeerProcess;
  published: Published;
}

interface Fixtures extends Content {
  /** Whether the test has a peer of its own, which it may end. */
  endsPeer: boolean;
  /** Serves folders of `tests/sites/embedding` with the drop-in's files beside theirs. */
  serve(folder: string | string[], options?: Partial<StaticHostOptions>): Promise<StaticHost>;
}

const test = base.extend<Fixtures, { shared: Content }>({
  shared: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern what a fixture needs
    async ({}, use) => {
      const peer = await PeerProcess.start();
      await use({ peer, published: await publishContent(peer) });
      await peer.stop();
    },
    { scope: 'worker' },
  ],
  endsPeer: [false, { option: true }],
  peer: async ({ endsPeer, shared, startPeer }, use) => use(endsPeer ? await startPeer() : shared.peer),
  published: async ({ endsPeer, shared, peer }, use) =>
    use(endsPeer ? await publishContent(peer) : shared.published),
  serve: async ({ peer, published }, use) => {
    const hosts: StaticHost[] = [];
    await use(async (folder, options) => {
      const paths = [folder]
        .flat()
        .map((name) => (name.startsWith('/') ? name : `tests/sites/embedding/${name}`));
      const host = await serveSite(paths, published, peer.url, options);
      hosts.push(host);
      return host;
    });
    await Promise.all(hosts.map((host) => host.stop()));
  },
});

const ready = (page: Page) => page.evaluate(() => Antway.ready);

/** The error that `Antway.ready` rejects with. */
const problemIn = (page: Page) =>
  page.evaluate(() =>
    Antway.ready.then(
      () => null,
      ({ code, key, message }) => ({ code, key, message }),
    ),
  );

/** Waits until the page's picture with this `src` is loaded. */
async function expectPicture(page: Page, selector = 'img', width = crab): Promise<void> {
  await expect
    .poll(() => page.locator(selector).evaluate((image: HTMLImageElement) => image.naturalWidth))
    .toBe(width);
}

const withScript = (attributes: string, body = '') =>
  `<!doctype html><title>Page</title><script src="antway.js" ${attributes}></script>${body}`;

for (const [where, base] of [
  ['at the root of its host', '/'],
  ['on a sub-path', '/repo/'],
] as const) {
  test(`a plain site ${where} shows content by every kind of address at the first visit`, {
    tag: base === '/' ? '@full' : [],
  }, async ({ page, published, serve }) => {
    const host = await serve('plain', { base });
    await page.goto(host.url + base);
    const report = await page.evaluate(lookAtPlainSite, published.picture);
    const { site, picture } = published;
    const background = `url("${host.url}${base}ant/${site}/assets/img/crab.png")`;
    expect(report).toMatchObject({
      isControlled: true,
      pictures: { prefixed: crab, linked: crab, responsive: crab, tagged: crab },
      film: expect.any(Number),
      links: [`${base}ant/${site}/tides.html`, `${base}ant/${picture}?filename=crab.png&download=`],
      backgrounds: Array(4).fill(background),
      embedded: pageText,
      fetched: { status: 200 },
    });
    expect(report.film).toBeGreaterThan(0);
    expect(report.requests).toBeGreaterThan(0);
    // Of content, only what stood in the page by its path before there was a worker was asked of the host.
    const asked = host.requests.filter((path) => path.startsWith(`${base}ant/`));
    expect(new Set(asked)).toEqual(new Set([`${base}ant/${site}/assets/img/crab.png`]));
  });
}

test('content that the page adds or changes later shows too', { tag: '@smoke' }, async ({
  page,
  published,
  serve,
}) => {
  const host = await serve('plain');
  await page.goto(host.url);
  await ready(page);
  await page.evaluate(({ site, picture }) => {
    document.body.insertAdjacentHTML(
      'beforeend',
      `<p><img id="added" src="ant://${site}/assets/img/pool.jpg"></p>`,
    );
    document.getElementById('linked')!.setAttribute('src', `autonomi://${site}/assets/img/pool.jpg`);
    document.getElementById('tagged')!.dataset.antSrc = `ant://${site}/assets/img/pool.jpg`;
    const style = document.createElement('style');
    style.textContent = `h1 { background-image: url("ant://${picture}") }`;
    document.head.append(style);
  }, published);
  for (const id of ['added', 'linked', 'tagged']) await expectPicture(page, `#${id}`, 640);
  await expect
    .poll(() => page.locator('h1').evaluate((heading) => getComputedStyle(heading).backgroundImage))
    .toBe(`url("${host.url}/ant/${published.picture}")`);
});

test('a content address inside another URL stays as it is', { tag: '@full' }, async ({
  page,
  peer,
  published,
  serve,
}) => {
  const { picture } = published;
  const others = [
    `https://gw.example/#ant://${picture}`,
    `https://t.me/share?url=ant://${picture}`,
    `web+ant://${picture}/x`,
  ];
  const body = `${others.map((href) => `<a href="${href}">Elsewhere</a>`).join('')}<a href=" ant://${picture}">`;
  const host = await serve('plain', {
    files: { '/index.html': withScript(`data-peers="${peer.url}"`, body) },
  });
  await page.goto(host.url);
  await ready(page);
  expect(
    await page.locator('a').evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
  ).toEqual([...others, ` ${host.url}/ant/${picture}`]);
});

test('an element shows its content once its address is corrected, and its note disappears', {
  tag: '@full',
}, async ({ page, peer, published, serve }) => {
  const body = `<p><img id="template" src="ant://{{a}}" alt="A crab"><img id="hidden" hidden src="ant://{{b}}">
    <a id="link" href="ant://{{c}}" title="Its own">Link</a><img id="elsewhere" src="ant://{{d}}">
    <div id="frame" data-ant-embed="ant://{{e}}"></div>`;
  const host = await serve('plain', {
    files: { '/index.html': withScript(`data-peers="${peer.url}"`, body) },
  });
  await page.goto(host.url);
  await ready(page);
  await expect(page.getByRole('note')).toHaveCount(4);
  await expect(page.locator('#template')).toBeHidden();
  await expect(page.locator('#link')).toHaveAttribute('title', /is not a content address/);
  await page.evaluate(({ picture, page }) => {
    const set = (id: string, name: string, value: string) =>
      document.getElementById(id)!.setAttribute(name, value);
    set('template', 'src', 'ant://{{still wrong}}');
    set('template', 'src', `ant://${picture}`);
    set('hidden', 'src', `ant://${picture}`);
    set('link', 'href', `ant://${picture}`);
    set('elsewhere', 'src', 'data:,');
    set('frame', 'data-ant-embed', `ant://${page}`);
  }, published);
  await expectPicture(page, '#template');
  await expect(page.locator('#template')).toBeVisible();
  // Hidden by the site itself.
  await expect(page.locator('#hidden')).toBeHidden();
  await expect(page.locator('#link')).toHaveAttribute('title', 'Its own');
  await expect(page.locator('#elsewhere')).not.toHaveAttribute('hidden');
  await expect(page.frameLocator('#frame iframe').locator('#text')).toHaveText(pageText);
  await expect(page.getByRole('note')).toHaveCount(0);
  await expect(page.locator('.antway-unavailable')).toHaveCount(0);
});

test('imported style sheets and shorthands with variables show content', { tag: '@full' }, async ({
  page,
  peer,
  published,
  serve,
}) => {
  const image = (name: string) => `url("ant://${published.site}/assets/img/crab.png?${name}")`;
  const ids = ['imported', 'within', 'varied', 'inline', 'later'];
  const files = {
    '/index.html': withScript(
      `data-peers="${peer.url}"`,
      `<link rel="stylesheet" href="outer.css"><p id="imported">1<p id="within">2<p id="varied">3
       <p id="inline" style='--at: center; background: ${image('inline')} var(--at)'>4<p id="later">5<p id="wrong">6`,
    ),
    '/outer.css': `@layer base; @import "inner/sheet.css" layer(base); #wrong { background: url("ant://is wrong") }`,
    '/inner/sheet.css': `@import url(deeper.css); #imported { background-image: ${image('imported')} }`,
    '/inner/deeper.css': `@media all { #within { background-image: ${image('within')} } }
      #varied { --at: center; background: ${image('varied')} var(--at) !important }`,
    '/later.css': `#later { background-image: ${image('later')} }`,
  };
  const host = await serve('plain', { files });
  await page.goto(host.url);
  await ready(page);
  await page.evaluate(() => {
    document.head.insertAdjacentHTML('beforeend', '<style>@import "later.css";</style>');
  });
  for (const id of ids) {
    await expect
      .poll(() => page.locator(`#${id}`).evaluate((element) => getComputedStyle(element).backgroundImage))
      .toBe(`url("${host.url}/ant/${published.site}/assets/img/crab.png?${id}")`);
  }
});

test('content requested from the host before the worker controls the page is loaded again', {
  tag: '@full',
}, async ({ page, peer, published, serve }) => {
  const captions = await publish(
    new TextEncoder().encode('WEBVTT\n\n00:00.000 --> 00:09.000\nWaves\n'),
    peer,
  );
  const url = (name: string) => `/ant/${published.picture}?${name}`;
  const files = {
    '/index.html': withScript(
      `data-peers="${peer.url}"`,
      `<link rel="stylesheet" href="style.css"><style>@font-face { font-family: crab; src: url(${url('font')}) }</style>
       <p id="sheet">1<p id="imported">1<p style="background: url(${url('inline')})">2<p style="font-family: crab">3
       <img src="${url('img')}"><img srcset="${url('srcset')} 1x"><input type="image" src="${url('input')}">
       <svg><image href="${url('image')}" width="9" height="9"/></svg>
       <video poster="${url('poster')}" src="/ant/${published.site}/media/waves.webm">
       <track default src="/ant/${captions}"></video>`,
    ),
    '/style.css': `@import "more.css"; #sheet { background: ${'url(ant/%?sheet), url(ant://%?address)'.replaceAll('%', published.picture)} }`,
    '/more.css': `#imported { background-image: url(ant/${published.picture}?imported) }`,
  };
  const host = await serve('plain', { files });
  await page.goto(host.url);
  await ready(page);
  const loaded = () =>
    page.evaluate(() => {
      const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      const ok = entries.filter(
        ({ name, responseStatus }) => /\/ant\/.*\?/.test(name) && responseStatus === 200,
      );
      return [...new Set(ok.map(({ name }) => new URL(name).search.slice(1)))].sort();
    });
  await expect
    .poll(loaded)
    .toEqual(['address', 'font', 'image', 'img', 'imported', 'inline', 'input', 'poster', 'sheet', 'srcset']);
  for (const name of ['src', 'srcset']) await expectPicture(page, `img[${name}]`);
  const media = () =>
    page
      .locator('video')
      .evaluate((video: HTMLVideoElement) => [
        video.videoWidth > 0,
        video.querySelector('track')!.readyState,
      ]);
  await expect.poll(media).toEqual([true, 2]);
});

test('a page with its base on another origin shows content', { tag: '@full' }, async ({
  page,
  peer,
  published,
  serve,
}) => {
  const body = `<base href="https://cdn.example/"><img src="ant://${published.picture}">
    <p style="background: url(ant://${published.picture})">Drawn</p>`;
  const host = await serve('plain', {
    files: { '/index.html': withScript(`data-peers="${peer.url}"`, body) },
  });
  await page.goto(host.url);
  await ready(page);
  await expectPicture(page);
  const url = `${host.url}/ant/${published.picture}`;
  expect(await page.locator('p').evaluate((p) => getComputedStyle(p).backgroundImage)).toBe(`url("${url}")`);
  const fetched = await page.evaluate(async (address) => {
    const response = await Antway.fetch(address);
    return [response.url, response.status, (await Antway.stats()).requests.total > 0];
  }, published.picture);
  expect(fetched).toEqual([url, 200, true]);
});

test('a link with the attribute “download” saves the file, under its name', { tag: '@full' }, async ({
  page,
  peer,
  published,
  serve,
}) => {
  const body = `<a href="ant://${published.site}/notes/counts.csv" download>Counts</a>
    <a href="ant://${published.picture}" download="a crab.png">A crab</a>`;
  const files = { '/index.html': withScript(`data-peers="${peer.url}"`, body) };
  const host = await serve('plain', { files });
  await page.goto(host.url);
  await ready(page);
  for (const [link, name, file] of [
    ['Counts', 'counts.csv', 'notes/counts.csv'],
    ['A crab', 'a crab.png', 'assets/img/crab.png'],
  ] as const) {
    const saving = page.waitForEvent('download');
    await page.getByRole('link', { name: link }).click();
    const download = await saving;
    expect(download.suggestedFilename()).toBe(name);
    expect(await download.failure()).toBeNull();
    expect(readFileSync(await download.path())).toEqual(readFileSync(fromRoot(`tests/sites/sample/${file}`)));
  }
});

test('content shows in shadow roots and through their adopted style sheets', { tag: '@full' }, async ({
  page,
  published,
  serve,
}) => {
  const host = await serve('plain');
  await page.goto(host.url);
  await ready(page);
  await page.evaluate(({ site }) => {
    const inside = `<img src="ant://${site}/assets/img/crab.png" alt="">`;
    // One that is in the page before its element is defined, one that comes whole, and one in the shadow of another.
    document.body.insertAdjacentHTML('beforeend', '<crab-later></crab-later>');
    const define = (name: string, html: string, mode: ShadowRootMode = 'open') =>
      customElements.define(
        name,
        class extends HTMLElement {
          constructor() {
            super();
            const root = this.attachShadow({ mode });
            root.innerHTML = html;
            if (mode === 'closed') Antway.watch(root);
            Object.assign(this, { inside: root });
          }
        },
      );
    define('crab-whole', inside);
    define('crab-nested', '<p><crab-whole></crab-whole></p>');
    define('crab-closed', inside, 'closed');
    document.body.insertAdjacentHTML('beforeend', '<crab-nested></crab-nested><crab-closed></crab-closed>');
    define('crab-later', `${inside}<b>Behind</b>`);
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`b { background-image: url("ant://${site}/assets/img/crab.png") }`);
    document.querySelector('crab-later')!.shadowRoot!.adoptedStyleSheets = [sheet];
    // The script sees later additions to a shadow root as well, and with them the sheet.
    document.querySelector('crab-later')!.shadowRoot!.append(document.createElement('hr'));
  }, published);
  await expectPicture(page, 'crab-later img');
  await expectPicture(page, 'crab-nested crab-whole img');
  const inClosed = () =>
    page
      .locator('crab-closed')
      .evaluate(
        (host) => (host as unknown as { inside: ShadowRoot }).inside.querySelector('img')!.naturalWidth,
      );
  await expect.poll(inClosed).toBe(crab);
  await expect
    .poll(() => page.locator('crab-later b').evaluate((b) => getComputedStyle(b).backgroundImage))
    .toBe(`url("${host.url}/ant/${published.site}/assets/img/crab.png")`);
});

test('content of an address runs no scripts on the site’s origin, and reaches no endpoint of the worker', async ({
  page,
  published,
  serve,
}) => {
  const host = await serve('plain');
  await page.goto(host.url);
  await ready(page);
  await page.goto(`${host.url}/ant/${published.page}`);
  await expect(page.locator('#text')).toHaveText(pageText);
  // The policy lets such a page ask nothing at all.
  await expect(fetchIn(page, '/ant/-/stats')).rejects.toThrow('Failed to fetch');
  // Nor can a visitor be talked into letting it: the site's owner decides.
  await page.goto(host.url);
  const trust = await fetchIn(page, '/ant/-/trust');
  expect([trust.status, errorCode(trust)]).toEqual([403, 'REFUSED']);
  expect((await fetchIn(page, '/ant/-/health')).status).toBe(200);
});

test.describe('on a site whose router swaps pages', () => {
  /** Whether the page is still the document that it was. */
  const mark = (page: Page) => page.evaluate(() => void Object.assign(globalThis, { isSame: true }));
  const isSame = (page: Page) => page.evaluate(() => 'isSame' in globalThis);

  for (const link of ['By its address', 'By its path']) {
    test(`the browser follows links to content: ${link}`, {
      tag: link === 'By its path' ? '@full' : [],
    }, async ({ page, published, serve }) => {
      const host = await serve('router');
      await page.goto(host.url);
      await ready(page);
      await mark(page);
      await page.getByRole('link', { name: link }).click();
      await expect(page).toHaveURL(`${host.url}/ant/${published.page}`);
      await expect(page.locator('#text')).toHaveText(pageText);
      expect(await isSame(page)).toBe(false);
    });
  }

  test('the router swaps its own pages, and links are marked only while they lead to content', {
    tag: '@full',
  }, async ({ page, serve }) => {
    const host = await serve('router');
    await page.goto(host.url);
    await ready(page);
    await expect(page.getByRole('link', { name: 'By its address' })).toHaveAttribute(
      'rel',
      'nofollow external',
    );
    // One that leads elsewhere later is the router's again.
    const link = page.getByRole('link', { name: 'By its address' });
    await expect(link).toHaveAttribute('data-turbo', 'false');
    await link.evaluate((element) => element.setAttribute('href', 'other.html'));
    await expect(link).toHaveAttribute('rel', 'nofollow');
    await expect(link).not.toHaveAttribute('data-turbo');
    await mark(page);
    await link.click();
    await expect(page.locator('#text')).toHaveText('Another page, and its script ran');
    expect(await isSame(page)).toBe(true);
  });

  test('the worker gives a router data of an address, but no page', async ({ page, published, serve }) => {
    const host = await serve('router');
    await page.goto(host.url);
    await ready(page);
    const visit = (path: string, headers: Record<string, string> = {}) =>
      page.evaluate(
        ([path, headers]) =>
          (globalThis as unknown as { visit(path: string, headers: object): Promise<number> }).visit(
            path,
            headers,
          ),
        [path, headers] as const,
      );
    expect(await visit(`/ant/${published.page}?filename=page.html`)).toBe(403);
    await expect(page.locator('body')).toContainText('REFUSED');
    // These take any type for a page.
    const counts = `/ant/${published.site}/notes/counts.csv`;
    expect(await visit(counts, { 'HX-Request': 'true' })).toBe(403);
    expect(await visit(counts, { Accept: 'text/html, application/xhtml+xml' })).toBe(403);
    expect(await visit(`/ant/${published.site}/`)).toBe(403);
    expect(await page.getByText('It ran a script').count()).toBe(0);
    // A router that swaps errors too gets no markup by them.
    expect(await visit(`/ant/${published.site}/<b>x`)).toBe(404);
    await expect(page.locator('body')).toContainText('NOT_FOUND');
    await expect(page.locator('b')).toHaveCount(0);

    expect((await fetchIn(page, counts)).status).toBe(200);
    expect((await fetchIn(page, `/ant/${published.site}/?format=json`)).status).toBe(200);
    const fetched = await page.evaluate(async (address) => {
      const response = await Antway.fetch(address, 'page.html', { headers: { Range: 'bytes=0-8' } });
      return [response.status, await response.text()];
    }, published.page);
    expect(fetched).toEqual([206, '<!doctype']);
  });
});

test('an address runs scripts if the site’s configuration trusts it', { tag: '@full' }, async ({
  page,
  peer,
  published,
  serve,
}) => {
  const attributes = `data-peers="${peer.url}" data-trusted="${published.page}"`;
  const host = await serve('plain', { files: { '/index.html': withScript(attributes) } });
  await page.goto(host.url);
  await ready(page);
  await page.goto(`${host.url}/ant/${published.page}`);
  await expect(page.locator('#text')).toHaveText('It ran a script');
  // So may a router put it into the site's own document.
  await page.goto(host.url);
  expect((await fetchIn(page, `/ant/${published.page}`)).status).toBe(200);
});

test('links in an archive’s pages, listings and errors stay below the prefix', { tag: '@full' }, async ({
  page,
  published,
  serve,
}) => {
  const host = await serve('plain', { base: '/repo/' });
  await page.goto(`${host.url}/repo/`);
  await ready(page);
  await page.goto(`${host.url}/repo/ant/${published.site}`);
  await expect(page).toHaveURL(`${host.url}/repo/ant/${published.site}/`);
  await page.getByRole('link', { name: 'Tides' }).first().click();
  await expect(page).toHaveURL(`${host.url}/repo/ant/${published.site}/tides.html`);
  await page.goto(`${host.url}/repo/ant/${published.site}/notes/`);
  await page.getByRole('link', { name: 'counts.csv' }).waitFor();
  await page.goto(`${host.url}/repo/ant/${'ab'.repeat(20)}abcdefabcdef`);
  await expect(page.getByText('BAD_ADDRESS')).toBeVisible();
  await expect(page.getByRole('link', { name: /^Back to / })).toHaveAttribute('href', '/repo/');
});

for (const [attributes, key] of [
  ['data-peer="https://peer.example"', 'data-peer'],
  ['data-peers="peer.example"', 'peers[0]'],
  ['data-peers="https://peer.example" data-cache-max-bytes="lots"', 'cache.maxBytes'],
  ['data-peers="https://peer.example" data-names="docs"', 'names.docs'],
  ['data-peers="https://peer.example" data-isolation="subdomain"', 'isolation'],
  ['data-peers="https://peer.example" data-prefix="/elsewhere"', 'prefix'],
  ['', 'peers'],
] as const) {
  test(`a script element with ${attributes || 'no attribute at all'} logs the wrong attribute: ${key}`, {
    tag: key === 'data-peer' ? [] : '@full',
  }, async ({ page, serve }) => {
    const host = await serve('plain', { files: { '/index.html': withScript(attributes) } });
    const inConsole = page.waitForEvent(
      'console',
      (message) => message.type() === 'error' && message.text().startsWith('Antway: '),
    );
    await page.addInitScript(() => {
      document.addEventListener('antway:error', (event) => {
        Object.assign(globalThis, { heard: (event as CustomEvent).detail.key });
      });
    });
    await page.goto(host.url);
    expect(await problemIn(page)).toMatchObject({ code: 'BAD_CONFIG', key });
    expect(await page.evaluate(() => (globalThis as unknown as { heard: string }).heard)).toBe(key);
    expect((await inConsole).text()).toContain(key.replace(/\[.*/, ''));
  });
}

test('every key of the configuration has an attribute that the worker obeys', { tag: '@full' }, async ({
  page,
  peer,
  published,
  serve,
}) => {
  const attributes = [
    `data-peers="${peer.url} https://other.example"`,
    `data-names="low-tide=${published.site} crab=${published.picture}"`,
    `data-denied="${published.page}"`,
    `data-trusted="${published.site}"`,
    'data-transport="http" data-use-peers-of-peers data-isolation="path"',
    'data-cache-max-bytes="123456789" data-cache-memory-bytes="1000000"',
  ].join(' ');
  const host = await serve('plain', {
    files: { '/index.html': withScript(attributes, '<img src="ant://crab">') },
  });
  await page.goto(host.url);
  await ready(page);
  await expectPicture(page);
  const config = JSON.parse((await fetchIn(page, '/ant/-/config')).text);
  expect(config).toMatchObject({
    peers: [peer.url, 'https://other.example'],
    names: { 'low-tide': published.site, crab: published.picture },
    denied: [published.page],
    trusted: [published.site],
    transport: 'http',
    usePeersOfPeers: true,
    cache: { maxBytes: 123456789, memoryBytes: 1000000 },
  });
  expect((await fetchIn(page, `/ant/${published.page}`)).status).toBe(451);
});

test('the site’s antway.json is effective without attributes', { tag: '@full' }, async ({
  page,
  peer,
  published,
  serve,
}) => {
  const files = {
    // Of a tool that loads scripts.
    '/repo/index.html': withScript(
      'data-nscript="afterInteractive" data-cfasync="false"',
      `<img src="ant://${published.picture}">`,
    ),
    '/repo/antway.json': JSON.stringify({ peers: [peer.url] }),
  };
  const host = await serve('plain', { base: '/repo/', files });
  const warning = page.waitForEvent('console', (message) => message.type() === 'warning');
  await page.goto(`${host.url}/repo/`);
  await ready(page);
  await expectPicture(page);
  expect((await warning).text()).toContain('data-nscript, data-cfasync');
  expect(host.requests).toContain('/repo/antway.json');
});

test('a strict content security policy, as documented, is enough', async ({
  page,
  peer,
  published,
  serve,
}) => {
  const policy = [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self'",
    "img-src 'self'",
    "media-src 'self'",
    "frame-src 'self'",
    "worker-src 'self'",
    `connect-src 'self' https: ${peer.url}`,
  ].join('; ');
  const host = await serve('plain', {
    headers: { 'Content-Security-Policy': policy },
    files: {
      '/index.html': withScript(
        `data-peers="${peer.url}"`,
        `<img data-ant-src="ant://${published.picture}"><div data-ant-embed="ant://${published.page}" data-ant-type="text/html"></div>`,
      ),
    },
  });
  const violations: string[] = [];
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) violations.push(message.text());
  });
  await page.goto(host.url);
  await ready(page);
  await expectPicture(page);
  await expect(page.frameLocator('iframe').locator('#text')).toHaveText(pageText);
  // The embedded page's own script is what the gateway's policy is there to refuse.
  expect(
    violations.filter((text) => !text.includes("script-src 'none'") && !text.includes('sandbox')),
  ).toEqual([]);
});

test.describe('where no service worker can run', () => {
  const insecure = (host: StaticHost) => host.url.replace('127.0.0.1', 'insecure.test');

  test('content comes from the gateway that the site names', async ({ page, peer, published, serve }) => {
    // A static host with the one file at the path that a gateway would have it at.
    const standIn = await StaticHost.start({
      folders: [],
      files: { [`/${published.picture}`]: readFileSync(fromRoot('tests/sites/sample/assets/img/crab.png')) },
      headers: { 'Content-Type': 'image/png' },
    });
    const { picture } = published;
    const body = `<img id="linked" src="ant://${picture}"><img id="prefixed" src="ant/${picture}">
      <img id="responsive" srcset="/ant/${picture}?size=1 1x, ant://${picture}?size=2 2x"><img id="named" src="ant://crab">
      <img id="namedPath" src="/ant/crab">
      <p id="drawn" style="background-image: url(ant/${picture})">Drawn</p>`;
    const attributes = `data-gateway="${insecure(standIn)}" data-peers="${peer.url}" data-names="crab=${picture}"`;
    const host = await serve('plain', { files: { '/index.html': withScript(attributes, body) } });
    await page.goto(insecure(host));
    await ready(page);
    for (const id of ['linked', 'prefixed', 'responsive', 'named', 'namedPath'])
      await expectPicture(page, `#${id}`);
    const elsewhere = `${insecure(standIn)}/${picture}`;
    await expect(page.locator('#responsive')).toHaveAttribute(
      'srcset',
      `${elsewhere}?size=1 1x, ${elsewhere}?size=2 2x`,
    );
    expect(await page.locator('#drawn').evaluate((drawn) => getComputedStyle(drawn).backgroundImage)).toBe(
      `url("${elsewhere}")`,
    );
    expect(await page.evaluate((address) => Antway.url(address), picture)).toBe(elsewhere);
    expect(await page.evaluate(() => Antway.url('crab'))).toBe(elsewhere);

    // Later elements lead there as well.
    await page.evaluate((address) => {
      document.body.insertAdjacentHTML('beforeend', `<img id="later" srcset="/ant/${address} 1x">`);
      document.getElementById('linked')!.setAttribute('src', `/ant/${address}?again`);
    }, picture);
    await expectPicture(page, '#later');
    await expect(page.locator('#linked')).toHaveAttribute('src', `${elsewhere}?again`);
    expect(
      host.requests.filter((path) => path.startsWith('/ant/') && ![picture, 'crab'].includes(path.slice(5))),
    ).toEqual([]);
    await standIn.stop();
  });

  test('the page says why content is missing if it names no gateway', { tag: '@full' }, async ({
    page,
    serve,
  }) => {
    const host = await serve('plain');
    await page.goto(insecure(host));
    expect(await problemIn(page)).toMatchObject({ code: 'INSECURE_CONTEXT' });
    await expect(page.getByRole('note').first()).toBeVisible();
    await expect(page.getByRole('note').first()).toContainText('This page did not come over https.');
    await expect(page.locator('#link')).toHaveAttribute('title', 'This page did not come over https.');
    // The text that the site's author wrote for this case stays.
    await expect(page.locator('#embedded')).toContainText('This page is on the Autonomi network.');
    const later = page.getByRole('note').filter({ hasText: 'Later' });
    for (const url of [`/ant/${'ab'.repeat(32)}`, `ant://${'ab'.repeat(32)}`]) {
      await page.evaluate((src) => {
        document.body.insertAdjacentHTML('beforeend', `<p><img id="later" src="${src}" alt="Later">`);
      }, url);
      await expect(later).toBeVisible();
      await page.locator('#later').evaluate((image) => image.parentElement!.remove());
    }
  });
});

test('a worker that the site already has is not replaced', { tag: '@full' }, async ({
  page,
  peer,
  serve,
}) => {
  const host = await serve('own-worker', {
    files: {
      '/other.html': withScript(`data-peers="${peer.url}"`),
    },
  });
  await page.goto(host.url);
  await ready(page);
  await page.goto(`${host.url}/other.html`);
  expect(await problemIn(page)).toMatchObject({ code: 'ANOTHER_WORKER' });
  expect(await page.evaluate(() => navigator.serviceWorker.controller?.scriptURL)).toBe(`${host.url}/sw.js`);
});

test('a site’s own worker answers content addresses with the imported handler', async ({
  page,
  peer,
  serve,
}) => {
  const before = await peer.chunksGiven();
  const host = await serve('own-worker');
  await page.goto(host.url);
  await ready(page);
  await expectPicture(page);
  expect((await fetchIn(page, '/own')).text).toBe('of the site’s own worker');
  expect(await page.evaluate(() => navigator.serviceWorker.controller?.scriptURL)).toBe(`${host.url}/sw.js`);
  expect(await peer.chunksGiven()).toBeGreaterThan(before);
});

test('a page logs that its site’s worker lacks the handler', { tag: '@full' }, async ({ page, serve }) => {
  const host = await serve('own-worker', {
    files: { '/sw.js': 'addEventListener("activate", (event) => event.waitUntil(clients.claim()));' },
  });
  await page.goto(host.url);
  expect(await problemIn(page)).toMatchObject({ code: 'HANDLER_MISSING' });
});

test('a page logs that its site registers no worker, and shows why content is missing', {
  tag: '@full',
}, async ({ page, serve }) => {
  // It takes longer than the drop-in waits for a worker to be registered.
  await page.clock.install();
  const host = await serve('own-worker', { files: { '/site.js': '' } });
  await page.goto(host.url);
  await page.clock.runFor(10_000);
  expect(await problemIn(page)).toMatchObject({ code: 'HANDLER_MISSING' });
  await expect(page.getByRole('note')).toContainText('This site has no worker');
});

test('content works once a site registers its own worker late', { tag: '@full' }, async ({ page, serve }) => {
  await page.clock.install();
  const register = readFileSync(fromRoot('tests/sites/embedding/own-worker/site.js'), 'utf8');
  const host = await serve('own-worker', {
    files: { '/site.js': `addEventListener('load', () => setTimeout(() => { ${register} }, 8_000));` },
  });
  await page.goto(host.url);
  await page.clock.runFor(8_000);
  await ready(page);
  await expectPicture(page);
});

/** The drop-in's files below another path than that of the site's other files. */
function dropInAt(path: string): Record<string, Buffer> {
  const names = readdirSync(dropInFolder).filter((name) => /antway.*\.(js|wasm)$/.test(name));
  return Object.fromEntries(names.map((name) => [path + name, readFileSync(join(dropInFolder, name))]));
}

test('a worker with a moved script takes over from the former worker', { tag: '@full' }, async ({
  page,
  peer,
  published,
  serve,
}) => {
  const withVersion = (name: string) =>
    `<!doctype html><script src="${name}/antway.js" data-scope="/" data-peers="${peer.url}"></script><img src="ant://${published.picture}">`;
  const files: Record<string, string | Buffer> = {
    ...dropInAt('/1/'),
    ...dropInAt('/2/'),
    '/index.html': withVersion('1'),
  };
  const host = await serve('plain', { files, headers: { 'Service-Worker-Allowed': '/' } });
  const script = () => page.evaluate(() => new URL(navigator.serviceWorker.controller!.scriptURL).pathname);
  for (const version of ['1', '2']) {
    files['/index.html'] = withVersion(version);
    await page.goto(host.url);
    await ready(page);
    await expectPicture(page);
    expect(await script()).toBe(`/${version}/antway-sw.js`);
  }
});

test('a site removes Antway from its visitors’ browsers', async ({ page, published, serve }) => {
  const files: Record<string, string> = {};
  const host = await serve('plain', { files });
  await page.goto(host.url);
  await ready(page);
  await page.evaluate(async (site) => {
    await Antway.pin(site);
    await caches.open('the-sites-own');
  }, published.site);
  files['/index.html'] = '<!doctype html><script src="antway-remove.js"></script>Without';
  await page.goto(host.url);
  const left = () =>
    page.evaluate(async () => ({
      workers: (await navigator.serviceWorker.getRegistrations()).length,
      caches: await caches.keys(),
      databases: (await indexedDB.databases()).map(({ name }) => name),
    }));
  await expect.poll(async () => (await left()).workers).toBe(0);
  // As long as it runs, it may open its databases again; the next visit deletes those.
  await stopWorkers(page);
  await page.reload();
  await expect.poll(left).toEqual({ workers: 0, caches: ['the-sites-own'], databases: [] });
});

test.describe('with a bundler', () => {
  let folder: string;

  test.beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'antway-site-'));
  });
  test.afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const alias = [
    { find: /^antway$/, replacement: join(dropInFolder, 'antway.mjs') },
    { find: /^antway\/workbox$/, replacement: join(dropInFolder, 'workbox.mjs') },
  ];

  test('a site with Workbox adds content addresses as a route, and each leaves the other’s caches alone', {
    tag: '@full',
  }, async ({ page, serve }) => {
    await build({
      configFile: false,
      logLevel: 'error',
      resolve: { alias },
      define: { 'process.env.NODE_ENV': '"production"' },
      build: {
        outDir: folder,
        lib: {
          entry: fromRoot('tests/sites/embedding/workbox/sw-source.js'),
          formats: ['iife'],
          name: 'worker',
          fileName: () => 'sw.js',
        },
      },
    });
    const host = await serve([folder, 'workbox']);
    await page.goto(host.url);
    await page.evaluate(() =>
      caches.open('the-sites-own').then((cache) => cache.put('/x', new Response('x'))),
    );
    await ready(page);
    await expectPicture(page);
    const names = await page.evaluate(() => caches.keys());
    expect(names.filter((name) => !name.startsWith('antway-')).sort()).toEqual([
      'the-sites-own',
      `workbox-precache-v2-${host.url}/`,
    ]);
    const databases = await page.evaluate(() => indexedDB.databases());
    expect(databases.map(({ name }) => name).filter((name) => !name?.startsWith('antway'))).toEqual([]);

    const before = host.requests.length;
    await page.goto(`${host.url}/index.html`);
    await expectPicture(page);
    expect(host.requests.slice(before)).not.toContain('/index.html');
  });

  test('a single-page application uses the module', { tag: '@full' }, async ({ page, serve }) => {
    await build({
      configFile: false,
      logLevel: 'error',
      root: fromRoot('tests/sites/embedding/spa'),
      resolve: { alias },
      build: { outDir: folder, emptyOutDir: true },
    });
    const host = await serve(folder);
    await page.goto(`${host.url}/#picture`);
    await expectPicture(page);
    await page.evaluate(() => {
      location.hash = '#text';
    });
    await expect(page.locator('main')).toContainText('limpet');
  });
});

test('changed attributes are effective at the next load, even while a page with the former attributes is open', {
  tag: '@full',
}, async ({ page, peer, published, serve }) => {
  const image = `<img src="ant://picture">`;
  const files = {
    '/index.html': withScript(`data-peers="${peer.url}" data-names="picture=${published.picture}"`, image),
  };
  const host = await serve('plain', { files });
  await page.goto(host.url);
  await ready(page);
  await expectPicture(page);

  files['/index.html'] = withScript(
    `data-peers="${peer.url}" data-names="picture=${published.picture}" data-denied="${published.page}"`,
    image,
  );
  const second = await page.context().newPage();
  await second.goto(host.url);
  await ready(second);
  expect((await fetchIn(second, `/ant/${published.page}`)).status).toBe(451);
  await expectPicture(second);
  expect((await fetchIn(page, `/ant/${published.page}`)).status).toBe(451);
});

test('an update of the worker waits until open pages are closed', { tag: '@full' }, async ({
  page,
  serve,
}) => {
  const files: Record<string, (script: Buffer) => string> = {};
  const host = await serve('plain', { files });
  await page.goto(host.url);
  await ready(page);
  files['/antway-sw.js'] = (script) => `${script}\n// another build`;
  const second = await page.context().newPage();
  await second.goto(host.url);
  await ready(second);
  await expectPicture(second, '#linked');
  const state = () =>
    page.evaluate(async () => {
      const { active, waiting } = (await navigator.serviceWorker.getRegistration())!;
      return [active?.state, waiting?.state];
    });
  await expect.poll(state).toEqual(['activated', 'installed']);
});

test('the worker controls a page again after a hard reload', { tag: '@full' }, async ({ page, serve }) => {
  const host = await serve('plain');
  await page.goto(host.url);
  await ready(page);
  await hardReload(page);
  await ready(page);
  await expectPicture(page, '#linked');
  expect(await page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
});

test('an even area stands in place of pictures until the worker is ready, in the same box and with its name', {
  tag: '@full',
}, async ({ page, published, serve }) => {
  const picture = `src="ant://${published.picture}" width="300" height="200"`;
  const register = readFileSync(fromRoot('tests/sites/embedding/own-worker/site.js'), 'utf8');
  const host = await serve('own-worker', {
    files: {
      '/site.js': `addEventListener('click', () => { ${register} });`,
      '/index.html': withScript(
        'data-worker="none"',
        `<style>img { display: block; border: 3px solid; margin: 10px }</style><img id="named" ${picture} alt="A crab"><img id="plain" ${picture} alt=""><img id="set" srcset="ant://${published.picture} 1x" width="9"><img id="other" src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>"><script src="site.js"></script>`,
      ),
    },
  });
  await page.goto(host.url);
  const filterOf = (id: string) => page.locator(`#${id}`).evaluate((image) => getComputedStyle(image).filter);
  for (const id of ['named', 'plain', 'set']) expect(await filterOf(id)).toBe('contrast(0) opacity(0.2)');
  expect(await filterOf('other')).toBe('none');
  const box = await page.locator('#named').boundingBox();
  expect(box).toMatchObject({ width: 306, height: 206 });
  await expect(page.getByRole('img', { name: 'A crab' })).toBeVisible();
  // Neither the sign of a broken picture nor the text in its place is visible.
  expect(await page.locator('#named').screenshot()).toEqual(await page.locator('#plain').screenshot());
  await page.mouse.click(500, 500);
  await expectPicture(page, '#named');
  for (const id of ['named', 'plain', 'set']) expect(await filterOf(id)).toBe('none');
  expect(await page.locator('#named').boundingBox()).toEqual(box);
});

test.describe('when the peer ends', () => {
  test.use({ endsPeer: true });

  test('a page of an address that failed to open opens when the network is back', { tag: '@full' }, async ({
    page,
    peer,
    published,
    serve,
    startPeer,
  }) => {
    const host = await serve('plain', { files: { '/index.html': withScript(`data-peers="${peer.url}"`) } });
    await page.goto(host.url);
    await ready(page);
    await peer.kill();
    await page.context().setOffline(true);
    await page.goto(`${host.url}/ant/${published.page}`);
    await expect(page.getByText('Code OFFLINE')).toBeVisible();
    const refused: string[] = [];
    page.on('response', (response) => {
      if (response.status() === 403) refused.push(response.url());
    });
    await startPeer({ http: new URL(peer.url).host, store: peer.storeFolder });
    await page.context().setOffline(false);
    await expect(page.locator('#text')).toHaveText(pageText);
    expect(refused).toEqual([]);
  });

  test('content that a page pins opens without peer and host', async ({ page, peer, published, serve }) => {
    const host = await serve('plain');
    await page.goto(host.url);
    await ready(page);
    const pinned = await page.evaluate((site) => Antway.pin(site), published.site);
    expect(pinned.address).toBe(published.site);
    await expect
      .poll(() =>
        page.evaluate(async () => (await Antway.pins()).map(({ address, state }) => [address, state])),
      )
      .toEqual([[published.site, 'complete']]);
    await peer.stop();
    await host.stop();
    const answer = await page.evaluate(async (site) => {
      const response = await Antway.fetch(site, 'notes/counts.csv');
      return [response.status, (await response.text()).length > 0];
    }, published.site);
    expect(answer).toEqual([200, true]);
    await page.evaluate((site) => Antway.unpin(site), published.site);
    expect(await page.evaluate(() => Antway.pins())).toEqual([]);
  });

  test('content that no peer can give has a note with the reason until it works, and one warning for each address', {
    tag: '@full',
  }, async ({ page, peer, published, serve, startPeer }) => {
    const missing = 'ab'.repeat(32);
    const body = `<p><img id="crab" src="ant://${published.picture}" alt="A crab"><img id="again" src="ant://${published.picture}?x">
    <video id="film" src="ant://${published.site}/media/waves.webm" controls></video>
    <img id="missing" src="ant://${missing}"><img src="ant://${missing}/other.png">
    <img id="number" src="ant://1234" alt="A number"></p>`;
    const host = await serve('plain', {
      files: {
        '/empty.html': withScript(`data-peers="${peer.url}"`),
        '/index.html': withScript(`data-peers="${peer.url}"`, body),
      },
    });
    await page.goto(`${host.url}/empty.html`);
    await ready(page);
    const warnings: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'warning' && message.text().startsWith('Antway')) warnings.push(message.text());
    });
    const warningsOf = (address: string) => warnings.filter((text) => text.includes(address));
    // While the peer answers, content that it does not have is only reported.
    await page.goto(`${host.url}/empty.html`);
    await ready(page);
    await page.evaluate((missing) => {
      for (const path of ['', '/a.png'])
        document.body.append(Object.assign(new Image(), { src: `ant://${missing}${path}` }));
    }, missing);
    await expect.poll(() => warningsOf(missing)).toEqual([expect.stringContaining('NOT_FOUND')]);
    await expect(page.getByRole('note')).toHaveCount(0);

    await peer.kill();
    warnings.length = 0;
    await page.goto(host.url);
    const note = page.getByRole('note').filter({ hasText: 'A crab' });
    await expect(note).toContainText('A crab (');
    await expect(page.locator('#crab')).toBeHidden();
    await expect(page.locator('#film')).toBeHidden();
    await expect(page.getByRole('note').filter({ hasText: 'A number' })).toContainText(
      '“ant://1234” is not a content address',
    );
    expect(warningsOf(published.picture)).toHaveLength(1);

    await startPeer({ http: new URL(peer.url).host, store: peer.storeFolder });
    await page.context().setOffline(true);
    await page.context().setOffline(false);
    await expect(page.locator('#crab')).toBeVisible({ timeout: 60_000 });
    await expectPicture(page, '#crab');
    await expect(note).toHaveCount(0);
    await expect(page.locator('#film')).toBeVisible();
    await expect(page.getByRole('note').filter({ hasText: 'A number' })).toBeVisible();
  });
});
