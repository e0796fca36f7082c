import type { Page } from '@playwright/test';
import { Address } from '../../src/address.ts';
import { expect, fetchIn, type Gateway, openShellIn, sceneOfFile, test } from '../support/chromium.ts';
import { LoopbackServer } from '../support/loopback-server.ts';
import { makePrivateManifest } from '../support/manifests.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import type { Files } from '../support/tar.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { attack } from './attack.ts';
import { Outside } from './hostile-site.ts';

const group = 'What the user opened';

interface Scene {
  peer: PeerProcess;
  /** At a name below which sites have origins of their own. */
  gateway: Gateway;
  root: string;
  outside: Outside;
}

const page = (title: string, body = '') => `<!doctype html><title>${title}</title>${body}`;

const scene = sceneOfFile<Scene>(async ({ startPeer, startHost, openWorker, context }) => {
  const peer = await startPeer();
  const gateway = await openWorker({ peers: [peer.url] });
  const host = await startHost({ peers: [peer.url] });
  const root = `http://antway.localhost:${new URL(host.url).port}`;
  await openShellIn(context, root);
  return { peer, gateway, root, outside: await Outside.start() };
});

test.afterAll(async () => {
  await scene()?.outside[Symbol.asyncDispose]();
});

const publishSite = async (files: Files) => publish(await makeTarchive(files), scene().peer);

const originOf = (address: string) => scene().root.replace('//', `//${Address.fromHex(address).base32}.`);

/** Opens a site on its own origin, in a new tab. */
async function openSite(address: string, title: string, path = ''): Promise<Page> {
  const tab = await scene().gateway.shell.context().newPage();
  await tab.goto(`${scene().root}/${address}/${path}`);
  await expect(tab).toHaveTitle(title);
  expect(new URL(tab.url()).origin).toBe(originOf(address));
  return tab;
}

/** A new page of another website. */
async function openOutside(): Promise<Page> {
  const tab = await scene().gateway.shell.context().newPage();
  await tab.goto(scene().outside.url);
  return tab;
}

/** Returns all that a page sees of a URL of another origin, without the times. */
function observe(tab: Page, url: string): Promise<unknown> {
  return tab.evaluate(async (url) => {
    const seen: Record<string, unknown> = {};
    for (const [name, attribute] of [
      ['iframe', 'src'],
      ['object', 'data'],
      ['embed', 'src'],
      ['img', 'src'],
      ['script', 'src'],
    ] as const) {
      const element = document.createElement(name);
      const event = new Promise((resolve) => {
        for (const type of ['load', 'error'])
          element.addEventListener(type, () => resolve(type), { once: true });
        setTimeout(resolve, 5_000, 'nothing');
      });
      element.setAttribute(attribute, url);
      document.body.append(element);
      seen[name] = [await event, name === 'iframe' && (element as HTMLIFrameElement).contentWindow!.length];
    }
    for (const mode of ['cors', 'no-cors'] as const) {
      seen[mode] = await fetch(url, { mode, cache: 'no-store' }).then(
        ({ status, type }) => [status, type],
        () => 'failed',
      );
    }
    seen.timing = (performance.getEntriesByName(url) as PerformanceResourceTiming[]).map((entry) => [
      entry.initiatorType,
      entry.responseStart > 0,
      entry.transferSize,
      entry.encodedBodySize,
      entry.nextHopProtocol,
      (entry as { responseStatus?: number }).responseStatus,
    ]);
    return seen;
  }, url);
}

attack(
  group,
  'frames and requests URLs of a site that the user opened and of one that the user never opened',
  'The events, answers and performance entries are the same.',
  async () => {
    const attacker = await publishSite({ 'index.html': page('Attacker') });
    const opened = await publishSite({ 'index.html': page('Opened') });
    const never = await publishSite({ 'index.html': page('Never') });
    await openSite(opened, 'Opened');
    const tab = await openSite(attacker, 'Attacker');
    for (const path of [
      '/-/info',
      '/-/health',
      '/-/ready',
      '/',
      '/index.html',
      '/none',
      `/chunk/${opened}`,
      '/-/site',
    ]) {
      const seen = await Promise.all(
        [opened, never].map((address) => observe(tab, `${originOf(address)}${path}?${Math.random()}`)),
      );
      expect(seen[0], path).toEqual(seen[1]);
    }
  },
);

