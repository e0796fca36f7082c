import { expect, it, onTestFinished } from 'vitest';
import { deploymentAt } from '../../src/gateway/deployment.ts';
import type { RequestContext } from '../../src/gateway/request-context.ts';
import type { ServerConfig } from '../../src/server-config.ts';
import { encryptedFile, type Records } from './support/encrypted-file.ts';
import { contextOf, Network, requestOf, startGateway } from './support/gateway.ts';
import { tarchive } from './support/tar.ts';

const origin = 'http://127.0.0.1:8080';
const named = 'http://antway.localhost:8080';
const foreign = 'https://evil.example/page';

/** A gateway with a peer that has a site. */
async function start(files: Record<string, string>, config?: ServerConfig, at = origin) {
  const records: Records = new Map();
  const { address } = await encryptedFile(tarchive(files), records);
  const network = new Network(records);
  const gateway = startGateway(deploymentAt(at), { network, ...(config && { config }) });
  onTestFinished(() => gateway.close());
  const ask = async (
    path: string,
    as: 'fetch' | 'document' | 'iframe' | 'object',
    referrer = '',
    context: Partial<RequestContext> = {},
    headers = {},
  ) => {
    const request = requestOf(at + path, { headers }, as);
    if (as !== 'fetch') Object.defineProperty(request, 'referrer', { value: referrer });
    return (await gateway.handle(request, { ...contextOf(at), ...context }))!;
  };
  return { hex: address.hex, network, ask, gateway };
}

it('no endpoint answers a navigation', async () => {
  const { ask, hex } = await start({ 'a.txt': 'a' });
  for (const path of [
    'health',
    'stats',
    `export?address=${hex}`,
    `files?address=${hex}`,
    'manifests?id=1',
    'trust',
  ]) {
    const answer = await ask(`/-/${path}`, 'document', `${origin}/`);
    expect(answer.status, path).toBe(403);
    expect(answer.headers.get('Content-Disposition')).toBeNull();
  }
});

it.each(['?download', '?format=tar', 'a.bin', '?format=raw'])(
  'a page of another origin that leads a window to %s gets a page, and the peers no request for a URL that tells it',
  async (path) => {
    const { ask, hex, network } = await start({ 'a.bin': 'a', 'index.html': 'x' });
    for (const referrer of ['', foreign]) {
      const answer = await ask(`/${hex}/${path}`, 'document', referrer);
      expect(answer.headers.get('Content-Type')).toMatch(/^text\/html/);
      expect(answer.headers.get('Content-Disposition')).toBeNull();
      expect(await answer.text()).toContain('id="save"');
    }
    expect(network.asked).toEqual([]);
    const own = await ask(`/${hex}/${path}`, 'document', `${origin}/${hex}/`);
    expect(await own.text()).not.toContain('id="save"');
  },
);

it('a frame of another origin, or without a referrer, is refused before anything is read', async () => {
  const { ask, hex, network } = await start({ 'index.html': 'x' });
  for (const referrer of ['', foreign, 'http://site.antway.localhost:8080/']) {
    for (const as of ['iframe', 'object'] as const) {
      const answer = await ask(`/${hex}/`, as, referrer);
      expect(answer.status, `${as} ${referrer}`).toBe(403);
      await answer.text();
    }
  }
  expect(network.asked).toEqual([]);
  expect((await ask(`/${hex}/`, 'iframe', `${origin}/${hex}/`)).status).toBe(200);
  // A page can hide its URL. Then the content has to be open.
  const isOpenAt = async (start: string) => start === `${origin}/${hex}`;
  expect((await ask(`/${hex}/`, 'iframe', '', { isOpenAt })).status).toBe(200);
});

it.each(['?download', 'a.bin', 'a.pdf'])(
  'a frame without a referrer gets an error for %s, also while the content is open',
  async (path) => {
    const { ask, hex } = await start({ 'a.bin': 'a', 'a.pdf': '%PDF-1.4\n', 'index.html': 'x' });
    const isOpenAt = async () => true;
    for (const as of ['iframe', 'object'] as const)
      expect((await ask(`/${hex}/${path}`, as, '', { isOpenAt })).status, as).toBe(403);
    expect((await ask(`/${hex}/${path}`, 'iframe', `${origin}/${hex}/`)).status).toBe(200);
  },
);

it('a page of another origin that has content prefetched or prerendered is refused before anything is read', async () => {
  const { ask, hex, network } = await start({ 'a.txt': 'x' });
  for (const purpose of ['prefetch', 'prefetch;prerender']) {
    for (const referrer of ['', foreign])
      expect((await ask(`/${hex}/a.txt`, 'document', referrer, {}, { 'Sec-Purpose': purpose })).status).toBe(
        403,
      );
  }
  expect(network.asked).toEqual([]);
  const own = await ask(`/${hex}/a.txt`, 'document', `${origin}/`, {}, { 'Sec-Purpose': 'prefetch' });
  expect(own.status).toBe(200);
});

