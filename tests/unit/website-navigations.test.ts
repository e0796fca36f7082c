import { expect, it, onTestFinished } from 'vitest';
import { deploymentAt } from '../../src/gateway/deployment.ts';
import type { RequestContext } from '../../src/gateway/request-context.ts';
import { encryptedFile, type Records } from './support/encrypted-file.ts';
import { contextOf, Network, requestOf, startGateway } from './support/gateway.ts';
import { tarchive } from './support/tar.ts';

const origin = 'http://127.0.0.1:8080';
const foreign = 'https://evil.example/page';

/** A gateway with a peer that has a site. */
async function start(files: Record<string, string>) {
  const records: Records = new Map();
  const { address } = await encryptedFile(tarchive(files), records);
  const network = new Network(records);
  const gateway = startGateway(deploymentAt(origin), { network });
  onTestFinished(() => gateway.close());
  const ask = async (
    path: string,
    as: 'fetch' | 'document' | 'iframe' | 'object',
    referrer = '',
    context: Partial<RequestContext> = {},
  ) => {
    const request = requestOf(origin + path, {}, as);
    if (as !== 'fetch') Object.defineProperty(request, 'referrer', { value: referrer });
    return (await gateway.handle(request, { ...contextOf(origin), ...context }))!;
  };
  return { hex: address.hex, network, ask };
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

it('a PDF is a download for a window and a frame, and not for a script', async () => {
  const { ask, hex } = await start({ 'a.pdf': '%PDF-1.4\n' });
  for (const as of ['document', 'iframe'] as const) {
    const answer = await ask(`/${hex}/a.pdf`, as, `${origin}/${hex}/`);
    expect(answer.headers.get('Content-Disposition')).toBe('attachment');
  }
  const fetched = await ask(`/${hex}/a.pdf`, 'fetch');
  expect(fetched.headers.get('Content-Disposition')).toBeNull();
});
