// @module-tag isolated
import { describe, expect, it, onTestFinished } from 'vitest';
import { deploymentAt, embeddedAt } from '../../src/gateway/deployment.ts';
import { type ViewPlan, viewHeader } from '../../src/gateway/http/view-plan.ts';
import type { RequestContext } from '../../src/gateway/request-context.ts';
import type { FrameReport } from '../../src/gateway/state/frame-journal.ts';
import type { ServerConfig } from '../../src/server-config.ts';
import { encryptedFile, type Records } from './support/encrypted-file.ts';
import { contextOf, requestOf, startGateway } from './support/gateway.ts';
import { tarchive } from './support/tar.ts';

const origin = 'http://127.0.0.1:8080';
const files = {
  'index.html': '<!doctype html><title>Low &amp; Tide</title><script></script>',
  'note.txt': 'a note',
  'data.bin': '\0\u0001',
  'folder/a.txt': 'a',
};

async function start(config: ServerConfig = {}, deployment = deploymentAt(origin)) {
  const records: Records = new Map();
  const { address } = await encryptedFile(tarchive(files), records);
  const gateway = startGateway(deployment, { config, records });
  onTestFinished(() => gateway.close());
  const { hex } = address;
  const ask = async (
    path: string,
    as: 'fetch' | 'document' | 'iframe' = 'fetch',
    headers: Record<string, string> = {},
    context: Partial<RequestContext> = {},
  ) =>
    (await gateway.handle(requestOf(deployment.origin + path, { headers }, as), {
      ...contextOf(deployment.origin),
      ...context,
    }))!;
  const plan = async (path: string) =>
    (await (await ask(path, 'fetch', { [viewHeader]: '1' })).json()) as ViewPlan;
  return { hex, ask, plan };
}

describe('the plan of a view on the shared origin', () => {
  it('tells whether a document could run scripts, and the decision', async () => {
    const { hex, plan } = await start();
    expect(await plan(`/${hex}/`)).toEqual({
      kind: 'shared-origin',
      address: hex,
      type: 'text/html; charset=utf-8',
      isSaved: false,
      hasScripts: true,
      decision: null,
    });
    expect(await plan(`/${hex}/note.txt`)).toMatchObject({ hasScripts: false, isSaved: false });
    expect(await plan(`/${hex}/folder/`)).toMatchObject({ hasScripts: false, isSaved: false });
    const trusting = await start({ trusted: [hex] });
    expect(await trusting.plan(`/${hex}/`)).toMatchObject({ hasScripts: true, decision: 'trusted' });
  });

  it('tells that the browser would save a file', async () => {
    const { hex, plan } = await start();
    expect(await plan(`/${hex}/data.bin`)).toMatchObject({ isSaved: true });
    expect(await plan(`/${hex}/note.txt?download=1`)).toMatchObject({ isSaved: true });
  });

  it('tells that content has another URL', async () => {
    const { hex, plan } = await start();
    expect(await plan(`/${hex}?x=1`)).toEqual({ kind: 'moved', path: `/${hex}/?x=1` });
  });

  it('counts as a visit', async () => {
    const { hex, ask, plan } = await start();
    await plan(`/${hex}/`);
    const titles = async () =>
      ((await (await ask('/-/sites')).json()) as { sites: { address: string; title: string }[] }).sites
        .filter(({ address }) => address === hex)
        .map(({ title }) => title);
    await expect.poll(titles).toEqual(['Low &amp; Tide']);
  });

  it('is the error of the content if there is one', async () => {
    const { hex, ask } = await start();
    const response = await ask(`/${hex}/none`, 'fetch', { [viewHeader]: '1' });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('leads to the site’s origin where each site has one', async () => {
    const named = deploymentAt('https://gateway.example');
    const { hex, plan } = await start({ isolation: 'subdomain' }, named);
    const { url } = (await plan(`/${hex}/page.html?x=1`)) as { url: string };
    expect(url).toMatch(/^https:\/\/[a-z2-7]{52}\.gateway\.example\/page\.html\?x=1$/);
  });

  it('is not given to navigations, nor on a site that embeds the gateway', async () => {
    const { hex, ask } = await start();
    const page = await ask(`/${hex}/note.txt`, 'document', { [viewHeader]: '1' });
    expect(await page.text()).toBe('a note');
    const embedded = await start({}, embeddedAt('https://site.example', '/ant/', '/sw.js'));
    const answer = await embedded.ask(`/ant/${embedded.hex}/note.txt`, 'fetch', { [viewHeader]: '1' });
    expect(await answer.text()).toBe('a note');
  });
});

describe('the record of framed pages', () => {
  const inFrame = (created: string) => ({ clientIds: { asking: '', created }, isOpen: async () => true });
  const report = async (ask: Awaited<ReturnType<typeof start>>['ask'], after = 0, client = '') =>
    (await (
      await ask(`/-/view?after=${after}&client=${client}`, 'fetch', {}, inFrame(''))
    ).json()) as FrameReport;

  it('has path, title and source of a page, and the requests of this page that failed', async () => {
    const { hex, ask } = await start();
    await (await ask(`/${hex}/?x=1`, 'iframe', {}, inFrame('page'))).text();
    const ofPage = { clientIds: { asking: 'page', created: '' } };
    await ask(`/${hex}/none.png`, 'fetch', {}, ofPage);
    await ask(`/${hex}/none.png`, 'fetch', {}, { clientIds: { asking: 'another', created: '' } });
    const { next } = await report(ask);
    expect(next).toMatchObject({
      address: hex,
      path: '/?x=1',
      title: 'Low &amp; Tide',
      code: null,
      failures: { NOT_FOUND: 1 },
    });
    // An earlier test may have stored the chunks.
    expect(next!.chunks.peers + next!.chunks.stored).toBeGreaterThan(0);
    expect(await report(ask, next!.sequence, next!.client)).toMatchObject({
      next: null,
      known: { path: '/?x=1' },
      isOpen: true,
    });
  });

  it('has the error of a page that failed', async () => {
    const { hex, ask } = await start();
    expect((await ask(`/${hex}/none`, 'iframe', {}, inFrame('page'))).status).toBe(404);
    expect((await report(ask)).next).toMatchObject({ path: '/none', title: null, code: 'NOT_FOUND' });
  });

  it('does not have pages of windows', async () => {
    const { hex, ask } = await start();
    await ask(`/${hex}/note.txt`, 'document', {}, inFrame('page'));
    expect((await report(ask)).next).toBeNull();
  });

  it('is for the pages of the gateway only', async () => {
    const { hex, ask } = await start();
    const client = async () => ({ url: `${origin}/${hex}/`, isTopLevel: false });
    expect((await ask('/-/view?after=0', 'fetch', {}, { client })).status).toBe(403);
  });
});