attack(
  group,
  'sets cookies for the gateway’s name, so that other sites send and read them',
  'No HTML document of the other site reads them, at any path, and no other document those of the path `/`.',
  async () => {
    const attacker = await publishSite({ 'index.html': page('Attacker') });
    const script = '<script>document.title = "cookies: " + document.cookie</script>';
    const picture = `<svg xmlns="http://www.w3.org/2000/svg"><title/>${script.replace('document.title', 'document.querySelector("title").textContent')}</svg>`;
    const victim = await publishSite({
      'index.html': page('Victim'),
      'a/b/deep.html': page('', script),
      'a/b/wide.html': new Uint8Array(Buffer.from(`\ufeff${page('', script)}`, 'utf16le')),
      'picture.svg': picture,
    });
    await openSite(victim, 'Victim');
    const tab = await openSite(attacker, 'Attacker');
    const cookies = await tab.evaluate(() => {
      for (const path of ['/', '/a', '/a/', '/a/b', '/a/b/deep.html']) {
        for (const cookie of [`id${path.length}=7`, `track ${path.length}`]) {
          // biome-ignore lint/suspicious/noDocumentCookie: that is the attack
          document.cookie = `${cookie}; Domain=antway.localhost; Path=${path}`;
        }
      }
      // biome-ignore lint/suspicious/noDocumentCookie: that is the attack
      document.cookie = 'part=7; Secure; Partitioned; Domain=antway.localhost; Path=/';
      return document.cookie;
    });
    expect(cookies).toBe('id1=7; track 1; part=7');
    const own = await scene().gateway.shell.context().newPage();
    await own.goto(`${originOf(victim)}/picture.svg`);
    await expect(own).toHaveTitle('cookies:');
    await tab.evaluate(() => {
      // biome-ignore lint/suspicious/noDocumentCookie: that is the attack
      document.cookie = 'again=7; Domain=antway.localhost; Path=/a/b/';
    });
    await tab.close();
    for (const name of ['deep', 'wide']) {
      await own.goto(`${originOf(victim)}/a/b/${name}.html`);
      await expect(own).toHaveTitle('cookies:');
    }
  },
);

attack(
  group,
  'watches whether its cookie of the gateway’s name stays, while it leads the browser to another site unseen',
  'It stays, whether the user opened that site or not.',
  async () => {
    const attacker = await publishSite({ 'index.html': page('Attacker') });
    const opened = await publishSite({
      'index.html': page('Opened'),
    });
    const never = await publishSite({ 'index.html': page('Never') });
    await (await openSite(opened, 'Opened')).close();
    const tab = await openSite(attacker, 'Attacker');
    const watch = (way: string, url: string) =>
      tab.evaluate(
        async ([way, url]) => {
          // biome-ignore lint/suspicious/noDocumentCookie: that is the attack
          document.cookie = 'probe=1; Domain=antway.localhost; Path=/';
          const rules = document.createElement('script');
          rules.type = 'speculationrules';
          rules.textContent = JSON.stringify({
            [way]: [{ source: 'list', urls: [url], eagerness: 'immediate' }],
          });
          let popup: Window | null = null;
          if (way === 'popup') popup = window.open(url);
          else document.head.append(rules);
          await new Promise((resolve) => setTimeout(resolve, 700));
          rules.remove();
          popup?.close();
          return document.cookie;
        },
        [way, url] as const,
      );
    for (const site of [opened, never]) {
      for (const [way, path] of [
        ['prefetch', '/'],
        ['prerender', '/'],
        ['popup', '/-/info'],
      ] as const) {
        expect(await watch(way, `${originOf(site)}${path}?${Math.random()}`), `${way} ${path}`).toBe(
          'probe=1',
        );
      }
    }
  },
);