it.each(['', '/a', '/old'])(
  'a page of another origin that leads a window to %s gets a page in place of the redirect',
  async (path) => {
    const files = { 'a/index.html': 'x', _redirects: '/old /a/ 302\n' };
    const { ask, hex } = await start(files);
    for (const referrer of ['', foreign]) {
      const page = await ask(`/${hex}${path}`, 'document', referrer);
      expect([page.status, page.headers.get('Location')]).toEqual([200, null]);
      expect(await page.text()).toContain(`class="primary" href="/${hex}/`);
    }
    const own = await ask(`/${hex}${path}`, 'document', `${origin}/`);
    expect(own.headers.get('Location')).toContain(`/${hex}/`);
  },
);

it('where addresses have origins of their own only, other origins see no redirect and no stored manifest', async () => {
  const { ask, hex } = await start({ 'index.html': 'x' }, { isolation: 'subdomain' }, named);
  for (const referrer of ['', foreign]) {
    const page = await ask(`/${hex}/`, 'document', referrer);
    expect([page.status, page.headers.get('Location')]).toEqual([200, null]);
    expect(await page.text()).toMatch(/class="primary" href="http:\/\/\w{52}\.antway\.localhost/);
    expect((await ask(`/${hex}/`, 'iframe', referrer)).status).toBe(403);
  }
  expect((await ask(`/${hex}/`, 'document', `${named}/`)).headers.get('Location')).toContain(
    '.antway.localhost',
  );
});

it('all paths of a peer are known, and a gateway on its origin is not one', async () => {
  const { gateway, hex } = await start(
    {},
    { peers: ['antd+http://127.0.0.1:8090', 'http://127.0.0.1:8081'] },
  );
  const isOfPeer = async (url: string) => gateway.isOfPeer(new URL(url));
  for (const path of [`/chunk/${hex}`, `/pointer/${hex}`, '/-/info', '/network/info', '/metrics'])
    expect(await isOfPeer(`http://localhost:8081${path}`), path).toBe(true);
  expect(await isOfPeer(`http://localhost:8090/v1/chunks/${hex}`)).toBe(true);
  expect(await isOfPeer(`http://localhost:8081/${hex}/`)).toBe(false);
  expect(await isOfPeer(`http://localhost:8082/chunk/${hex}`)).toBe(false);
});

it('a visit counts once the window was visible for a second', async () => {
  const { ask, hex } = await start({ 'a.txt': 'Words of a stranger' });
  const listed = async () =>
    ((await (await ask('/-/sites', 'fetch')).json()) as { sites: { address: string }[] }).sites;
  const visible = new Set<string>();
  const open = async (id: string) => {
    const clientIds = { asking: '', created: id };
    const isVisible = async (id: string) => visible.has(id);
    await ask(`/${hex}/a.txt`, 'document', foreign, { clientIds, isVisible });
  };
  await open('hidden');
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect((await listed()).filter(({ address }) => address === hex)).toEqual([]);
  visible.add('shown');
  await open('shown');
  const count = async () => (await listed()).filter(({ address }) => address === hex).length;
  await expect.poll(count, { timeout: 30_000 }).toBe(1);
});

it('on the origin of a site, a PDF of another address is a download', async () => {
  const records: Records = new Map();
  const pdf = await encryptedFile(tarchive({ 'a.pdf': '%PDF-1.4\n' }), records);
  const site = await encryptedFile(tarchive({ 'b.pdf': '%PDF-1.4\n' }), records);
  const at = `http://${site.address.base32}.antway.localhost:8080`;
  const gateway = startGateway(deploymentAt(at), { records, config: { trusted: [site.address.hex] } });
  onTestFinished(() => gateway.close());
  const ask = async (path: string) => {
    const { status, headers } = (await gateway.handle(requestOf(at + path, {}, 'iframe'), contextOf(at)))!;
    return [status, headers.get('Content-Disposition')];
  };
  expect(await ask('/b.pdf')).toEqual([200, null]);
  expect(await ask(`/-/content/${pdf.address.hex}/a.pdf`)).toEqual([200, 'attachment']);
});

it('a PDF is a download for a window and a frame, and not for a script', async () => {
  const { ask, hex } = await start({ 'a.pdf': '%PDF-1.4\n' });
  for (const as of ['document', 'iframe'] as const) {
    const answer = await ask(`/${hex}/a.pdf`, as, `${origin}/${hex}/`);
    expect(answer.headers.get('Content-Disposition')).toBe('attachment');
  }
  const fetched = await ask(`/${hex}/a.pdf`, 'fetch');
  expect(fetched.headers.get('Content-Disposition')).toBeNull();
});
