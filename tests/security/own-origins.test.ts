import type { BrowserContext, Page } from '@playwright/test';
import { Address } from '../../src/address.ts';
import {
  expect,
  fetchIn,
  openShellIn,
  type SceneParts,
  sceneOfFile,
  stopWorkers,
  test,
} from '../support/chromium.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import { openAdvancedOptions } from '../support/settings.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { attack } from './attack.ts';
import { Outside } from './hostile-site.ts';

const group = 'Origins of sites';

interface Scene {
  peer: PeerProcess;
  host: PeerProcess;
  context: BrowserContext;
  root: string;
}

/** A gateway whose shell is open. */
async function prepare({
  startPeer,
  startHost,
  context,
}: Pick<SceneParts, 'startPeer' | 'startHost' | 'context'>): Promise<Scene> {
  const peer = await startPeer();
  const host = await startHost({ peers: [peer.url] });
  const root = `http://antway.localhost:${new URL(host.url).port}`;
  await openShellIn(context, root);
  return { peer, host, context, root };
}

const scene = sceneOfFile(prepare);

let peer: PeerProcess;
let context: BrowserContext;
let root: string;
let attacker: string;
let victim: string;
let sites = 0;

const originOf = (address: string) => root.replace('//', `//${Address.fromHex(address).base32}.`);
/** A site that differs from all others, so its origin is new to the browser. */
const site = (name: string) =>
  makeTarchive({
    'index.html': `<!doctype html><title>${name}</title>`,
    'note.txt': `a note of ${name}`,
    'number.txt': String(++sites),
  });

/** Has the attack use a scene, with new sites. */
async function use(used: Scene): Promise<void> {
  ({ peer, context, root } = used);
  [attacker, victim] = (await Promise.all(
    ['Attacker', 'Victim'].map(async (name) => publish(await site(name), peer)),
  )) as [string, string];
}

test.beforeEach(() => use(scene()));

async function open(url: string, title?: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  if (title) await expect(page).toHaveTitle(title);
  return page;
}

/** The content of a frame in a page, once it is loaded. The browser shows a page of its own for a refused frame. */
async function framed(page: Page, url: string): Promise<string> {
  const frame = await page.evaluateHandle((src) => {
    const frame = document.createElement('iframe');
    frame.src = src;
    const loaded = new Promise((resolve) => frame.addEventListener('load', () => resolve(frame)));
    document.body.append(frame);
    return loaded as Promise<HTMLIFrameElement>;
  }, url);
  const content = await frame.contentFrame();
  return content ? content.content() : '';
}

type Asking = { answers: unknown[] };

/** Frames a page and sends it a message with a port. The page collects the answers. */
function send(page: Page, url: string, message: object): Promise<void> {
  return page.evaluate(
    async ([src, message]) => {
      const frame = document.createElement('iframe');
      frame.src = src as string;
      document.body.append(frame);
      await new Promise((resolve) => frame.addEventListener('load', resolve));
      const { port1, port2 } = new MessageChannel();
      const answers: unknown[] = [];
      Object.assign(globalThis, { answers });
      port1.onmessage = ({ data }) => answers.push(data);
      frame.contentWindow!.postMessage(message, '*', [port2]);
    },
    [url, message] as const,
  );
}

const answersIn = (page: Page) => page.evaluate(() => (globalThis as unknown as Asking).answers);

/** As `send`. @returns the first answer. */
async function messaged(page: Page, url: string, message: object): Promise<unknown> {
  await send(page, url, message);
  await page.waitForFunction(() => (globalThis as unknown as Asking).answers.length > 0);
  return (await answersIn(page))[0];
}

/** Expects that a page still has no answer when a page that may ask has one to a later message. */
async function expectNoAnswer(page: Page): Promise<void> {
  const asking = await open(`${root}/${attacker}/`, 'Attacker');
  await messaged(asking, `${root}/-/root`, { type: 'antway:hello' });
  expect(await answersIn(page)).toEqual([]);
}

attack(group, 'frames its own bridge, to send requests by it', 'the browser refuses the frame', async () => {
  const page = await open(`${root}/${attacker}/`, 'Attacker');
  expect(await framed(page, '/-/bridge')).not.toContain('bridge.js');
  await send(page, '/-/bridge', { type: 'antway:bridge', cookie: '' });
  await expectNoAnswer(page);
});

attack(
  group,
  'frames the bridge of another site',
  'the browser refuses the frame',
  async () => {
    await open(`${root}/${victim}/`, 'Victim');
    const page = await open(`${root}/${attacker}/`, 'Attacker');
    const url = `${originOf(victim)}/-/bridge`;
    expect(await framed(page, url)).not.toContain('bridge.js');
    await send(page, url, { type: 'antway:bridge', cookie: '' });
    await expectNoAnswer(page);
  },
  { tag: '@full' },
);

