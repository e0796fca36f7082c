import type { Page } from '@playwright/test';
import { expect, fetchIn, type Gateway, scenesOfFile, stopWorkers } from '../support/chromium.ts';
import { test as deployments } from '../support/chromium-deployments.ts';
import { Deployment, nextVersion } from '../support/deployment.ts';
import { dropInFolder } from '../support/embedding-site.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import { shellStored } from '../support/shell-stored.ts';
import { StaticHost } from '../support/static-host.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { type AttackOptions, attack as declare } from './attack.ts';

const group = 'The shell’s own files';
type Body = Parameters<typeof declare>[3];
type Fixtures = Parameters<Body>[0];

const attack = (name: string, outcome: string, body: Body, options?: AttackOptions) =>
  declare(group, name, outcome, body, options);

/** The text of a forged shell. */
const forgery = 'FORGED SHELL';

interface Parts {
  peer: PeerProcess;
  gateway: Gateway;
  /** A site that may run scripts on the gateway's origin. */
  site: string;
}

interface Scene extends Parts {
  /** A page of the site. */
  attacker: Page;
}

/** Opens the shell, and publishes a site. */
async function prepare({
  startPeer,
  openGateway,
}: Pick<Fixtures, 'startPeer' | 'openGateway'>): Promise<Parts> {
  const peer = await startPeer();
  const site = await publish(
    await makeTarchive({ 'index.html': '<!doctype html><title>Trusted</title>' }),
    peer,
  );
  return { peer, gateway: await openGateway({ peers: [peer.url], isolation: 'path' }), site };
}

const parts = scenesOfFile<'shared', Parts>(prepare);

/** Has the worker store all files of the shell anew, and opens the site, which the user trusts. */
async function attackable({ gateway, ...others }: Parts): Promise<Scene> {
  const { shell } = gateway;
  await shell.evaluate(async () => {
    for (const name of await caches.keys()) await caches.delete(name);
  });
  await stopWorkers(shell);
  await shellStored(shell);
  await decide(shell, others.site, 'trusted');
  const attacker = await gateway.openPage(`/${others.site}/`);
  await expect(attacker).toHaveTitle('Trusted');
  return { gateway, ...others, attacker };
}

/** The attacks share a gateway whose host runs on. */
const openShared = async () => attackable(await parts('shared'));

async function decide(shell: Page, address: string, decision: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ address, decision });
  expect((await fetchIn(shell, '/-/trust', { method: 'POST', headers, body })).status).toBe(204);
}

/** How the attacker's response is made. To be run in a page. */
type Forgery = 'text' | 'huge' | 'redirected' | 'opaque' | 'other headers';

/** Replaces every entry of every cache of the origin, and adds entries under the names of the shell's files. */
async function forgeCaches(attacker: Page, kind: Forgery, outside = ''): Promise<void> {
  await attacker.evaluate(
    async ({ kind, forgery, outside }) => {
      const page = `<!doctype html><title>${forgery}</title><script>document.title='${forgery}'</script>`;
      const headers = {
        'Content-Type': 'text/html',
        'Content-Security-Policy': "script-src 'unsafe-inline'",
      };
      const make = async (original: Response | undefined): Promise<Response> => {
        switch (kind) {
          case 'text':
            return new Response(page, { headers });
          case 'huge':
            return new Response(new Blob(Array.from({ length: 10 }, () => new Uint8Array(1_000_000))), {
              headers,
            });
          case 'redirected':
            return Response.redirect(`/${'ab'.repeat(32)}`, 302);
          case 'opaque':
            return fetch(outside, { mode: 'no-cors' });
          case 'other headers':
            return new Response(original ? await original.arrayBuffer() : page, { headers });
        }
      };
      for (const name of await caches.keys()) {
        const cache = await caches.open(name);
        for (const request of await cache.keys()) {
          await cache.put(request, await make(await cache.match(request)));
          // The same entry in another variant, which a lookup by the plain URL may find first.
          const variant = new Request(request.url, { headers: { Forged: '1' } });
          if (kind === 'text')
            await cache.put(variant, new Response(page, { headers: { ...headers, Vary: 'Forged' } }));
        }
        for (const path of ['/', '/index.html', '/?x', '/index.html?x'])
          await cache.put(path, await make(undefined));
      }
    },
    { kind, forgery, outside },
  );
}

/** Puts a valid module without any exports in place of all cached WebAssembly. */
async function forgeWasm(attacker: Page): Promise<void> {
  await attacker.evaluate(async () => {
    const empty = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
    const headers = { 'Content-Type': 'application/wasm' };
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const request of await cache.keys()) {
        if (/\.wasm/.test(request.url)) await cache.put(request, new Response(empty, { headers }));
      }
    }
  });
}

/**
 * Puts a forged script into the shell's cache, and a list of hashes with the script's in place of the worker's list.
 * @returns the script's path.
 */