attack(
  group,
  'shows a file for downloads in a frame that hides its URL, while the site is open',
  'The frame shows an error, as for a site that is not open.',
  async () => {
    const attacker = await publishSite({ 'index.html': page('Attacker') });
    const opened = await publishSite({ 'index.html': page('Opened'), 'x.bin': 'x', 'x.pdf': '%PDF-1.4' });
    await openSite(opened, 'Opened');
    const tab = await openSite(attacker, 'Attacker');
    const event = (url: string) =>
      tab.evaluate(async (url) => {
        const frame = document.createElement('iframe');
        frame.referrerPolicy = 'no-referrer';
        frame.src = url;
        document.body.append(frame);
        return new Promise((resolve) => {
          frame.onload = () => resolve('load');
          setTimeout(resolve, 3_000, 'nothing');
        });
      }, url);
    for (const path of ['/x.bin', '/?download', '/index.html?format=raw&download'])
      expect(await event(originOf(opened) + path), path).toBe('load');
    expect(await event(`${scene().root}/${opened}/x.bin?download`)).toBe('load');
  },
);

attack(
  group,
  'sends a form, which may lead to that site only, to a path of the gateway on it',
  'The site’s own host answers, whether the user opened the site or not.',
  async () => {
    const opened = await publishSite({ 'index.html': page('Opened') });
    const never = await publishSite({ 'index.html': page('Never') });
    const other = await publishSite({ 'index.html': page('Other') });
    await (await openSite(opened, 'Opened')).close();
    for (const site of [opened, never]) {
      const tab = await openOutside();
      const left = tab.waitForURL((url) => url.origin === originOf(site));
      await tab.evaluate(
        ([origin, path]) => {
          const policy = document.createElement('meta');
          policy.httpEquiv = 'Content-Security-Policy';
          policy.content = `form-action ${origin}`;
          document.head.append(policy);
          const form = document.body.appendChild(document.createElement('form'));
          form.action = origin + path;
          form.submit();
        },
        [originOf(site), `/-/content/${other}/`] as const,
      );
      await left;
      await tab.close();
    }
  },
);

attack(
  group,
  'watches its cookies while the library asks the origins of sites',
  'The library uses no cookie.',
  async () => {
    const attacker = await publishSite({ 'index.html': page('Attacker') });
    const tab = await openSite(attacker, 'Attacker');
    await tab.evaluate(() => {
      const seen = new Set<string>();
      Object.assign(window, { seen });
      setInterval(() => document.cookie && seen.add(document.cookie), 1);
      const store = (window as unknown as { cookieStore: EventTarget }).cookieStore;
      store.addEventListener('change', (event) => seen.add(JSON.stringify(event)));
    });
    const library = await openShellIn(scene().gateway.shell.context(), `${scene().root}/#library`);
    await library.getByRole('button', { name: 'Pin: Attacker' }).click();
    await expect(library.getByText('Attacker is ready for offline use')).toBeVisible();
    expect(await tab.evaluate(() => [...(window as unknown as { seen: Set<string> }).seen])).toEqual([]);
  },
);

attack(
  group,
  'another website asks a peer on the user’s machine which chunks it has',
  'The peer refuses the requests of that website.',
  async () => {
    const { peer } = scene();
    const stored = await publishSite({ 'index.html': page('Stored') });
    const { port } = new URL(peer.url);
    const tab = await openOutside();
    // The website of this test is at a name of loopback, too. Its sandboxed frame has the origin of a stranger.
    const reads = await tab.evaluate(
      async (urls) => {
        const frame = document.createElement('iframe');
        frame.sandbox.add('allow-scripts');
        const script = async (urls: string[]) => {
          const read = (url: string) =>
            fetch(url).then(
              ({ status }) => status,
              () => 'failed',
            );
          parent.postMessage(await Promise.all(urls.map(read)), '*');
        };
        const answered = new Promise((resolve) => addEventListener('message', ({ data }) => resolve(data)));
        frame.srcdoc = `<script>(${script})(${JSON.stringify(urls)})</script>`;
        document.body.append(frame);
        return answered;
      },
      ['127.0.0.1', 'localhost', 'antway.localhost', 'any.localhost'].flatMap((name) =>
        [`/chunk/${stored}`, `/chunk/${'ab'.repeat(32)}`, '/-/info'].map(
          (path) => `http://${name}:${port}${path}`,
        ),
      ),
    );
    expect(new Set(reads as string[])).toEqual(new Set(['failed']));
  },
);