attack(
  group,
  'opens its bridge in a window and sends it a request',
  'the bridge takes messages from its parent frame only',
  async () => {
    const page = await open(`${root}/${attacker}/`, 'Attacker');
    const opened = context.waitForEvent('page');
    await page.evaluate(() => Object.assign(globalThis, { bridge: window.open('/-/bridge') }));
    await (await opened).waitForLoadState();
    await page.evaluate(() => {
      const { port1, port2 } = new MessageChannel();
      const answers: unknown[] = [];
      Object.assign(globalThis, { answers });
      port1.onmessage = ({ data }) => answers.push(data);
      const { bridge } = globalThis as unknown as { bridge: Window };
      bridge.postMessage({ type: 'antway:bridge', cookie: '' }, '*', [port2]);
    });
    await expectNoAnswer(page);
  },
);

attack(
  group,
  'asks the gateway’s own origin for the settings and the manifest of another site',
  'the answer is for the origin that asks',
  async () => {
    const page = await open(`${root}/${attacker}/`, 'Attacker');
    const answer = (await messaged(page, `${root}/-/root`, {
      type: 'antway:hello',
      address: victim,
    })) as { hasManifest: boolean; settings: { deniedHashes: string[] } };
    expect(answer).toMatchObject({ hasManifest: false, settings: { deniedHashes: [] } });
    const shell = await open(root);
    const { origins } = JSON.parse((await fetchIn(shell, '/-/origins')).text);
    const addresses = origins.map(({ address }: { address: string }) => address);
    expect(addresses).toContain(attacker);
    expect(addresses).not.toContain(victim);
  },
);

attack(
  group,
  'asks the gateway’s own origin for records that the user has read',
  'it gives those of a navigation to the site that asks, once',
  async () => {
    const page = await open(`${root}/${attacker}/`, 'Attacker');
    const records = async () =>
      (
        (await messaged(page, `${root}/-/root`, { type: 'antway:hello', address: victim })) as {
          records: Blob[];
        }
      ).records.length;
    expect(await records()).toBe(0);
    await open(`${root}/${victim}/`, 'Victim');
    // The gateway's own origin has read files of both, but no navigation led to the attacker's origin.
    const shell = await open(root);
    for (const address of [attacker, victim]) {
      expect((await fetchIn(shell, `/${address}/note.txt`)).status).toBe(200);
    }
    await open(`${root}/${attacker}/note.txt`);
    expect(await records()).toBe(0);
  },
  { tag: '@full' },
);

attack(
  group,
  'asks for the user’s settings from a page that is no site',
  'the browser refuses the frame',
  async () => {
    await using outside = await Outside.start();
    const page = await open(outside.url, 'Outside');
    await send(page, `${root}/-/root`, { type: 'antway:hello' });
    await expectNoAnswer(page);
  },
);

attack(group, 'frames the shell', 'the browser refuses the frame', async () => {
  const page = await open(`${root}/${attacker}/`, 'Attacker');
  for (const url of [`${root}/`, `${root}/index.html`, `${root}/#settings`]) {
    expect(await framed(page, url)).not.toContain('id="app"');
  }
});

attack(
  group,
  'uses the endpoints of its own worker',
  'all of them are refused, also a change of the user’s settings',
  async () => {
    const page = await open(`${root}/${attacker}/`, 'Attacker');
    for (const name of [
      'stats',
      'origin',
      'origins',
      'pins',
      'settings',
      'config',
      'manifests',
      'cache',
      'handed-records',
    ]) {
      expect((await fetchIn(page, `/-/${name}`)).status, name).toBe(403);
    }
    const statuses = await page.evaluate(async () => {
      const form = new FormData();
      form.set('settings', JSON.stringify({ settings: { peers: ['https://evil.example'] } }));
      const asked = [
        fetch('/-/origin', { method: 'PUT', body: form }),
        fetch('/-/settings', { method: 'PUT', body: '{"peers":["https://evil.example"]}' }),
        fetch('/-/reset', { method: 'POST', body: '{"chunks":true}' }),
      ];
      return (await Promise.all(asked)).map(({ status }) => status);
    });
    expect(statuses).toEqual([403, 403, 403]);
  },
);

