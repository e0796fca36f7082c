import type { BrowserContext, Page } from '@playwright/test';
import { Address } from '../../src/address.ts';
import { expect, fetchIn, stopWorkers, test } from '../support/chromium.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import { openAdvancedOptions } from '../support/settings.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { attack } from './attack.ts';

const group = 'Origins of sites';

let peer: PeerProcess;
let host: PeerProcess;
let context: BrowserContext;
let root: string;
let attacker: string;
let victim: string;

const originOf = (address: string) => root.replace('//', `//${Address.fromHex(address).base32}.`);
const site = (name: string) =>
  makeTarchive({ 'index.html': `<!doctype html><title>${name}</title>`, 'note.txt': `a note of ${name}` });

test.beforeEach(async ({ startPeer, startHost, browser }) => {
  peer = await startPeer();
  [attacker, victim] = (await Promise.all(
    ['Attacker', 'Victim'].map(async (name) => publish(await site(name), peer)),
  )) as [string, string];
  host = await startHost({ peers: [peer.url] });
  root = `http://antway.localhost:${new URL(host.url).port}`;
  context = await browser.newContext();
  const shell = await open(root);
  await shell.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
});

test.afterEach(() => context.close());

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

/** Frames a page, sends it a message with a port, and waits a while for an answer. */
function messaged(page: Page, url: string, message: object): Promise<unknown> {
  return page.evaluate(
    async ([src, message]) => {
      const frame = document.createElement('iframe');
      frame.src = src as string;
      document.body.append(frame);
      await new Promise((resolve) => frame.addEventListener('load', resolve));
      const { port1, port2 } = new MessageChannel();
      frame.contentWindow!.postMessage(message, '*', [port2]);
      return new Promise((resolve) => {
        port1.onmessage = ({ data }) => resolve(data);
        setTimeout(resolve, 3_000, 'no answer');
      });
    },
    [url, message] as const,
  );
}

attack(group, 'frames its own bridge, to send requests by it', 'the browser refuses the frame', async () => {
  const page = await open(`${root}/${attacker}/`, 'Attacker');
  expect(await framed(page, '/-/bridge')).not.toContain('bridge.js');
  expect(await messaged(page, '/-/bridge', { type: 'antway:bridge', cookie: '' })).toBe('no answer');
});

attack(group, 'frames the bridge of another site', 'the browser refuses the frame', async () => {
  await open(`${root}/${victim}/`, 'Victim');
  const page = await open(`${root}/${attacker}/`, 'Attacker');
  const url = `${originOf(victim)}/-/bridge`;
  expect(await framed(page, url)).not.toContain('bridge.js');
  expect(await messaged(page, url, { type: 'antway:bridge', cookie: '' })).toBe('no answer');
});

attack(
  group,
  'opens its bridge in a window and sends it a request',
  'the bridge takes messages from its parent frame only',
  async () => {
    const page = await open(`${root}/${attacker}/`, 'Attacker');
    const answer = await page.evaluate(async () => {
      const bridge = window.open('/-/bridge')!;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const { port1, port2 } = new MessageChannel();
      bridge.postMessage({ type: 'antway:bridge', cookie: '' }, '*', [port2]);
      return new Promise((resolve) => {
        port1.onmessage = ({ data }) => resolve(data);
        setTimeout(resolve, 2_000, 'no answer');
      });
    });
    expect(answer).toBe('no answer');
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
    expect(origins.map(({ address }: { address: string }) => address)).toEqual([attacker]);
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
);

attack(
  group,
  'asks for the user’s settings from a page that is no site',
  'the browser refuses the frame',
  async ({ startHost }) => {
    const other = await startHost({ peers: [peer.url] });
    const page = await context.newPage();
    await page.route(`${other.url}/page`, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Other</title><body>' }),
    );
    await page.goto(`${other.url}/page`);
    expect(await messaged(page, `${root}/-/root`, { type: 'antway:hello' })).toBe('no answer');
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
);

attack(
  group,
  'has the host’s answer to the probe fail once sites have had origins of their own',
  'no script runs on the gateway’s own origin, and no question asks for trust',
  async () => {
    const page = await open(`${root}/${victim}/`, 'Victim');
    const another = await publish(
      await makeTarchive({
        'index.html': '<!doctype html><title>Still</title><script>document.title = "ran"</script>',
      }),
      peer,
    );
    await host.kill();
    // The worker that remembers a probe that succeeded just now.
    await stopWorkers(page);
    await page.goto(`${root}/${another}/`);
    await expect(page).toHaveTitle('Still');
    expect(page.url()).toBe(`${root}/${another}/`);
  },
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
      const answer = page.evaluate(async (path) => {
        const target = window.open(path)!;
        await new Promise((resolve) => setTimeout(resolve, 2_000));
        try {
          return (await target.fetch('/-/pins')).status;
        } catch {
          return 'no window';
        }
      }, path);
      const gateway = await opened;
      expect(await answer, path).toBe('no window');
      await gateway.close();
    }
  },
);

attack(
  group,
  'leads to the gateway’s page on a site’s origin while the gateway’s own origin does not answer',
  'the settings that the site’s origin has received stay effective',
  async () => {
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
    expect((await fetchIn(shell, `/${victim}/note.txt`)).status).toBe(200);
    await expect
      .poll(async () => JSON.parse((await fetchIn(shell, '/-/cache')).text).bytes)
      .toBeGreaterThan(0);
    expect(await limit()).toBe(before);
  },
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
);

attack(
  group,
  'sets hundreds of cookies for the gateway’s domain, so that the shell loses the cookie with which it checks its reach',
  'the shell sets it again and deletes those cookies: the user still manages every site',
  async () => {
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
);