attack(
  group,
  'a page of a site asks the peers which chunks they have, by all names of the machine',
  'The worker of the site’s origin refuses the requests, and the peers refuse frames.',
  async () => {
    const { peer } = scene();
    const attacker = await publishSite({ 'index.html': page('Attacker') });
    const stored = await publishSite({ 'index.html': page('Stored') });
    const tab = await openSite(attacker, 'Attacker');
    const { port } = new URL(peer.url);
    for (const name of ['127.0.0.1', 'localhost', 'x.localhost']) {
      for (const path of [`/chunk/${stored}`, '/-/info']) {
        await expect(fetchIn(tab, `http://${name}:${port}${path}`), name).rejects.toThrow('Failed to fetch');
      }
    }
    // The worker of a site sees no requests of frames. The peer refuses them.
    for (const path of [`/chunk/${stored}`, '/-/info']) {
      const url = `http://x.antway.localhost:${port}${path}`;
      const answer = tab.waitForEvent('response', (response) => response.url() === url);
      await tab.evaluate((url) => {
        const frame = document.createElement('iframe');
        frame.sandbox.value = 'allow-same-origin';
        frame.src = url;
        document.body.append(frame);
      }, url);
      expect((await answer).status(), path).toBe(403);
    }
  },
);

/** The addresses that were opened last, as the start page gets them. */
async function lastOpened({ shell }: Gateway): Promise<string[]> {
  const { sites } = JSON.parse((await fetchIn(shell, '/-/sites')).text) as {
    sites: { address: string; lastOpened: number | null }[];
  };
  return sites.filter(({ lastOpened }) => lastOpened !== null).map(({ address }) => address);
}

attack(
  group,
  'another website sends forms to an address, which may follow no redirect, to learn whether the site is stored or was opened',
  'A page of the gateway replaces the website in each case.',
  async () => {
    const { peer, root, gateway } = scene();
    const manifest = await makePrivateManifest('Private', { 'index.html': page('Private site') }, peer);
    const shell = await openShellIn(gateway.shell.context(), root);
    const stored = await shell.evaluate(
      async (bytes) => {
        const answer = await fetch('/-/manifests', { method: 'POST', body: new Uint8Array(bytes) });
        return ((await answer.json()) as { id: string }).id;
      },
      [...manifest],
    );
    const site = await publishSite({ 'index.html': page('Public site') });
    // Each once with the first answer of the content, and once where the site was opened before.
    for (const [address, title] of [
      [stored, 'Private site'],
      [stored, 'Private site'],
      [site, 'Public site'],
      [site, 'Public site'],
    ] as const) {
      const tab = await openOutside();
      await tab.evaluate(
        ([root, address]) => {
          document.head.innerHTML = `<meta http-equiv="Content-Security-Policy" content="form-action ${root}">`;
          const form = document.createElement('form');
          form.action = `${root}/${address}/`;
          document.body.append(form);
          form.submit();
        },
        [root, address] as const,
      );
      await expect(tab).toHaveTitle(title);
      expect(new URL(tab.url()).origin).toBe(originOf(address));
      await tab.close();
    }
  },
);

attack(
  group,
  'another website leads windows to folders by as many redirects as the browser follows, so that another one is an error that leaves it the window',
  'No redirect follows: the website loses the window, whether the site or the private manifest is stored or not.',
  async () => {
    const { peer, root, gateway } = scene();
    // A chain of redirects to its last parameter.
    await using website = await LoopbackServer.start(({ url = '' }, response) => {
      const [, left, to] = /^\/(\d+)\/(.+)/.exec(url) ?? [];
      if (!to) response.writeHead(200, { 'Content-Type': 'text/html' }).end(page('Website'));
      else if (left === '1') response.writeHead(302, { Location: decodeURIComponent(to) }).end();
      else response.writeHead(302, { Location: `/${Number(left) - 1}/${to}` }).end();
    });
    const manifest = await makePrivateManifest('Private', { 'a.txt': 'A private text' }, peer);
    const shell = await openShellIn(gateway.shell.context(), root);
    const stored = await shell.evaluate(
      async (bytes) => {
        const answer = await fetch('/-/manifests', { method: 'POST', body: new Uint8Array(bytes) });
        return ((await answer.json()) as { id: string }).id;
      },
      [...manifest],
    );
    const opened = await publishSite({ 'index.html': page('Opened'), 'a/index.html': page('Folder') });
    const never = await publishSite({ 'index.html': page('Never'), 'a/index.html': page('Folder') });
    await (await openSite(opened, 'Opened')).close();
    const tab = await gateway.shell.context().newPage();
    await tab.goto(website.url);
    for (const [url, title] of [
      [`${originOf(opened)}/a`, 'Folder'],
      [`${originOf(never)}/a`, 'Folder'],
      [`${root}/${stored}`, /Private/],
      [`${root}/${'ab'.repeat(32)}`, /Not found/],
    ] as const) {
      const opening = tab.waitForEvent('popup');
      await tab.evaluate((url) => {
        Object.assign(window, { popup: open(`/19/${encodeURIComponent(url)}`) });
      }, url);
      const popup = await opening;
      await expect(popup).toHaveTitle(title);
      const isClosed = () => tab.evaluate(() => (window as unknown as { popup: Window }).popup.closed);
      await expect.poll(isClosed, url).toBe(true);
      await popup.close();
    }
    await tab.close();
  },
);

