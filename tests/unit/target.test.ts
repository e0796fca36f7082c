import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import type { Config } from '../../src/config.ts';
import { deploymentAt, embeddedAt } from '../../src/gateway/deployment.ts';
import { encodePath, parseTarget, type Target } from '../../src/gateway/http/target.ts';

const hex = 'ab'.repeat(32);
const address = Address.fromHex(hex);
const names = new Map([
  ['docs', Address.fromHex('cd'.repeat(32))],
  ['my site', address],
]);
const origin = 'https://gateway.example';

const parse = (path: string, isolation: Config['isolation'] = 'path', host = origin) =>
  parseTarget(new URL(`${host}${path}`), { names, isolation }, deploymentAt(host));
const contentOf = (target: Target) => {
  if (target.kind !== 'content') throw new Error(`${target.kind} is not content`);
  return target.content;
};
const badAddress = expect.objectContaining({ code: 'BAD_ADDRESS' });

describe('a URL of the gateway', () => {
  it.each([
    [`/${hex}`, undefined],
    [`/${hex}/`, ''],
    [`/${hex}/a/b.html`, 'a/b.html'],
    [`/${hex}/a//b/`, 'a//b/'],
    [`/${hex}/my%20file%3F.txt`, 'my file?.txt'],
    [`/${hex}/caf%C3%A9`, 'café'],
    [`/${hex}/100%25`, '100%'],
    [`/${hex}/a/../b`, 'b'],
    [`/${hex}/a\\b`, 'a/b'],
  ])('%s asks for the path %j of its address', (path, decoded) => {
    const content = contentOf(parse(path));
    expect(content).toMatchObject({ path: decoded, root: `/${hex}` });
    expect(content.address.hex).toBe(hex);
    expect(content).not.toHaveProperty('name');
  });

  it('may spell an address in upper case', () => {
    expect(contentOf(parse(`/${hex.toUpperCase()}/a`)).address.hex).toBe(hex);
  });

  it('may give a configured name in place of an address', () => {
    expect(contentOf(parse('/docs/a'))).toMatchObject({ name: 'docs', root: '/docs', path: 'a' });
    expect(contentOf(parse('/my%20site'))).toMatchObject({ name: 'my site', root: '/my%20site' });
  });

  it('keeps its query for the answer', () => {
    expect(contentOf(parse(`/${hex}/?format=json`)).query.get('format')).toBe('json');
  });

  it.each([
    '/',
    '/index.html',
    '/assets/x.js',
    '/Docs',
    '/antway.json',
    '/favicon.ico',
    '/%',
    '/-',
    '/abc123',
  ])('%s is not for the gateway', (path) => {
    expect(parse(path)).toEqual({ kind: 'other' });
  });

  it.each([
    ['/-/stats', 'stats'],
    ['/-/', ''],
    ['/-/peers/x', 'peers/x'],
  ])('%s asks for an endpoint of Antway’s own', (path, name) => {
    expect(parse(path)).toEqual({ kind: 'api', name });
  });

  it.each([hex.slice(1), `${hex}0`, `0x${hex}`, hex.slice(0, 48), `${hex}${hex.slice(0, 32)}`])(
    'that looks like an address but is not is BAD_ADDRESS: /%s',
    (segment) => {
      expect(() => parse(`/${segment}/x`)).toThrow(badAddress);
    },
  );

  it.each([
    ['an encoded slash', 'a%2Fb'],
    ['a NUL', 'a%00b'],
    ['a lone percent sign', 'a%b'],
    ['bytes that are no UTF-8', 'a%ff'],
    ['half a character', 'caf%C3'],
  ])('with %s in its path is BAD_ADDRESS', (_, segment) => {
    expect(() => parse(`/${hex}/${segment}/c`)).toThrow(badAddress);
  });

  it('never leads out of the archive', () => {
    const segment = fc.constantFrom('..', '.', '%2e%2e', '%2E.', 'a', '', '..%5c', '%252e%252e');
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 6 }), (segments) => {
        const target = parse(`/${hex}/${segments.join('/')}`);
        // Too many “..” lead to another URL, as everywhere on the web, and not to another path of this site.
        if (target.kind !== 'content') return;
        expect(target.content.path?.split('/') ?? []).not.toContain('..');
      }),
    );
  });
});