attack(
  group,
  'reads the storage of another site or of the gateway, and registers a worker for it',
  'each origin has its own, and the browser refuses the worker',
  async () => {
    const page = await open(`${root}/${victim}/`, 'Victim');
    await page.evaluate(async () => {
      localStorage.setItem('secret', 'kept');
      await (await caches.open('secret')).put('/secret', new Response('kept'));
    });
    const hostile = await open(`${root}/${attacker}/`, 'Attacker');
    const seen = await hostile.evaluate(
      async ([victim, root]) => {
        const read = (url: string) =>
          fetch(url).then(
            (response) => response.text(),
            () => 'refused',
          );
        // As a page does that has got hold of the browser's own functions.
        const frame = document.createElement('iframe');
        frame.src = '/note.txt';
        document.body.append(frame);
        await new Promise((resolve) => frame.addEventListener('load', resolve));
        const { serviceWorker } = frame.contentWindow!.navigator;
        const register = (script: string, scope: string) =>
          serviceWorker.register(script, { scope }).then(
            () => 'registered',
            () => 'refused',
          );
        return {
          storage: localStorage.length,
          caches: (await caches.keys()).filter((name) => name === 'secret'),
          read: await Promise.all([`${victim}/note.txt`, `${root}/-/sites`, `${root}/-/origins`].map(read)),
          others: await Promise.all([`${victim}/`, `${root}/`].map((scope) => register('/sw.js', scope))),
          ownScript: await register('/note.txt', '/'),
          // The gateway's worker of its own origin: it shows that the function works here.
          ownOrigin: await register('/sw.js', '/'),
        };
      },
      [originOf(victim), root] as const,
    );
    expect(seen).toMatchObject({
      storage: 0,
      caches: [],
      others: ['refused', 'refused'],
      ownScript: 'refused',
      ownOrigin: 'registered',
    });
    expect(seen.read.join()).not.toMatch(/a note of|address/);
  },
  { tag: '@full' },
);

attack(
  group,
  'has the host’s answer to the probe fail once sites have had origins of their own',
  'no script runs on the gateway’s own origin, and no question asks for trust',
  async ({ startPeer, startHost, context: own }) => {
    const used = await prepare({ startPeer, startHost, context: own });
    await use(used);
    const page = await open(`${root}/${victim}/`, 'Victim');
    const another = await publish(
      await makeTarchive({
        'index.html': '<!doctype html><title>Still</title><script>document.title = "ran"</script>',
      }),
      peer,
    );
    await used.host.kill();
    // The worker that remembers a probe that succeeded just now.
    await stopWorkers(page);
    await page.goto(`${root}/${another}/`);
    await expect(page).toHaveTitle('Still');
    expect(page.url()).toBe(`${root}/${another}/`);
  },
  { tag: '@full' },
);

attack(
  group,
  'is shown on the gateway’s own origin and loads its scripts there',
  'the document has a policy without scripts',
  async () => {
    const address = await publish(
      await makeTarchive({
        'index.html': '<!doctype html><title>Still</title><script>document.title = "ran"</script>',
        'picture.svg':
          '<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = "ran"</script></svg>',
      }),
      peer,
    );
    const shell = await open(root);
    for (const path of ['', 'index.html', 'picture.svg']) {
      const { headers } = await fetchIn(shell, `/${address}/${path}`);
      expect(headers['content-security-policy']).toContain("script-src 'none'");
      const page = await context.newPage();
      await page.goto(`${root}/${address}/${path}`);
      // On its own origin, it runs.
      await expect(page).toHaveTitle('ran');
      expect(new URL(page.url()).origin, path).toBe(originOf(address));
    }
  },
);

attack(
  group,
  'opens a page of the gateway on its origin in a window and sends requests with that window’s functions',
  'the site cannot access the window',
  async () => {
    const page = await open(`${root}/${attacker}/`, 'Attacker');
    for (const path of ['/-/site', '/-/bridge']) {
      const opened = context.waitForEvent('page');
      await page.evaluate((path) => Object.assign(globalThis, { target: window.open(path) }), path);
      const gateway = await opened;
      await gateway.waitForLoadState();
      const answer = await page.evaluate(async () => {
        try {
          const { target } = globalThis as unknown as { target: typeof globalThis };
          return (await target.fetch('/-/pins')).status;
        } catch {
          return 'no window';
        }
      });
      expect(answer, path).toBe('no window');
      await gateway.close();
    }
  },
  { tag: '@full' },
);

attack(
  group,
  'leads to the gateway’s page on a site’s origin while the gateway’s own origin does not answer',
  'the settings that the site’s origin has received stay effective',
  async ({ startPeer, startHost, context: own }) => {
    await use(await prepare({ startPeer, startHost, context: own }));
    const shell = await open(root);
    await fetchIn(shell, '/-/settings', { method: 'PUT', body: JSON.stringify({ denied: [victim] }) });
    const page = await context.newPage();
    await page.goto(`${originOf(victim)}/`);
    await expect(page.getByRole('heading')).toHaveText('This address is blocked on this gateway');
    await page.route(`${root}/-/root`, (route) => route.abort());
    await shell.evaluate(async () => (await navigator.serviceWorker.ready).unregister());
    await shell.close();
    await page.goto(`${originOf(victim)}/-/site`);
    await expect(page.getByRole('heading')).toHaveText('This site in this browser');
    expect((await page.goto(`${originOf(victim)}/`))!.status()).toBe(451);
  },
  { tag: '@full' },
);

