import type { Page } from '@playwright/test';
import { Address } from '../../src/address.ts';
import { expect, fetchIn, sceneOfFile, test } from '../support/chromium.ts';
import { publish } from '../support/publish.ts';
import type { Files } from '../support/tar.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { attack } from './attack.ts';
import { unregisterByFrame } from './hostile-site.ts';

const group = 'A site brings a service worker of its own';

/** A site without malice: it removes workers of an earlier version and registers its own. */
const unregisterAll = `(async () => {
  const registrations = await navigator.serviceWorker.getRegistrations();
  await Promise.all(registrations.map((registration) => registration.unregister()));
  return registrations.length;
})()`;

const page = (title: string, head = '') =>
  `<!doctype html>\n<html lang="eo">\n<head data-head="yes">${head}<title>${title}</title></head><body>${title}</body></html>`;

const files: Files = {
  'index.html': page('Own'),
  'sw.js': 'self.addEventListener("fetch", (event) => event.respondWith(new Response("taken over")))',
  'lab/own.js': 'self.addEventListener("fetch", (event) => event.respondWith(new Response("taken over")))',
  'strict.html': page('Strict', `<meta http-equiv="Content-Security-Policy" content="script-src 'none'">`),
  'frame.html': page('Frame', '<base href="/elsewhere/">'),
  'framing.html': `${page('Framing')}<iframe src="frame.html"></iframe>`,
  '404.html': page('Lost'),
  'plain.txt': 'text',
  'image.svg': '<svg xmlns="http://www.w3.org/2000/svg"><title>Image</title></svg>',
  'document.xhtml':
    '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>XHTML</title></head><body>a</body></html>',
  'utf16.html': Buffer.from(`\ufeff${page('Wide')}`, 'utf16le'),
  'bom.html': `\ufeff${page('Mark')}`,
  'quirks.html': '<title>Quirks</title><p>No doctype.',
};

interface Site {
  origin: string;
  visit(path: string, title?: string): Promise<Page>;
}

/** The files on an origin of their own. */
const site = sceneOfFile<Site>(async ({ startPeer, startHost, context }) => {
  const peer = await startPeer();
  const address = await publish(await makeTarchive(files), peer);
  const host = await startHost({ peers: [peer.url], isolation: 'subdomain' });
  const { port } = new URL(host.url);
  const origin = `http://${Address.fromHex(address).base32}.antway.localhost:${port}`;
  return {
    origin,
    async visit(path, title) {
      const page = await context.newPage();
      await page.goto(`${origin}/${path}`);
      if (title !== undefined) await expect(page).toHaveTitle(title);
      return page;
    },
  };
});

attack(
  group,
  'unregister all workers that the site sees',
  'the site sees none; the gateway’s worker stays',
  async () => {
    const { origin, visit } = site();
    const page = await visit('', 'Own');
    expect(await page.evaluate(unregisterAll)).toBe(0);
    expect(await workerOf(page)).toBe(`${origin}/sw.js`);
    expect((await fetchIn(page, '/plain.txt')).text).toBe('text');
  },
  { alsoIn: ['Firefox'] },
);

attack(
  group,
  'register a worker from the site’s files',
  '`register()` rejects, and the console says why',
  async () => {
    const { visit } = site();
    const page = await visit('', 'Own');
    const messages: string[] = [];
    page.on('console', (message) => messages.push(message.text()));
    const outcome = await page.evaluate(async () => {
      const { serviceWorker } = navigator;
      const attempts = [
        () => serviceWorker.register('/lab/own.js'),
        () => serviceWorker.register('/sw.js', { scope: '/lab/' }),
        () => ServiceWorkerContainer.prototype.register.call(serviceWorker, '/lab/own.js'),
      ];
      const names = [];
      for (const attempt of attempts) names.push(await attempt().then(String, (error: Error) => error.name));
      return {
        names,
        controller: serviceWorker.controller,
        registration: await serviceWorker.getRegistration(),
        isReady: await Promise.race([
          serviceWorker.ready.then(() => true),
          new Promise((resolve) => setTimeout(resolve, 500, false)),
        ]),
      };
    });
    expect(outcome).toEqual({
      names: ['NotSupportedError', 'NotSupportedError', 'NotSupportedError'],
      controller: null,
      registration: undefined,
      isReady: false,
    });
    await expect.poll(() => messages.join('\n')).toContain('docs/reference/third-party-sites.md');
    expect(messages.join('\n')).toContain('/lab/own.js');
  },
  { alsoIn: ['Firefox'] },
);

attack(
  group,
  'register a worker by a frame’s unchanged functions',
  'the browser refuses: the host has no script of the site, and the gateway’s script works at one path only',
  async () => {
    const { origin, visit } = site();
    const page = await visit('', 'Own');
    const outcomes = await page.evaluate(async () => {
      const frame = document.createElement('iframe');
      document.body.append(frame);
      const { register } = (frame.contentWindow as unknown as typeof globalThis).ServiceWorkerContainer
        .prototype;
      const outcomes = [];
      for (const script of [
        '/lab/own.js',
        '/-/site-worker.js',
        'data:text/javascript,0',
        URL.createObjectURL(new Blob(['0'])),
      ]) {
        outcomes.push(
          await register.call(navigator.serviceWorker, script).then(
            () => 'registered',
            () => 'refused',
          ),
        );
      }
      return outcomes;
    });
    expect(outcomes).toEqual(['refused', 'refused', 'refused', 'refused']);
    expect(await workerOf(page)).toBe(`${origin}/sw.js`);
  },
);

