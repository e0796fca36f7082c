import type { BrowserContext, Page } from '@playwright/test';
import { Address } from '../../src/address.ts';
import { expect, fetchIn, openShellIn, sceneOfFile, stopWorkers, test } from '../support/chromium.ts';
import { LoopbackServer, passOn } from '../support/loopback-server.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { attack } from './attack.ts';

const group = 'The host’s configuration';
const path = '/antway.json';

interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** A host in front of the gateway's, which answers for `antway.json` what a test says. */
class Front implements AsyncDisposable {
  /** Undefined: what the gateway's host answers. */
  answer: ((cookies: string, authorization: string | undefined) => Answer | undefined) | undefined;
  /** The cookies that requests for the file carried. */
  readonly cookies: string[] = [];
  asked = 0;

  private constructor(readonly server: LoopbackServer) {}

  static async start(host: PeerProcess): Promise<Front> {
    const server = await LoopbackServer.start(
      (request, response) => {
        const { headers, url } = request;
        if (url === path) {
          front.asked++;
          const { cookie = '', authorization } = headers;
          front.cookies.push(cookie);
          const given = front.answer?.(cookie, authorization);
          if (given) {
            response.writeHead(given.status, { 'Content-Type': 'text/plain', ...given.headers });
            response.end(given.body);
            return;
          }
        }
        // The host behind takes any cookies: this is about the file alone.
        const { cookie: _, ...others } = headers;
        void passOn(request, response, host.url, others);
      },
      { maxHeaderSize: 2 ** 20 },
    );
    const front = new Front(server);
    return front;
  }

  /** Origin by a name, below which sites have names. */
  get root(): string {
    return `http://antway.localhost:${this.server.port}`;
  }