attack(
  group,
  'asks the gateway’s own origin how much the user stores, again and again',
  'the answer is too coarse to tell which sites the user opens',
  async () => {
    const page = await open(`${root}/${attacker}/`, 'Attacker');
    const limit = async () => {
      const { settings } = (await messaged(page, `${root}/-/root`, { type: 'antway:hello' })) as {
        settings: { settings: { cache: { maxBytes: number } } };
      };
      return settings.settings.cache.maxBytes;
    };
    const before = await limit();
    const shell = await open(root);
    const stored = async () => JSON.parse((await fetchIn(shell, '/-/cache')).text).bytes;
    const storedBefore = await stored();
    expect((await fetchIn(shell, `/${victim}/note.txt`)).status).toBe(200);
    await expect.poll(stored).toBeGreaterThan(storedBefore);
    expect(await limit()).toBe(before);
  },
  { tag: '@full' },
);

attack(
  group,
  'is opened below the name of another site, which is the gateway’s for it then',
  'nothing is opened there',
  async () => {
    const url = `${originOf(victim)}/`.replace('.antway', `.${Address.fromHex(attacker).base32}.antway`);
    const page = await open(url);
    await expect(page.getByRole('heading')).toHaveText('This site could not be opened');
    expect(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)).toBe(
      0,
    );
  },
);

attack(
  group,
  'registers scripts of the gateway for parts of its origin, so that the shell’s requests get past the worker',
  'the bridge ends those registrations and asks the worker',
  async () => {
    const page = await open(`${root}/${attacker}/`, 'Attacker');
    const registered = await page.evaluate(async () => {
      // As a page does that has got hold of the browser's own function.
      const frame = document.createElement('iframe');
      frame.src = '/note.txt';
      document.body.append(frame);
      await new Promise((resolve) => frame.addEventListener('load', resolve));
      const { serviceWorker } = (frame.contentWindow as unknown as typeof globalThis).navigator;
      const register = async (script: string, scope: string) => {
        const registration = await serviceWorker.register(script, { scope });
        const { installing, waiting, active } = registration;
        const worker = installing ?? waiting ?? active;
        // The bridge may end a registration before its worker is active.
        const isOver = () => !worker || ['activated', 'redundant'].includes(worker.state);
        await new Promise<void>((resolve) => {
          if (isOver()) resolve();
          worker?.addEventListener('statechange', () => isOver() && resolve());
        });
      };
      return Promise.allSettled([
        register('/-/bridge.js', '/-/'),
        register('/sw.js', '/note.txt'),
        register('/sw.js', '/-/bridge'),
      ]).then((outcomes) => outcomes.map(({ status }) => status));
    });
    expect(registered).toContain('fulfilled');
    const shell = await open(`${root}/#settings`);
    await openAdvancedOptions(shell);
    await shell.getByLabel('Address to block').fill(attacker);
    await shell.getByRole('button', { name: 'Block', exact: true }).click();
    await expect.poll(() => page.evaluate(async () => (await fetch('/index.html')).status)).toBe(451);
    await page.goto(`${originOf(attacker)}/note.txt`);
    await expect(page.locator('body')).not.toContainText('a note of');
  },
  { tag: '@full' },
);

attack(
  group,
  'sets hundreds of cookies for the gateway’s domain, so that the shell loses the cookie with which it checks its reach',
  'the shell sets it again and deletes those cookies: the user still manages every site',
  async ({ startPeer, startHost, context: own }) => {
    // In a profile of its own: the shell also looks at the origins of the sites in its library, which takes time.
    await use(await prepare({ startPeer, startHost, context: own }));
    const page = await open(`${root}/${attacker}/`, 'Attacker');
    await open(`${root}/${victim}/`, 'Victim');
    const library = await open(`${root}/#library`);
    const flood = await page.evaluate(() => {
      const set = () => {
        for (let i = 0; i < 300; i++) {
          // biome-ignore lint/suspicious/noDocumentCookie: that is the attack
          document.cookie = `flood-${i}=x; Domain=antway.localhost; Path=/`;
        }
      };
      set();
      setInterval(set, 1);
      return document.cookie.split('; ').length;
    });
    expect(flood).toBeGreaterThan(100);
    for (const title of ['Victim', 'Attacker']) {
      await library.getByRole('button', { name: `Pin: ${title}` }).click();
      await expect(library.getByText(`${title} is ready for offline use`)).toBeVisible();
    }
  },
  { tag: '@full' },
);
