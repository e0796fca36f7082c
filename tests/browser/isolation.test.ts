import { type BrowserContext, errors, type Page } from '@playwright/test';
import { Address } from '../../src/address.ts';
import {
  expect,
  fetchIn,
  Gateway,
  hardReload,
  openTitled,
  sceneOfFile,
  test,
  trustSite,
} from '../support/chromium.ts';
import { publish } from '../support/publish.ts';
import type { Files } from '../support/tar.ts';
import { makeTarchive } from '../support/tarchive.ts';

/** A script that says that it ran, in a place where nothing else of the page is needed. */
const ran = (what: string) => `console.log('RAN ${what}')`;
const svg = (what: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" onload="${ran(`${what} handler`)}"><script>${ran(what)}</script></svg>`;

/** A page that tries every way to run a script, each with a name. */
const hostileFiles: Files = {
  'index.html': `<!doctype html><title>Hostile</title>
<meta http-equiv="refresh" content="1000;url=javascript:${ran('refresh')}">
<script>${ran('inline')}</script>
<script src="external.js"></script>
<script src="data:text/javascript,${ran('data script')}"></script>
<script type="module" src="module.js"></script>
<body onload="${ran('body handler')}">
<img src="data:," alt="" onerror="${ran('handler')}">
<svg><script>${ran('svg in html')}</script></svg>
<img src="image.svg" alt=""><object data="object.svg" type="image/svg+xml"></object><embed src="embed.svg">
<iframe src="frame.svg"></iframe>
<iframe src="frame.html"></iframe>
<iframe srcdoc="<script>${ran('srcdoc')}</script>"></iframe>
<iframe src="data:text/html,<script>${ran('data frame')}</script>"></iframe>
<iframe src="javascript:${ran('frame url')}"></iframe>
<p><a href="javascript:${ran('link')}">a link</a></p>
<form action="javascript:${ran('form')}"><button>a form</button></form>`,
  'external.js': `${ran('external')}; new Worker('worker.js'); new Worker(URL.createObjectURL(new Blob(["${ran('blob worker')}"])));`,
  'worker.js': ran('worker'),
  'module.js': ran('module'),
  'image.svg': svg('image'),
  'object.svg': svg('object'),
  'embed.svg': svg('embed'),
  'frame.svg': svg('svg frame'),
  'frame.html': `<script>${ran('frame')}</script>`,
  'document.svg': svg('svg document'),
  'document.xhtml': `<html xmlns="http://www.w3.org/1999/xhtml"><head><script>${ran('xhtml')}</script></head><body/></html>`,
  'document.xml': `<?xml version="1.0"?><a><script xmlns="http://www.w3.org/1999/xhtml">${ran('xml')}</script></a>`,
  'document.rss': `<?xml version="1.0"?><rss><script xmlns="http://www.w3.org/1999/xhtml">${ran('rss')}</script></rss>`,
  untold: `<!doctype html><script>${ran('sniffed')}</script>`,
  '404.html': `<!doctype html><title>Lost</title><script>${ran('404')}</script>`,
};
const documents = ['', 'document.svg', 'document.xhtml', 'document.xml', 'document.rss', 'untold', 'none'];

test.describe('in path mode', () => {
  const scene = sceneOfFile(async ({ startPeer, openWorker }) => {
    const peer = await startPeer();
    const hostile = await publish(await makeTarchive(hostileFiles), peer);
    const ambitious = await publish(
      await makeTarchive({ 'index.html': '<title>Ambitious</title>', 'sw.js': 'self.x = 1' }),
      peer,
    );
    const framing = await publish(
      await makeTarchive({
        'index.html': `<title>Framing</title><iframe src="/${hostile}/frame.html"></iframe>`,
      }),
      peer,
    );
    const gateway = await openWorker({ peers: [peer.url], trusted: [ambitious, framing] });
    return { peer, hostile, ambitious, framing, gateway };
  });

  // No decision of a user is left for the next test.
  test.afterEach(async () => {
    const { gateway } = scene();
    for (const address of Object.keys(await decisions(gateway)))
      await gateway.fetch(`/-/trust?address=${address}`, { method: 'DELETE' });
  });

  test('no script of a hostile site runs before the user trusts it', { tag: '@full' }, async () => {
    const { gateway, hostile } = scene();
    await decide(gateway, hostile, 'restricted');
    expect(await runAll(gateway, hostile)).toEqual([]);

    await decide(gateway, hostile, 'trusted');
    // The same visits: so the first ones would have noticed.
    const found = await runAll(gateway, hostile);
    const expected = [
      'inline',
      'external',
      'data script',
      'module',
      'body handler',
      'handler',
      'svg in html',
    ];
    expected.push('svg frame', 'frame', 'srcdoc', 'link', 'form', 'worker', 'blob worker');
    expected.push('svg document', 'svg document handler', 'xhtml', 'xml', '404');
    await expect.poll(() => found).toEqual(expect.arrayContaining(expected.map((what) => `RAN ${what}`)));
    // Pictures never do, and plug-ins are not loaded.
    // An archive's file without an extension is no page.
    for (const never of ['image', 'object', 'embed', 'sniffed']) expect(found).not.toContain(`RAN ${never}`);
  });

  test('no site registers a worker, not even a trusted one', async () => {
    const { gateway, ambitious } = scene();
    const page = await gateway.openPage(`/${ambitious}/`);
    const outcome = await page.evaluate(
      (script) =>
        navigator.serviceWorker.register(script).then(
          () => 'registered',
          () => 'refused',
        ),
      `/${ambitious}/sw.js`,
    );
    expect(outcome).toBe('refused');
    const scopes = await page.evaluate(async () =>
      (await navigator.serviceWorker.getRegistrations()).map(({ scope }) => new URL(scope).pathname),
    );
    expect(scopes).toEqual(['/']);
  });

  test('content cannot answer a question for the user, nor use or show the gateway’s pages and endpoints', {
    tag: '@full',
  }, async () => {
    const { gateway, hostile, peer } = scene();
    const address = await publish(
      await makeTarchive({
        'index.html': `<!doctype html><title>Forger</title>
<form method="post" action="/-/trust"><input name="token" value="guess"><input name="return" value="/">
<input name="address" value="${hostile}"><input name="decision" value="trusted"><button>a form</button></form>
<iframe src="/-/stats"></iframe><iframe src="/-/trust"></iframe><iframe src="/"></iframe>
<object data="/-/stats"></object><img src="/-/stats" alt="">
<p><a href="/-/stats">a link</a></p>`,
      }),
      peer,
    );
    await decide(gateway, address, 'restricted');
    const page = await gateway.openPage(`/${address}/`);
    await expect(page).toHaveTitle('Forger');
    // The policy lets it frame nothing outside its own address, and send no form.
    await page.waitForLoadState('networkidle');
    for (const frame of page.frames().slice(1)) {
      expect(await frame.content()).not.toMatch(/id="app"|"requests"|REFUSED/);
    }
    await page.getByRole('button', { name: 'a form' }).click();
    await page.waitForLoadState('networkidle');
    await expect(page).toHaveTitle('Forger');
    expect(await decisions(gateway)).toEqual({ [address]: 'restricted' });

    // A tab shows them neither: any website can navigate.
    const tab = await gateway.openPage(`/${address}/`);
    await tab.getByRole('link').click();
    await expect(tab.locator('body')).toContainText('REFUSED');
  });

  test('a script of a trusted site reaches none of the endpoints', { tag: '@full' }, async ({
    openWorker,
  }) => {
    const { peer, hostile } = scene();
    const gateway = await openWorker({ peers: [peer.url], trusted: [hostile] });
    const page = await gateway.openPage(`/${hostile}/`);
    for (const name of ['stats', 'activity', 'trust', 'sites', 'config', 'settings', 'cache']) {
      expect((await fetchIn(page, `/-/${name}`)).status, name).toBe(403);
    }
    const body = JSON.stringify({ address: hostile, decision: 'trusted' });
    const forged = await page.evaluate(
      async (body) => (await fetch('/-/trust', { method: 'POST', body })).status,
      body,
    );
    expect(forged).toBe(403);
  });

  test('another web site cannot change decisions or stored data of the gateway', {
    tag: '@full',
  }, async () => {
    const { gateway, hostile } = scene();
    for (const [endpoint, fields] of [
      ['trust', { token: 'guess', address: hostile, decision: 'trusted', return: '/' }],
      ['manifests', { a: 'b' }],
      ['test-peer', { url: 'https://peer.example' }],
      ['reset', { chunks: 'true' }],
    ] as const) {
      const page = await gateway.shell.context().newPage();
      const [answer] = await Promise.all([
        page.waitForResponse((response) => response.url().endsWith(`/-/${endpoint}`)),
        page.evaluate(
          ([action, fields]) => {
            const form = document.createElement('form');
            Object.assign(form, { method: 'post', action });
            for (const [name, value] of Object.entries(fields)) {
              form.append(Object.assign(document.createElement('input'), { name, value }));
            }
            document.body.append(form);
            form.submit();
          },
          [`${gateway.url}/-/${endpoint}`, fields] as const,
        ),
      ]);
      expect(answer.status(), endpoint).toBe(403);
    }
    expect(await decisions(gateway)).toEqual({});
  });

  test('the question comes with the first visit; the user can revoke the stored answer', {
    tag: '@full',
  }, async ({ playwright, launchOptions, startHost, folder }) => {
    const { peer, hostile } = scene();
    const host = await startHost({ peers: [peer.url] });
    const launch = () => playwright.chromium.launchPersistentContext(`${folder}/profile`, launchOptions);
    let context = await launch();
    let gateway = await Gateway.openWorker(host, await context.newPage());
    const path = `/${hostile}/?a=1#/part?b=2`;

    const page = await context.newPage();
    const messages = listen(context);
    const asked = await page.goto(gateway.url + path);
    expect([asked!.status(), asked!.headers()['cache-control']]).toEqual([403, 'no-store']);
    // Neither a script nor a frame is asked anything.
    expect((await gateway.fetch(path)).status).toBe(200);
    await page.getByRole('button', { name: 'Open without scripts' }).click();
    await expect(page).toHaveTitle('Hostile');
    expect(page.url()).toBe(gateway.url + path);
    expect(messages).toEqual([]);
    await context.close();

    context = await launch();
    gateway = await Gateway.open(host, await context.newPage());
    expect((await (await context.newPage()).goto(gateway.url + path))!.status()).toBe(200);
    expect(await decisions(gateway)).toEqual({ [hostile]: 'restricted' });
    const revoked = await gateway.fetch(`/-/trust?address=${hostile}`, { method: 'DELETE' });
    expect(revoked.status).toBe(204);

    const again = await context.newPage();
    const trustedMessages = listen(context);
    expect((await again.goto(gateway.url + path))!.status()).toBe(403);
    await trustSite(again);
    await expect(again).toHaveTitle('Hostile');
    await expect.poll(() => trustedMessages).toContain('RAN inline');
    expect(await decisions(gateway)).toEqual({ [hostile]: 'trusted' });
    await context.close();
  });

  test('a frame never shows the question, and runs no scripts of a site without trust', async () => {
    const { gateway, framing } = scene();
    const messages = listen(gateway.shell.context());
    const page = await gateway.openPage(`/${framing}/`);
    const frame = page.frames()[1]!;
    await frame.waitForLoadState();
    expect(await frame.content()).toContain('RAN frame');
    expect(await frame.getByRole('button').count()).toBe(0);
    expect(messages).toEqual([]);
  });
});

test.describe('in subdomain mode', () => {
  const siteFiles = (name: string): Files => ({
    'index.html': `<!doctype html><title>${name}</title><script>document.documentElement.dataset.ran = 'yes'</script><script src="/assets/x.js"></script>`,
    'page.html': `<!doctype html><title>${name}, a page</title>`,
    'assets/x.js': `document.documentElement.dataset.asset = '${name}'`,
    'sw.js': `/* ${name} */`,
    'icon.svg': `<svg xmlns="http://www.w3.org/2000/svg"><title>${name}</title></svg>`,
    'secret.txt': `what ${name} keeps`,
  });
  const originOf = (address: string) => scene().root.replace('//', `//${Address.fromHex(address).base32}.`);

  const scene = sceneOfFile(async ({ startPeer, startHost, context }) => {
    const peer = await startPeer();
    const named = await publish(await makeTarchive(siteFiles('named')), peer);
    const host = await startHost({ peers: [peer.url], isolation: 'subdomain', names: { named } });
    const { port } = new URL(host.url);
    return { peer, context, port, root: `http://antway.localhost:${port}` };
  });

  test('addresses and names on the gateway’s origin redirect to the site’s own origin, also at the first visit', {
    tag: '@full',
  }, async () => {
    const { peer, context, root } = scene();
    const address = await publish(await makeTarchive(siteFiles('First')), peer);
    const page = await context.newPage();
    await page.goto(`${root}/${address}/page.html?a=x%20y`);
    await expect(page).toHaveTitle('First, a page');
    expect(page.url()).toBe(`${originOf(address)}/page.html?a=x%20y`);
    await page.goto(`${root}/named/page.html`);
    await expect(page).toHaveTitle('named, a page');
    expect(new URL(page.url()).host).toMatch(/^[a-z2-7]{52}\.antway\.localhost:\d+$/);
    await page.goto(`${root}/${address}`);
    await expect(page).toHaveTitle('First');
    expect(page.url()).toBe(`${originOf(address)}/`);
  });

  test('a site runs its scripts, and owns every path of its origin', { tag: '@full' }, async () => {
    const { peer, context } = scene();
    const address = await publish(await makeTarchive(siteFiles('Whole')), peer);
    const page = await openTitled(context, originOf(address), 'Whole');
    await expect(page.locator('html')).toHaveAttribute('data-ran', 'yes');
    await expect(page.locator('html')).toHaveAttribute('data-asset', 'Whole');
    for (const [path, content] of Object.entries(siteFiles('Whole'))) {
      expect((await fetchIn(page, `/${path}`)).text, path).toBe(content);
    }
    for (const name of ['stats', 'activity', 'trust', 'health', 'manifests']) {
      expect((await fetchIn(page, `/-/${name}`)).status, name).toBe(403);
    }
    // The host answers windows there, as for a site that was never opened.
    expect((await (await context.newPage()).goto(`${originOf(address)}/-/stats`))!.status()).toBe(404);
    // The worker stays the gateway's, though the site has a file of that name.
    const worker = await page.evaluate(async () => {
      // The site is not told of the worker. A frame has the browser's own function.
      const frame = document.body.appendChild(document.createElement('iframe'));
      const { ServiceWorkerContainer } = frame.contentWindow as unknown as typeof globalThis;
      const { getRegistration } = ServiceWorkerContainer.prototype;
      const registration = (await getRegistration.call(navigator.serviceWorker))!;
      await registration.update();
      return { waiting: registration.waiting !== null, script: registration.active?.scriptURL };
    });
    expect(worker).toEqual({ waiting: false, script: `${originOf(address)}/sw.js` });
  });

  test('a site reads no data of other sites or of the gateway, and each has its own storage', {
    tag: '@full',
  }, async ({ context }) => {
    const { peer, root } = scene();
    const [a, b] = await Promise.all(
      ['Alice', 'Bob'].map(async (name) => publish(await makeTarchive(siteFiles(name)), peer)),
    );
    const alice = await openTitled(context, originOf(a!), 'Alice');
    const shell = await context.newPage();
    await shell.goto(root);
    await shell.waitForFunction(() => navigator.serviceWorker.controller !== null);
    for (const page of [alice, shell]) {
      await page.evaluate(async () => {
        localStorage.setItem('secret', 'kept');
        await cookieStore.set('secret', 'kept');
        await (await caches.open('secret')).put('/secret', new Response('kept'));
        await new Promise((resolve) => (indexedDB.open('secret').onsuccess = resolve));
      });
    }
    const bob = await openTitled(context, originOf(b!), 'Bob');
    const seen = await bob.evaluate(
      async ([alice, shell]) => {
        const read = async (url: string) => {
          const response = await fetch(url).catch(() => undefined);
          return response ? response.text() : '';
        };
        const opened = window.open(alice!)!;
        // Until it has left `about:blank`, it is the opener's own.
        for (let isReadable = true; isReadable; ) {
          await new Promise((resolve) => setTimeout(resolve, 20));
          try {
            void opened.location.href;
          } catch {
            isReadable = false;
          }
        }
        return {
          storage: localStorage.length,
          // While the shell opens a bridge, it has a cookie without content for a moment, which all sites see.
          cookies: document.cookie.split('; ').filter((cookie) => !/^$|^antway-same-site-/.test(cookie)),
          caches: (await caches.keys()).filter((name) => name === 'secret'),
          databases: (await indexedDB.databases()).map(({ name }) => name).sort(),
          fetched: await Promise.all([alice!, `${alice}/secret.txt`, shell!, `${shell}/-/stats`].map(read)),
        };
      },
      [originOf(a!), root],
    );
    expect(seen).toEqual({
      storage: 0,
      cookies: [],
      caches: [],
      databases: expect.not.arrayContaining(['secret']),
      // The last goes to the host, past the worker of the gateway's own origin.
      fetched: ['', '', '', expect.not.stringContaining('requests')],
    });

    // No frame of another site, and none of the gateway.
    for (const url of [`${originOf(a!)}/page.html`, root, `${root}/-/stats`]) {
      const frame = await bob.evaluateHandle((src) => {
        const frame = document.createElement('iframe');
        frame.src = src;
        const loaded = new Promise((resolve) => frame.addEventListener('load', () => resolve(frame)));
        document.body.append(frame);
        return loaded as Promise<HTMLIFrameElement>;
      }, url);
      const content = await (await frame.contentFrame())!.content();
      expect(content, url).not.toMatch(/Alice|id="app"|"requests"/);
    }

    // Chunks that one site fetched are not there for another site, which fetches them again.
    const before = await peer.chunksGiven();
    const [fromAlice, fromShell] = await Promise.all([alice, shell].map(chunkKeys));
    // The record, and at least the chunks with the index and the page.
    expect(fromAlice).toBeGreaterThanOrEqual(3);
    expect(fromShell).toBe(0);
    const again = await context.newPage();
    await again.goto(`${originOf(a!)}/`);
    await expect(again).toHaveTitle('Alice');
    expect(await peer.chunksGiven()).toBe(before);
  });

  test('the gateway says that it needs a host name if it is opened by an IP address', {
    tag: '@full',
  }, async () => {
    const { peer, context, port } = scene();
    const address = await publish(await makeTarchive(siteFiles('Nowhere')), peer);
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${port}/${address}/`);
    await expect(page.getByRole('heading')).toHaveText('This gateway is not configured correctly');
    await page.getByText('Details').click();
    await expect(page.getByText('has no names')).toBeVisible();
  });

  // The last: the peer of the scene ends.
  test('a deep link, reloads, hard reloads and offline visits work there', { tag: '@full' }, async () => {
    const { peer, context } = scene();
    const address = await publish(await makeTarchive(siteFiles('Deep')), peer);
    const page = await context.newPage();
    await page.goto(`${originOf(address)}/page.html`);
    await expect(page).toHaveTitle('Deep, a page');
    await page.reload();
    await expect(page).toHaveTitle('Deep, a page');
    await hardReload(page);
    await expect(page).toHaveTitle('Deep, a page');
    await peer.kill();
    await context.setOffline(true);
    await page.goto(`${originOf(address)}/`);
    await expect(page).toHaveTitle('Deep');
  });
});

/** Records that the page's origin holds in its chunk store. */
function chunkKeys(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const names = (await indexedDB.databases()).map(({ name }) => name);
    if (!names.includes('antway-chunks')) return 0;
    return new Promise<number>((resolve, reject) => {
      const request = indexedDB.open('antway-chunks');
      request.onerror = () => reject(request.error);
      request.onsuccess = () => {
        const count = request.result.transaction('chunks').objectStore('chunks').count();
        count.onsuccess = () => resolve(count.result);
      };
    });
  });
}

/**
 * Visits every document of the hostile site, and clicks what can be clicked. The pages stay open.
 * @returns what ran, and what runs from then on.
 */
async function runAll(gateway: Gateway, address: string): Promise<string[]> {
  const context = gateway.shell.context();
  const messages = listen(context);
  for (const path of documents) {
    const page = await context.newPage();
    await page.goto(`${gateway.url}/${address}/${path}`);
    if (path === '') {
      await page.getByRole('link', { name: 'a link' }).click();
      await page.getByRole('button', { name: 'a form' }).click();
    }
    // Everything that the page would have started by now has had its turn. Its own timers never fire without trust, and a page whose
    // workers run is never idle: the wait may end without it.
    await page.waitForLoadState('networkidle', { timeout: 5_000 }).catch((error) => {
      if (!(error instanceof errors.TimeoutError)) throw error;
    });
  }
  return messages;
}

/** Everything that scripts, in pages, frames and workers, say from now on. */
function listen(context: BrowserContext): string[] {
  const messages: string[] = [];
  context.on('console', (message) => {
    if (message.text().startsWith('RAN ')) messages.push(message.text());
  });
  return messages;
}

async function decide(gateway: Gateway, address: string, decision: string): Promise<void> {
  const status = await gateway.shell.evaluate(
    async (body) => (await fetch('/-/trust', { method: 'POST', body })).status,
    JSON.stringify({ address, decision }),
  );
  expect(status).toBe(204);
}

async function decisions(gateway: Gateway): Promise<Record<string, string>> {
  const list = JSON.parse((await gateway.fetch('/-/trust')).text) as { address: string; decision: string }[];
  return Object.fromEntries(list.map(({ address, decision }) => [address, decision]));
}