attack(
  group,
  'another website leads its window to many sites without showing them, to fill the list of opened sites',
  'The list has only the site that the user saw.',
  async () => {
    const { gateway } = scene();
    const note = (name: string) => publishSite({ 'index.html': page(name), 'a.bin': Buffer.alloc(9) });
    const warnings = await Promise.all(
      ['Wallet: payment 1', 'Wallet: payment 2', 'Wallet: payment 3'].map(note),
    );
    // Nothing asks the user before it is shown.
    const seen = await publish(Buffer.from('Seen'), scene().peer);
    const tab = await openOutside();
    const before = await lastOpened(gateway);
    for (const address of warnings) {
      for (const path of ['?download', 'a.bin', '?format=tar', '']) {
        await tab.evaluate((url) => void location.assign(url), `${gateway.url}/${address}/${path}`);
        await tab.waitForURL((url) => url.origin === gateway.url);
        await tab.goto(scene().outside.url);
      }
    }
    await tab.goto(`${gateway.url}/${seen}`);
    await expect.poll(() => lastOpened(gateway)).toEqual([seen, ...before]);
  },
);

attack(
  group,
  'another website opens a site on its own origin without showing it',
  'The library lists the address, without words and pictures of the site, until the user has seen the site.',
  async () => {
    const { root } = scene();
    const warning = await publishSite({ 'index.html': page('Wallet: your payment') });
    const tab = await openOutside();
    const shell = await openShellIn(scene().gateway.shell.context(), root);
    const listed = async () => {
      const { sites } = JSON.parse((await fetchIn(shell, '/-/sites')).text) as {
        sites: { address: string; title: string | null; lastOpened: number | null }[];
      };
      return sites.find(({ address }) => address === warning);
    };
    await tab.goto(`${root}/${warning}/`, { waitUntil: 'commit' });
    await tab.goto(scene().outside.url);
    await expect.poll(listed).toMatchObject({ title: null, lastOpened: null });
    await tab.goto(`${root}/${warning}/`);
    await expect.poll(async () => (await listed())?.title, { timeout: 60_000 }).toBe('Wallet: your payment');
  },
);

attack(
  group,
  'a document that prompts for a passphrase is a PDF with a script',
  'The browser shows it on no origin of the gateway. It saves the file.',
  async () => {
    const { gateway } = scene();
    const pdf =
      '%PDF-1.4\n1 0 obj<</Type/Catalog/OpenAction<</S/JavaScript/JS(app.response("Enter the passphrase"))>>>>endobj\ntrailer<</Root 1 0 R>>\n';
    const site = await publishSite({ 'index.html': page('Papers'), 'paper.pdf': pdf });
    const tab = await gateway.shell.context().newPage();
    const saving = tab.waitForEvent('download');
    await tab.goto(`${gateway.url}/${site}/paper.pdf`);
    await expect(tab.getByRole('heading')).toHaveText('Your browser saves this file');
    expect((await saving).suggestedFilename()).toBe('paper.pdf');
    const answer = await fetchIn(gateway.shell, `/${site}/paper.pdf`);
    expect(answer.headers['content-disposition']).toBeUndefined();
    const own = await gateway.shell.context().newPage();
    await own.goto(`${scene().root}/${site}/paper.pdf`).catch(() => undefined);
    await expect.poll(() => new URL(own.url()).origin).toBe(originOf(site));
  },
);