function forgeList(attacker: Page): Promise<string> {
  return attacker.evaluate(async (forgery) => {
    const keys = async (name: string) => (await caches.open(name)).keys();
    const shell = (await caches.keys()).find((name) => name.startsWith('antway-shell-'))!;
    const list = (await keys(shell)).find(({ url }) => new URL(url).pathname === '/-/files.json')!;
    const cache = await caches.open(shell);
    const hashes = (await (await cache.match(list))!.json()) as Record<string, string>;
    const path = Object.keys(hashes).find((path) => /\/live-view-.*\.js$/.test(path))!;
    const script = new TextEncoder().encode(`document.title = '${forgery}'`);
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', script));
    hashes[path] = btoa(String.fromCharCode(...digest));
    await cache.put(list, Response.json(hashes));
    const headers = { 'Content-Type': 'text/javascript' };
    await cache.put(`${path}?sha256=${encodeURIComponent(hashes[path])}`, new Response(script, { headers }));
    return path;
  }, forgery);
}

/** Writes into the database in which the gateway keeps what the user chose. */
async function writeSettings(attacker: Page, values: Record<string, string>): Promise<void> {
  await attacker.evaluate(async (values) => {
    const opening = indexedDB.open('antway');
    await new Promise((resolve) => {
      opening.onsuccess = resolve;
    });
    const database = opening.result;
    const [name] = Array.from(database.objectStoreNames);
    const transaction = database.transaction(name!, 'readwrite');
    for (const [key, value] of Object.entries(values)) transaction.objectStore(name!).put(value, key);
    await new Promise((resolve) => {
      transaction.oncomplete = resolve;
    });
    database.close();
  }, values);
}

/** Opens the shell in a new page of the same profile, with a worker that has nothing in memory. */
async function reopen({ shell, url }: Gateway, path = '/') {
  await stopWorkers(shell);
  const page = await shell.context().newPage();
  const response = (await page.goto(url + path))!;
  return { page, response };
}

async function expectShell({ page, response }: Awaited<ReturnType<typeof reopen>>): Promise<void> {
  await expect(page.getByRole('combobox', { name: 'Search or open an address' })).toBeVisible();
  expect(await page.title()).not.toContain(forgery);
  expect(response.status()).toBe(200);
  const headers = response.headers();
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  expect(headers['content-security-policy']).toContain("default-src 'none'");
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  expect(headers['content-security-policy']).not.toContain('unsafe-inline');
  expect(headers['cross-origin-opener-policy']).toBe('same-origin-allow-popups');
  expect(headers['x-content-type-options']).toBe('nosniff');
}

/** Files that were found changed since the worker started. */
async function damagedFiles(page: Page): Promise<number> {
  return JSON.parse((await fetchIn(page, '/-/stats')).text).files.damaged;
}

attack(
  'A trusted page overwrites all files in the shell’s cache; then the user revokes trust and resets the gateway.',
  'The worker compares each file with its hash, and shows the real shell.',
  async () => {
    const { gateway, attacker, site } = await openShared();
    await forgeCaches(attacker, 'text');
    await decide(gateway.shell, site, 'restricted');
    // Revoking trust has the worker check its files.
    await expect.poll(() => damagedFiles(gateway.shell)).toBeGreaterThan(0);
    const headers = { 'Content-Type': 'application/json' };
    const reset = { method: 'POST', headers, body: '{"chunks":true}' };
    expect((await fetchIn(gateway.shell, '/-/reset', reset)).status).toBe(204);
    // The reset leads the page to the shell. A page that is closed meanwhile may never report its end.
    await attacker.waitForURL(`${gateway.url}/`);
    await attacker.close();

    const opened = await reopen(gateway);
    await expectShell(opened);
    // The worker stored the damaged file anew: the next worker finds nothing wrong with it.
    await expectShell(await reopen(gateway));
    const last = await reopen(gateway);
    await expectShell(last);
    expect(await damagedFiles(last.page)).toBe(0);
  },
  { tag: '@full' },
);

attack(
  'A trusted page puts another list of the shell’s files into the cache, and a script of its own that the list names.',
  'The worker’s script has the hash of the list: the worker fetches the real list, and serves the real script.',
  async () => {
    const { gateway, attacker } = await openShared();
    const script = await forgeList(attacker);
    const opened = await reopen(gateway);
    const answer = await fetchIn(opened.page, script);
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain(forgery);
    expect(await damagedFiles(opened.page)).toBe(1);
  },
);

attack(
  'A trusted page puts other WebAssembly in place of the worker’s Brotli decoder.',
  'The worker compiles only the module whose hash it has.',
  async () => {
    const { peer, gateway, attacker } = await openShared();
    await forgeWasm(attacker);
    const text = 'compressible '.repeat(1000);
    const address = await publish(Buffer.from(text), peer);
    await stopWorkers(gateway.shell);
    expect(await fetchIn(gateway.shell, `/${address}`)).toMatchObject({ status: 200, size: text.length });
    expect(await damagedFiles(gateway.shell)).toBe(1);
  },
  { tag: '@full' },
);