describe('a path', () => {
  it('comes back from the URL it is written in', () => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((text) => !/[/\0]/.test(text) && text !== '.' && text !== '..' && text.isWellFormed());
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (segments) => {
        const path = segments.join('/');
        expect(contentOf(parse(`/${hex}/${encodePath(path)}`)).path).toBe(path);
      }),
    );
  });
});

describe('in subdomain mode', () => {
  it('the gateway’s own origin sends to the site’s, for good unless a name may move', () => {
    expect(parse(`/${hex}/a%20b?x=1`, 'subdomain')).toMatchObject({
      kind: 'redirect',
      location: `https://${address.base32}.gateway.example/a%20b?x=1`,
      isPermanent: true,
    });
    expect(parse('/docs', 'subdomain')).toMatchObject({
      location: `https://${names.get('docs')!.base32}.gateway.example/`,
      isPermanent: false,
    });
  });

  it('a site’s origin serves its paths from the root, and nothing else', () => {
    const host = `https://${address.base32}.gateway.example`;
    const content = contentOf(parse(`/docs/${hex}`, 'subdomain', host));
    expect(content).toMatchObject({ root: '', path: `docs/${hex}` });
    expect(content.address.hex).toBe(hex);
    expect(contentOf(parse('/', 'subdomain', host)).path).toBe('');
    expect(() => parse('/a%2Fb', 'subdomain', host)).toThrow(badAddress);
  });

  it('and a site’s origin in path mode sends back to the gateway’s', () => {
    expect(parse('/a?b', 'path', `https://${address.base32}.gateway.example:8443`)).toMatchObject({
      kind: 'redirect',
      location: `https://gateway.example:8443/${hex}/a?b`,
      isPermanent: false,
    });
  });

  it('a host name that only has the length of a site’s is the gateway’s own', () => {
    expect(parse('/', 'subdomain', `https://${'1'.repeat(52)}.example`)).toEqual({ kind: 'other' });
  });
});

describe('a URL of a site that embeds the gateway', () => {
  const embedded = (path: string, isolation: Config['isolation'] = 'path', base = '/repo/ant/') =>
    parseTarget(new URL(`${origin}${path}`), { names, isolation }, embeddedAt(origin, base, '/sw.js'));

  it('is the gateway’s below its prefix, and leads on below it', () => {
    expect(contentOf(embedded(`/repo/ant/${hex}`))).toMatchObject({
      root: `/repo/ant/${hex}`,
      path: undefined,
    });
    expect(contentOf(embedded(`/repo/ant/${hex}/a/b`))).toMatchObject({
      root: `/repo/ant/${hex}`,
      path: 'a/b',
    });
    expect(contentOf(embedded('/repo/ant/docs/'))).toMatchObject({
      root: '/repo/ant/docs',
      name: 'docs',
      path: '',
    });
    expect(embedded('/repo/ant/-/stats')).toEqual({ kind: 'api', name: 'stats' });
    expect(() => embedded(`/repo/ant/${hex}0`)).toThrow(badAddress);
  });

  it.each([
    `/${hex}/`,
    '/-/stats',
    '/repo/',
    '/repo/ant',
    `/repo/${hex}`,
    '/docs/',
    '/repo/ant/',
    '/repo/ant/photo.jpg',
  ])('is the site’s at %s', (path) => expect(embedded(path)).toEqual({ kind: 'other' }));

  it('has one origin, for any host name and configuration', () => {
    const site = `https://${address.base32}.gateway.example`;
    expect(contentOf(embedded(`/repo/ant/${hex}/`, 'subdomain')).root).toBe(`/repo/ant/${hex}`);
    const deployment = embeddedAt(site, '/ant/', '/sw.js');
    expect(
      parseTarget(new URL(`${site}/ant/docs/a`), { names, isolation: 'path' }, deployment),
    ).toMatchObject({ kind: 'content', content: { root: '/ant/docs', path: 'a' } });
  });
});
