import { describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { Archive, type Member } from '../../src/content/archive.ts';
import { memorySource } from '../../src/content/byte-source.ts';
import { Redirects } from '../../src/content/redirects.ts';
import type { Content, Resolver } from '../../src/content/resolver.ts';
import { RouteMap } from '../../src/content/route-map.ts';
import { answerContent, type ContentContext } from '../../src/gateway/http/content-response.ts';
import type { PolicyRequest } from '../../src/gateway/http/policy.ts';
import type { ContentTarget } from '../../src/gateway/http/target.ts';
import { textsIn } from '../../src/gateway/pages/texts/texts.ts';
import { Trace } from '../../src/stats/trace.ts';

const address = Address.fromHex('ab'.repeat(32));
const current = Address.fromHex('cd'.repeat(32));
const root = `/${address.hex}`;
const immutable = 'public, max-age=31536000, immutable';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const file = (text: string | Uint8Array): Content => ({
  kind: 'file',
  source: memorySource(typeof text === 'string' ? bytesOf(text) : text),
});

function archiveOf(
  files: Record<string, string>,
  { routes = {}, redirects = '', name }: { routes?: object; redirects?: string; name?: string } = {},
): Archive {
  const members = Object.entries(files).map(([path, text]): Member => {
    const bytes = bytesOf(text);
    return { path, size: bytes.length, modified: 0, load: async () => memorySource(bytes) };
  });
  const routeMap = RouteMap.parse(JSON.stringify({ routeMap: routes }));
  return new Archive(members, routeMap, [], name, Redirects.parse(redirects));
}

const site = (files: Record<string, string>, options?: Parameters<typeof archiveOf>[1]): Content => ({
  kind: 'archive',
  archive: archiveOf(files, options),
  tar: undefined,
});

/** Everything that a test sets. `path` and `search` are those of the URL. */
interface Asked extends Partial<Omit<ContentContext, 'policyFor'>> {
  path?: string | undefined;
  search?: string;
  name?: string;
  policy?: Partial<PolicyRequest>;
  isMutable?: boolean;
}

/** Asks for a path of some content. */
async function ask(content: Content, { path, search = '', name, policy, isMutable, ...more }: Asked = {}) {
  const policies: string[] = [];
  const hints: unknown[] = [];
  const target: ContentTarget = {
    address,
    root,
    path,
    search,
    query: new URLSearchParams(search),
    ...(name === undefined ? {} : { name }),
  };
  const resolver = {
    async locate(_: Address, __: unknown, ___: unknown, hint: unknown) {
      hints.push(hint);
      return { content, address: isMutable ? current : address, isMutable: isMutable ?? false };
    },
  } as unknown as Resolver;
  const context: ContentContext = {
    resolver,
    policyFor(of) {
      policies.push(of.hex);
      const scope = { origin: 'https://gateway.example', pathPrefix: `${root}/`, workerPath: '/sw.js' };
      return {
        mode: 'path',
        isTrusted: true,
        destination: 'document',
        scope,
        targetAddress: of.hex,
        ...policy,
      };
    },
    isNavigation: false,
    accept: null,
    isHead: false,
    range: null,
    signal: new AbortController().signal,
    trace: new Trace(),
    reader: async () => ({ texts: textsIn('en'), theme: null }),
    reportUrl: async () => undefined,
    ...more,
  };
  const answer = await answerContent(target, context);
  return { answer, policies, hints };
}

/** The representation of an answer, with its text. */
async function shown(content: Content, asked: Asked = {}) {
  const { answer } = await ask(content, asked);
  if (answer.kind !== 'representation') throw new Error(`It redirects to ${answer.location}.`);
  const { source, ...rest } = answer.representation;
  return { ...rest, text: new TextDecoder().decode(await source.read(0, source.size)) };
}

async function redirected(content: Content, asked: Asked = {}) {
  const { answer } = await ask(content, asked);
  if (answer.kind !== 'redirect') throw new Error('It does not redirect.');
  return answer;
}

describe('the answer for a file', () => {
  it('has its bytes, and a type by its name', async () => {
    const { text, etag, headers, status } = await shown(file('body {}'), { path: 'style.css' });
    expect([text, etag, status]).toEqual(['body {}', `"${address.hex}.file"`, undefined]);
    expect(headers).toMatchObject({
      'Content-Type': 'text/css; charset=utf-8',
      'Cache-Control': immutable,
      'X-Content-Type-Options': 'nosniff',
    });
    expect(headers).not.toHaveProperty('Content-Disposition');
    expect(headers).not.toHaveProperty('Vary');
  });

  it.each([
    ['folders/a.txt', 'text/plain; charset=utf-8'],
    ['a.txt/', 'text/plain; charset=utf-8'],
    ['a.txt//', 'text/plain; charset=utf-8'],
    ['txt/a', 'text/html; charset=utf-8'],
    ['', 'text/html; charset=utf-8'],
    [undefined, 'text/html; charset=utf-8'],
  ])('at the path %j has the type %s', async (path, type) => {
    expect((await shown(file('<!doctype html>'), { path })).headers['Content-Type']).toBe(type);
  });

  it('has the type of its bytes if its name has none, and may be a document', async () => {
    const type = async (content: Content, asked: Asked = {}) =>
      (await shown(content, asked)).headers['Content-Type'];
    expect(await type(file('%PDF-1.7'))).toBe('application/pdf');
    expect(await type(file('<html>'), { path: 'page' })).toBe('text/html; charset=utf-8');
    expect(await type(file(''))).toBe('text/plain; charset=utf-8');
    expect(await type({ kind: 'record', source: memorySource(bytesOf('GIF89a')) })).toBe('image/gif');
    // Only the start is read.
    expect(await type(file(`${'x'.repeat(1024)}\0`))).toBe('text/plain; charset=utf-8');
    expect(await type(file(`${'x'.repeat(1023)}\0`))).toBe('application/octet-stream');
  });

  it('has the type of a file name in the query, if it is nameless and the type is harmless', async () => {
    const type = async (path: string | undefined, search: string) =>
      (await shown(file('text'), { path, search })).headers['Content-Type'];
    expect(await type(undefined, '?filename=a.png')).toBe('image/png');
    expect(await type('', '?filename=a.png')).toBe('image/png');
    expect(await type('b', '?filename=a.png')).toBe('text/plain; charset=utf-8');
    expect(await type(undefined, '?filename=a.html')).toBe('text/plain; charset=utf-8');
    expect(await type(undefined, '?filename=a.js')).toBe('text/plain; charset=utf-8');
  });

  it.each([
    ['', undefined],
    ['?download', 'attachment; filename="a.txt"'],
    ['?download=1', 'attachment; filename="a.txt"'],
    ['?download=false', undefined],
    ['?download=0', undefined],
    ['?filename=b.txt', 'inline; filename="b.txt"'],
    ['?download&filename=b.txt', 'attachment; filename="b.txt"'],
    ['?download=0&filename=b.txt', 'inline; filename="b.txt"'],
  ])('with the query “%s” has the disposition %s', async (search, disposition) => {
    const { headers } = await shown(file('x'), { path: 'a.txt', search });
    expect(headers['Content-Disposition']).toBe(disposition);
  });

  it.each(['json', 'tar', 'zip'])('in the format %s is UNSUPPORTED', async (format) => {
    for (const path of [undefined, 'a.txt']) {
      const asking = ask(file('x'), { path, search: `?format=${format}` });
      await expect(asking).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    }
  });

  it('in an unknown format is UNSUPPORTED, unless the query is that of a path', async () => {
    for (const path of [undefined, '', 'folder/']) {
      const asking = ask(file('x'), { path, search: '?format=png' });
      await expect(asking).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    }
    expect((await shown(file('x'), { path: 'a', search: '?format=png' })).text).toBe('x');
  });

  it('changes with its name or pointer, and is that of the current target', async () => {
    const pointed = await ask(file('x'), { isMutable: true });
    expect(pointed.policies).toEqual([address.hex, current.hex]);
    const { etag, headers } = await shown(file('x'), { isMutable: true });
    expect([etag, headers['Cache-Control']]).toEqual([`"${current.hex}.file"`, 'public, no-cache']);
    const named = await shown(file('x'), { name: 'docs' });
    expect(named.headers['Cache-Control']).toBe('public, max-age=60');
  });

  it('is REFUSED by the policy before anything is fetched', async () => {
    const refused = { mode: 'embedded', isTrusted: false, destination: 'script' } as const;
    const resolver = { locate: () => expect.fail('It was fetched.') } as unknown as Resolver;
    await expect(ask(file('x'), { policy: refused, resolver })).rejects.toMatchObject({ code: 'REFUSED' });
  });

  it('is requested with the part that the client wants', async () => {
    const hintOf = async (asked: Asked) => (await ask(file('x'), asked)).hints;
    expect(await hintOf({})).toEqual([{ isInside: false, isHead: false, range: undefined }]);
    const range = expect.objectContaining({ start: 5 });
    expect(await hintOf({ path: '', isHead: true, range: 'bytes=5-9' })).toEqual([
      { isInside: true, isHead: true, range },
    ]);
  });
});

describe('the answer for an envelope', () => {
  const text = JSON.stringify({ v: 1, meta: { title: 'Notes', lang: 'md' }, content: '# Notes' });

  it('is its content, with a name of its title and language', async () => {
    const { text: content, etag, headers } = await shown(file(text), { search: '?download' });
    expect([content, etag]).toEqual(['# Notes', `"${address.hex}.envelope:md"`]);
    expect(headers).toMatchObject({
      'Content-Type': 'text/markdown; charset=utf-8',
      'Content-Disposition': 'attachment; filename="Notes.md"',
    });
  });

  it('has a name without a title, and the name of its URL', async () => {
    const untitled = JSON.stringify({ v: 1, meta: { lang: 'md' }, content: 'x' });
    const disposition = async (content: string, path?: string) =>
      (await shown(file(content), { path, search: '?download' })).headers['Content-Disposition'];
    expect(await disposition(untitled)).toBe('attachment; filename="text.md"');
    expect(await disposition(text, 'own.txt')).toBe('attachment; filename="own.txt"');
  });

  it('is the envelope itself as JSON, or with such a name', async () => {
    const json = { text, etag: `"${address.hex}.file"` };
    const asJson = await shown(file(text), { search: '?format=json' });
    expect(asJson).toMatchObject(json);
    expect(asJson.headers['Content-Type']).toBe('application/json; charset=utf-8');
    expect(await shown(file(text), { path: 'a.json' })).toMatchObject(json);
    await expect(ask(file(text), { search: '?format=tar' })).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });

  it('is a record as it is', async () => {
    const record: Content = { kind: 'record', source: memorySource(bytesOf(text)) };
    expect((await shown(record)).text).toBe(text);
  });
});

describe('the answer for a record', () => {
  const located = (pointer?: object) =>
    ({ locateRecord: async () => ({ bytes: bytesOf('raw'), pointer }) }) as unknown as Resolver;

  it('is its bytes, as a download without scripts', async () => {
    const { text, etag, headers } = await shown(file('x'), { search: '?format=raw', resolver: located() });
    expect([text, etag]).toEqual(['raw', `"${address.hex}.raw"`]);
    expect(headers).toMatchObject({
      'Content-Type': 'application/octet-stream',
      'Content-Disposition': `attachment; filename="${address.hex}"`,
      'Cache-Control': immutable,
      'Content-Security-Policy': expect.stringContaining("script-src 'none'"),
    });
  });

  it('may have a file name, and has a tag of its state if it is a pointer', async () => {
    const { etag, headers } = await shown(file('x'), {
      search: '?format=raw&filename=a.bin',
      resolver: located({ counter: 7n, target: 'there' }),
    });
    expect(etag).toBe(`"${address.hex}.raw:7-there"`);
    expect(headers).toMatchObject({
      'Content-Disposition': 'attachment; filename="a.bin"',
      'Cache-Control': 'public, no-cache',
    });
  });
});

describe('the answer for an archive', () => {
  const files = { 'index.html': 'home', 'a.txt': 'text', 'docs/b.txt': 'more', upload: '<html>' };

  it('is a member, by its path', async () => {
    expect(await shown(site(files), { path: '' })).toMatchObject({
      text: 'home',
      etag: `"${address.hex}.file:index.html"`,
      headers: { 'Content-Type': 'text/html; charset=utf-8', Vary: 'Accept' },
    });
    const { headers, ...member } = await shown(site(files), { path: 'docs/b.txt', search: '?download' });
    expect(member).toMatchObject({ text: 'more', etag: `"${address.hex}.file:docs/b.txt"` });
    expect(headers['Content-Disposition']).toBe('attachment; filename="b.txt"');
    expect(headers).not.toHaveProperty('Vary');
  });

  it('is no document if its bytes look like one and its name does not', async () => {
    const { headers } = await shown(site(files), { path: 'upload' });
    expect(headers['Content-Type']).toBe('text/plain; charset=utf-8');
    const picture = await shown(site({ upload: 'GIF89a' }), { path: 'upload' });
    expect(picture.headers['Content-Type']).toBe('image/gif');
  });

  it('is a redirect to its root or folder, with the query', async () => {
    expect(await redirected(site(files), { search: '?a=1' })).toEqual({
      kind: 'redirect',
      location: `${root}/?a=1`,
      status: 301,
      headers: { 'Cache-Control': immutable },
    });
    const folder = await redirected(site({ 'ä b/c': 'x' }), { path: 'ä b', isMutable: true });
    expect(folder).toMatchObject({
      location: `${root}/%C3%A4%20b/`,
      headers: { 'Cache-Control': 'public, no-cache' },
    });
  });

  it('is a redirect by a rule, with the status and query of the rule', async () => {
    const content = site(files, { redirects: '/old /a.txt 302\n/new /a.txt?b=2 301' });
    expect(await redirected(content, { path: 'old', search: '?a=1' })).toMatchObject({
      location: `${root}/a.txt?a=1`,
      status: 302,
    });
    expect(await redirected(content, { path: 'new', search: '?a=1' })).toMatchObject({
      location: `${root}/a.txt?b=2`,
      status: 301,
    });
  });

  it('shows a member by a rule for missing files', async () => {
    const content = site(files, { redirects: '/* /a.txt 404' });
    expect(await shown(content, { path: 'none' })).toMatchObject({ text: 'text', status: 404 });
  });

  it('is NOT_FOUND for a missing member, with its place in the site for a navigation', async () => {
    const missing = { code: 'NOT_FOUND', details: { path: 'docs/c', reason: 'it is not in the archive' } };
    const error = await ask(site(files), { path: 'docs/c' }).catch((error) => error);
    expect(error).toMatchObject(missing);
    expect(error.details).not.toHaveProperty('site');
    const navigating = ask(site(files), { path: 'docs/c', isNavigation: true });
    await expect(navigating).rejects.toMatchObject({
      ...missing,
      details: { site: { root, folder: 'docs/' } },
    });
  });

  it('is the site’s 404.html for a navigation to a missing member', async () => {
    const content = site({ ...files, '404.html': 'nothing here' });
    const page = await shown(content, { path: 'none', isNavigation: true });
    expect(page).toMatchObject({ text: 'nothing here', status: 404 });
    await expect(ask(content, { path: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('the list of a folder', () => {
  const files = { 'index.html': 'home', 'a.txt': 'text', 'docs/b.txt': 'more' };

  it.each([
    ['', '?format=json', null],
    ['', '', 'application/json'],
    ['', '', 'image/png, Application/JSON;q=0.9'],
  ])('at “%s” with the query “%s” and for “%s” is JSON', async (path, search, accept) => {
    const { text, etag, headers, isOwnPage } = await shown(site(files), { path, search, accept });
    const paths = JSON.parse(text).map(({ path }: { path: string }) => path);
    expect(paths).toEqual(['docs/', 'a.txt', 'index.html']);
    expect(etag).toMatch(new RegExp(`^"${address.hex}\\.json-\\d+"$`));
    expect(headers).toMatchObject({ 'Content-Type': 'application/json', Vary: 'Accept' });
    expect(isOwnPage).toBe(true);
  });

  it.each(['text/html, application/json', 'application/jsonp', '', null])(
    'is not the answer for a client that accepts “%s”',
    async (accept) => {
      expect((await shown(site(files), { path: '', accept })).text).toBe('home');
    },
  );

  it('is not asked for with a file', async () => {
    const { text } = await shown(site(files), { path: 'a.txt', accept: 'application/json' });
    expect(text).toBe('text');
  });

  it('is a page for a folder without a document', async () => {
    const { text, etag, headers, isOwnPage } = await shown(site(files), { path: 'docs/' });
    expect(text).toContain('b.txt');
    expect(etag).toMatch(/\.html-\d+-en:docs\/"$/);
    expect(headers).toMatchObject({
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Language': 'en',
      Vary: 'Accept, Accept-Language',
      'Cache-Control': immutable,
      'Cross-Origin-Opener-Policy': expect.any(String),
    });
    expect(isOwnPage).toBe(true);
  });

  it('has a tag of its own for each theme, frame and report', async () => {
    const reader = async () => ({ texts: textsIn('de'), theme: 'dark' as const, isFramed: true });
    const reportUrl = async () => 'https://host.example/report';
    const { text, etag } = await shown(site(files), { path: 'docs/', reader, reportUrl });
    expect(etag).toMatch(/\.html-\d+-de-dark-framed-https%3A%2F%2Fhost\.example%2Freport:docs\/"$/);
    expect(text).toContain('https://host.example/report');
  });

  it('names the archive, else the name in the URL, else the address', async () => {
    const titled = async (content: Content, name?: string) =>
      /<title>(.*?)<\/title>/.exec((await shown(content, { path: '', ...(name && { name }) })).text)![1];
    expect(await titled(site({ a: '' }, { name: 'Album' }), 'docs')).toContain('Album');
    expect(await titled(site({ a: '' }), 'docs')).toContain('docs');
    expect(await titled(site({ a: '' }))).toContain(address.hex.slice(0, 6));
  });

  it('links to the app, and has the headers of an own origin, except on the origin of another site', async () => {
    const own = await shown(site({ a: '' }), { path: '' });
    expect(own.text).toContain(`/#read=${address.hex}/`);
    const embedded = await shown(site({ a: '' }), { path: '', policy: { mode: 'embedded' } });
    expect(embedded.text).not.toContain('#read=');
    expect(embedded.headers).not.toHaveProperty('Cross-Origin-Opener-Policy');
  });
});

describe('an archive as a tar', () => {
  const files = { 'index.html': 'home', 'docs/deep/b.txt': 'more' };

  it('is its own bytes if it is one', async () => {
    const tar = memorySource(bytesOf('the tar'));
    const content: Content = { kind: 'archive', archive: archiveOf(files), tar };
    const { text, etag, headers } = await shown(content, { path: '', search: '?format=tar' });
    expect([text, etag]).toEqual(['the tar', `"${address.hex}.tar"`]);
    expect(headers).toMatchObject({
      'Content-Type': 'application/x-tar',
      'Content-Disposition': `attachment; filename="${address.hex}.tar"`,
      'Content-Security-Policy': expect.stringContaining("script-src 'none'"),
    });
    expect((await shown(content, { search: '?format=tar' })).text).toBe('the tar');
    expect((await shown(content, { path: 'docs/', search: '?format=tar' })).text).not.toBe('the tar');
  });

  it.each([
    ['docs/deep', 'deep.tar', ':docs/deep/'],
    ['docs/', 'docs.tar', ':docs/'],
  ])('is made of the folder “%s”, with the name %s', async (path, name, tag) => {
    const { text, etag, headers } = await shown(site(files), { path, search: '?format=tar' });
    expect(text).toContain('b.txt');
    expect(text).not.toContain('index.html');
    expect(etag).toBe(`"${address.hex}.tar${tag}"`);
    expect(headers['Content-Disposition']).toBe(`attachment; filename="${name}"`);
  });

  it('has the name of the archive, else of the URL', async () => {
    const disposition = async (content: Content, name?: string) =>
      (await shown(content, { path: '', search: '?format=tar', ...(name && { name }) })).headers[
        'Content-Disposition'
      ];
    expect(await disposition(site(files, { name: 'Album' }), 'docs')).toContain('"Album.tar"');
    expect(await disposition(site(files), 'docs')).toContain('"docs.tar"');
  });
});

describe('a ZIP', () => {
  const zip = memorySource(bytesOf('PK\x03\x04 the zip'));
  const content = (files: Record<string, string>): Content => ({
    kind: 'archive',
    archive: archiveOf(files),
    tar: undefined,
    zip,
  });
  const files = { 'a.txt': 'text', 'docs/b.txt': 'more' };

  it.each([
    ['', '?format=zip', 'application/zip', undefined],
    ['', '?download', 'application/zip', 'attachment; filename="archive.zip"'],
    [undefined, '?filename=b.zip', 'application/zip', 'inline; filename="b.zip"'],
    ['my.zip', '', 'application/zip', undefined],
    ['scene.usdz', '', 'application/zip', undefined],
    ['app.jar', '?download', 'application/java-archive', 'attachment; filename="app.jar"'],
  ])('at the path %j with the query “%s” is the file', async (path, search, type, disposition) => {
    const { text, etag, headers } = await shown(content(files), { path, search });
    expect([text, etag]).toEqual(['PK\x03\x04 the zip', `"${address.hex}.file"`]);
    expect(headers['Content-Type']).toBe(type);
    expect(headers['Content-Disposition']).toBe(disposition);
  });

  it.each([
    ['a.txt', 'text'],
    ['docs/b.txt', 'more'],
  ])('at the path %j is the member', async (path, text) => {
    expect((await shown(content(files), { path })).text).toBe(text);
  });

  it.each(['b.txt', 'docs/my.zip', 'none', 'favicon.ico', '.hidden', 'a.12345678901', 'a.b-c'])(
    'at the path %j has no such member',
    async (path) => {
      await expect(ask(content(files), { path })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    },
  );

  it.each(['index.html', '404.html'])('with a %s is a site, whose names have to be there', async (page) => {
    const pages = content({ ...files, [page]: 'page' });
    await expect(ask(pages, { path: 'scene.usdz' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect((await shown(pages, { path: 'my.zip' })).text).toBe('PK\x03\x04 the zip');
  });

  it('lists its members, and is no ZIP if it is another archive', async () => {
    expect((await shown(content(files), { path: '' })).headers['Content-Type']).toContain('text/html');
    await expect(ask(site(files), { path: 'my.zip' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