attack(
  group,
  'unregister the gateway’s worker by a frame’s unchanged functions',
  'only that site is affected; its next navigation registers the worker again',
  async () => {
    const { origin, visit } = site();
    const page = await visit('', 'Own');
    expect(await unregisterByFrame(page)).toBe(1);
    await page.goto(`${origin}/frame.html`);
    await expect(page).toHaveTitle('Frame');
    expect(await workerOf(page)).toBe(`${origin}/sw.js`);
  },
  { tag: '@full' },
);

attack(
  group,
  "switch the shim off by a policy of the document (`script-src 'none'`)",
  'the shim stands before the policy, so it runs, and the policy holds for the site’s scripts',
  async () => {
    const { visit } = site();
    const page = await visit('strict.html', 'Strict');
    expect(await page.evaluate(() => navigator.serviceWorker.controller)).toBeNull();
    const hasRun = await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'document.title = "ran"';
      document.head.append(script);
      return document.title;
    });
    expect(hasRun).toBe('Strict');
  },
);

attack(
  group,
  'get the shim into bytes that the site reads, saves or shows elsewhere',
  '`fetch`, ranges, downloads and other types carry the original bytes',
  async () => {
    const { visit } = site();
    const page = await visit('', 'Own');
    for (const path of ['index.html', 'strict.html', 'utf16.html', 'image.svg', 'document.xhtml']) {
      const bytes = await page.evaluate(
        async (path) => [...new Uint8Array(await (await fetch(`/${path}`)).arrayBuffer())],
        path,
      );
      expect(Buffer.from(bytes).equals(Buffer.from(files[path]!)), path).toBe(true);
    }
    const part = await fetchIn(page, '/index.html', { headers: { Range: 'bytes=0-14' } });
    expect([part.status, part.text]).toEqual([206, '<!doctype html>']);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.evaluate(() => {
        location.href = '/index.html?download';
      }),
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toBe(files['index.html']);
    for (const path of ['image.svg', 'document.xhtml']) {
      await page.evaluate((path) => void location.assign(`/${path}`), path);
      await page.waitForURL(`**/${path}`);
      expect(await page.content(), path).not.toContain('Antway');
    }
  },
);

test('a document has the same DOM with and without the shim', { tag: '@full' }, async () => {
  const { visit } = site();
  for (const [path, title, mode] of [
    ['', 'Own', 'CSS1Compat'],
    ['bom.html', 'Mark', 'CSS1Compat'],
    ['utf16.html', 'Wide', 'CSS1Compat'],
    ['quirks.html', 'Quirks', 'BackCompat'],
    ['no/such/page', 'Lost', 'CSS1Compat'],
  ] as const) {
    const page = await visit(path, title);
    const built = await page.evaluate(() => ({
      mode: document.compatMode,
      scripts: document.scripts.length,
      language: document.documentElement.lang,
      head: document.head.dataset.head,
    }));
    const attributes =
      path === 'quirks.html' ? { language: '', head: undefined } : { language: 'eo', head: 'yes' };
    expect(built, path).toEqual({ mode, scripts: 0, ...attributes });
  }
  const framing = await visit('framing.html', 'Framing');
  const frame = framing.frames()[1]!;
  await frame.waitForLoadState();
  expect(await frame.evaluate(() => [document.title, navigator.serviceWorker.controller])).toEqual([
    'Frame',
    null,
  ]);
});

test('events of the gateway’s worker do not reach the site', async () => {
  const { visit } = site();
  const page = await visit('', 'Own');
  const heard = await page.evaluate(async () => {
    const heard: string[] = [];
    const { serviceWorker } = navigator;
    for (const type of ['controllerchange', 'message', 'messageerror']) {
      serviceWorker.addEventListener(type, () => heard.push(type));
    }
    serviceWorker.oncontrollerchange = () => heard.push('oncontrollerchange');
    serviceWorker.onmessage = () => heard.push('onmessage');
    serviceWorker.startMessages();
    for (const type of ['controllerchange', 'message', 'messageerror'])
      serviceWorker.dispatchEvent(new Event(type));
    return heard;
  });
  expect(heard).toEqual([]);
});

/** The script of the worker that the browser has for the page’s origin, past what the page is told. */
async function workerOf(page: Page): Promise<string | undefined> {
  return page.evaluate(async () => {
    const frame = document.createElement('iframe');
    document.body.append(frame);
    const { getRegistration } = (frame.contentWindow as unknown as typeof globalThis).ServiceWorkerContainer
      .prototype;
    return (await getRegistration.call(navigator.serviceWorker))?.active?.scriptURL;
  });
}