attack(
  'A script of a site that embeds the gateway puts other WebAssembly in place of the drop-in worker’s decoder.',
  'The drop-in’s worker has the hashes too, and compiles only the right module.',
  async ({ page, startPeer }) => {
    const peer = await startPeer();
    const text = 'compressible '.repeat(1000);
    const address = await publish(Buffer.from(text), peer);
    const embedding = `<!doctype html><title>Site</title><script src="antway.js" data-peers="${peer.url}"></script>`;
    const host = await StaticHost.start({ folders: [dropInFolder], files: { '/index.html': embedding } });
    try {
      await page.goto(host.url);
      await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
      await forgeWasm(page);
      await stopWorkers(page);
      const answer = await fetchIn(page, `/ant/${address}`, { headers: { 'Antway-As-Data': '1' } });
      expect(answer).toMatchObject({ status: 200, size: text.length });
      expect(JSON.parse((await fetchIn(page, '/ant/-/stats')).text).files).toEqual({
        damaged: 1,
        refused: 0,
      });
    } finally {
      await host.stop();
    }
  },
  { tag: '@full' },
);

for (const [kind, name] of [
  ['huge', 'A trusted page stores responses of 10 MB as the shell’s files.'],
  ['redirected', 'A trusted page stores redirects as the shell’s files.'],
  ['opaque', 'A trusted page stores opaque responses of another origin as the shell’s files.'],
  ['other headers', 'A trusted page stores the shell’s own files with a weaker policy and another type.'],
] as const) {
  attack(
    name,
    kind === 'other headers'
      ? 'The worker makes the headers itself: only the verified bytes come from the cache.'
      : 'The worker stops reading at the limit, fetches the files from the host and shows the real shell.',
    async () => {
      deployments.setTimeout(180_000);
      const { peer, gateway, attacker } = await openShared();
      await forgeCaches(attacker, kind, `${peer.url}/-/info`);
      await expectShell(await reopen(gateway));
      await expectShell(await reopen(gateway, '/index.html?from=a-link'));
    },
    kind === 'other headers' ? {} : { tag: '@full' },
  );
}

attack(
  'A trusted page deletes all caches of the gateway.',
  'The worker fetches its files from the host, checks them and stores them again.',
  async ({ startPeer, openGateway }) => {
    const { gateway, attacker } = await attackable(await prepare({ startPeer, openGateway }));
    await attacker.evaluate(async () => {
      for (const name of await caches.keys()) await caches.delete(name);
    });
    await expectShell(await reopen(gateway));
    await gateway.host.kill();
    await expectShell(await reopen(gateway));
  },
  { tag: '@full' },
);

attack(
  'A trusted page forges the shell’s files, and the host cannot be reached.',
  'A page of the worker’s own says so, in the user’s language; the forgery is not shown.',
  async ({ startPeer, openGateway }) => {
    const { gateway, attacker } = await attackable(await prepare({ startPeer, openGateway }));
    // Also what the worker's page depends on.
    await writeSettings(attacker, { language: '__proto__', theme: '"><script>' });
    await forgeCaches(attacker, 'text');
    await gateway.host.kill();
    const { page, response } = await reopen(gateway);
    expect(response.status()).toBe(503);
    await expect(page.getByText('Code HOST_UNREACHABLE')).toBeVisible();
    await expect(page.getByRole('heading')).toHaveText('The gateway’s own files are missing');
    expect(await page.title()).not.toContain(forgery);
    await writeSettings(attacker, { language: 'de', theme: 'dark' });
    await page.reload();
    await expect(page.getByRole('heading')).toHaveText('Die eigenen Dateien des Gateways fehlen');
  },
  { tag: '@full' },
);

attack(
  'A trusted page forges the shell’s files, and the host serves another file in their place.',
  'A page of the worker’s own names the code BUILD_MISMATCH; neither file is shown.',
  async ({ page, startPeer, folder }) => {
    const peer = await startPeer();
    const deployment = await Deployment.start(folder, { peers: [peer.url] }, (flags) =>
      startPeer({ flags, webTransport: 'none' }),
    );
    try {
      await page.goto(deployment.url);
      await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
      await forgeCaches(page, 'text');
      deployment.change('index.html', () => `<title>${forgery}</title>`);
      await stopWorkers(page);
      const response = (await page.reload())!;
      expect(response.status()).toBe(502);
      await expect(page.getByText('Code BUILD_MISMATCH')).toBeVisible();
      expect(await page.title()).not.toContain(forgery);
    } finally {
      await deployment.close();
    }
  },
  { tag: '@full' },
);

deployments(
  'the next version takes over at once when the host no longer has the files of the version in place',
  async ({ page, deploy, nextBuild }) => {
    const deployment = await deploy({ peers: [] });
    await page.goto(deployment.url);
    await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
    await page.evaluate(async () => {
      for (const name of await caches.keys()) await caches.delete(name);
    });
    deployment.put(nextBuild);
    await stopWorkers(page);
    await page.reload();
    await expect(async () => {
      await page.goto(deployment.url);
      await expect(page.getByRole('combobox', { name: 'Search or open an address' })).toBeVisible({
        timeout: 2_000,
      });
    }).toPass();
    expect(JSON.parse((await fetchIn(page, '/-/health')).text).version).toBe(nextVersion);
  },
);