  originOf(address: string): string {
    return this.root.replace('//', `//${Address.fromHex(address).base32}.`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server.stop();
  }
}

interface Scene {
  peer: PeerProcess;
  host: PeerProcess;
  context: BrowserContext;
  front: Front;
  /** The shell. */
  page: Page;
  /** A site of an attacker. */
  site: string;
  /** The sites on the host's deny list. */
  denied: readonly string[];
}

/** A site for each attack, so that the worker of its origin knows nothing from an attack before. */
const deniedSites = 16;

const scene = sceneOfFile<Scene>(async ({ startPeer, startHost, context, use }) => {
  const peer = await startPeer();
  const publishPage = async (html: string) => publish(await makeTarchive({ 'index.html': html }), peer);
  const site = await publishPage('<!doctype html><title>Cookie bomb</title>');
  const denied = await Promise.all(
    Array.from({ length: deniedSites }, (_, i) => publishPage(`<!doctype html><title>Denied ${i}</title>`)),
  );
  const host = await startHost({ peers: [peer.url], isolation: 'subdomain', denied });
  const front = use(await Front.start(host));
  return { peer, host, context, front, page: await openShellIn(context, front.root), site, denied };
});

let peer: PeerProcess;
let front: Front;
let site: string;
/** A denied site whose origin the browser has not seen. */
let denied: string;
let page: Page;
let attacks = 0;

test.beforeEach(async () => {
  ({ peer, front, site, page } = scene());
  denied = scene().denied[attacks++]!;
  front.answer = undefined;
  front.cookies.length = 0;
  await askAgain();
  await expect.poll(() => configIn(page)).toMatchObject({ isolation: 'subdomain', problem: null });
});

/** A host in front of the gateway's at an origin that the browser has not seen. */
async function startFront(): Promise<Front> {
  return Front.start(scene().host);
}

interface Config {
  isolation: string;
  denied: string[];
  peers: string[];
  problem: string | null;
}

const configIn = async (shell: Page): Promise<Config> =>
  JSON.parse((await fetchIn(shell, '/-/config')).text) as Config;

/** Starts the worker anew, so that it asks the host again, and waits until it has done so. */
async function askAgain(): Promise<Config> {
  const before = front.asked;
  await stopWorkers(page);
  await configIn(page);
  await expect.poll(() => front.asked).toBeGreaterThan(before);
  return configIn(page);
}

/** The origin of the denied site shows nothing of it. Its worker has a configuration of its own. */
async function expectDenied(): Promise<void> {
  const tab = await page.context().newPage();
  await tab.goto(`${front.originOf(denied)}/`);
  await expect(tab.locator('body')).toContainText(/DENIED|BAD_CONFIG/);
  await tab.close();
}

const scenePolicy = () => ({ denied: scene().denied, peers: [peer.url] });

/** Checks that the configuration still has its effects. */
async function expectInForce(): Promise<void> {
  expect(await configIn(page)).toMatchObject({ isolation: 'subdomain', ...scenePolicy() });
  await expectDenied();
}

attack(
  group,
  'a site sets 170 cookies of 4 kB for the gateway’s domain, so that the host refuses requests with them',
  'the worker’s requests carry no cookies; isolation and deny list stay, and the shell deletes the cookies',
  async () => {
    // As hosts do that take headers of 16 kB.
    front.answer = (cookies) => (cookies.length > 16_000 ? { status: 431 } : undefined);
    const hostile = await page.context().newPage();
    await hostile.goto(`${front.originOf(site)}/`);
    await expect(hostile).toHaveTitle('Cookie bomb');
    await hostile.evaluate(() => {
      for (let i = 0; i < 170; i++) {
        // biome-ignore lint/suspicious/noDocumentCookie: as an attacker would
        document.cookie = `bomb${i}=${'x'.repeat(4_000)}; Domain=antway.localhost; Path=/; Max-Age=9999`;
      }
    });
    // The browser sets them a moment later.
    await expect.poll(async () => (await page.context().cookies(front.root)).length).toBeGreaterThan(100);

    expect(await askAgain()).toMatchObject({ isolation: 'subdomain', ...scenePolicy(), problem: null });
    expect(front.cookies.every((cookies) => cookies === '')).toBe(true);
    await expectInForce();

    await page.goto(front.root);
    await expect(page.getByRole('heading', { name: 'Explore the Autonomi network' })).toBeVisible();
    await expect.poll(async () => page.context().cookies(front.root)).toEqual([]);
  },
);

for (const [what, answer] of [
  ['401', { status: 401 }],
  ['403', { status: 403 }],
  ['429', { status: 429 }],
  ['431', { status: 431 }],
  ['500', { status: 500 }],
  ['a redirect to another origin', { status: 302, headers: { Location: 'http://127.0.0.1:9/login' } }],
  ['a redirect to a login page', { status: 302, headers: { Location: '/index.html' } }],
] as const satisfies readonly (readonly [string, Answer])[]) {
  attack(
    group,
    `a proxy answers ${what} for \`antway.json\``,
    'the last file stays in effect, and the shell says why',
    async () => {
      expect(await configIn(page)).toMatchObject({ isolation: 'subdomain', problem: null });
      front.answer = () => answer;
      await askAgain();
      await expect.poll(async () => (await configIn(page)).problem).toContain('stays in effect');
      await expectInForce();
    },
    what === '431' || what === 'a redirect to another origin' ? {} : { tag: '@full' },
  );
}

for (const [what, answer] of [
  ['404', { status: 404 }],
  ['410', { status: 410 }],
  ['its start page', { status: 200, headers: { 'Content-Type': 'text/html' }, body: '<!doctype html>' }],
] as const satisfies readonly (readonly [string, Answer])[]) {
  attack(
    group,
    `the host that has given \`antway.json\` answers ${what} instead`,
    'the last file stays in effect until the user resets the gateway',
    async () => {
      await expectDenied();
      front.answer = () => answer;
      await askAgain();
      await expect.poll(async () => (await configIn(page)).problem).toContain('has none any more');
      await expectInForce();

      expect((await fetchIn(page, '/-/reset', { method: 'POST', body: '{}' })).status).toBe(204);
      await expect
        .poll(() => configIn(page))
        .toMatchObject({ denied: [], peers: [front.root], problem: null });
    },
    what === '404' ? {} : { tag: '@full' },
  );
}

attack(
  group,
  'a reset while the host answers 431',
  'the last file stays effective, because no answer says that the file is missing',
  async () => {
    front.answer = () => ({ status: 431 });
    expect((await fetchIn(page, '/-/reset', { method: 'POST', body: '{}' })).status).toBe(204);
    await expect.poll(async () => (await configIn(page)).problem).toContain('431');
    await expectInForce();
  },
);

test('the gateway works with a host that has never sent the file or answers with an error', async () => {
  await using front = await startFront();
  front.answer = () => ({ status: 404 });
  const page = await openShellIn(scene().context, front.root);
  expect(await configIn(page)).toMatchObject({ peers: [front.root], problem: null });
});

test('an unclear status without a stored file leads to the defaults and a clear problem', {
  tag: '@full',
}, async () => {
  await using front = await startFront();
  front.answer = () => ({ status: 403 });
  const page = await openShellIn(scene().context, front.root);
  const { peers, problem } = await configIn(page);
  expect(peers).toEqual([front.root]);
  expect(problem).toContain('the host answered 403');
  await expect(page.getByRole('alert')).toContainText('the host answered 403');
  front.answer = undefined;
  await expect.poll(() => configIn(page)).toMatchObject({ isolation: 'subdomain', problem: null });
});

test('the worker requests the file with credentials if the host refuses a request without', async () => {
  const { context } = scene();
  await using front = await startFront();
  front.answer = (cookies) => (cookies.includes('session=1') ? undefined : { status: 401 });
  await context.addCookies([{ name: 'session', value: '1', url: front.root, httpOnly: true }]);
  const page = await openShellIn(context, front.root);
  expect(await configIn(page)).toMatchObject({ isolation: 'subdomain', problem: null });
  // While the shell opens a bridge, it has a cookie of its own for a moment.
  const names = (await context.cookies(front.root)).map(({ name }) => name);
  expect(names.filter((name) => !name.startsWith('antway-same-site-'))).toEqual(['session']);
  await context.clearCookies();
});
