import { expect, it } from 'vitest';
import { isSamePage, parseFramePage } from '../../src/shell/viewer/frame-page.ts';
import type { ShownPage } from '../../src/shell/viewer/view-api.ts';

const origin = 'https://site.gateway.example';
const address = 'ab'.repeat(32);

const own = (url: unknown, title: unknown = 'A title') => parseFramePage(url, title, origin, true);
const shared = (url: unknown) => parseFramePage(url, '', origin, false);

it('reads the path, the fragment and the title of a page', () => {
  expect(own(`${origin}/a%20b/?q=1#x`)).toEqual({
    ...{ path: '/a%20b/?q=1', hash: '#x', title: 'A title', root: null },
  });
  expect(shared(`${origin}/${address}/docs/?q#x`)).toMatchObject({
    ...{ path: '/docs/?q', hash: '#x', root: address },
  });
  expect(shared(`${origin}/${address}`)).toMatchObject({ path: '/', root: address });
});

it.each<[string, unknown]>([
  ['another site', 'https://other.gateway.example/'],
  ['the gateway', 'https://gateway.example/'],
  ['a host that begins with the origin', `${origin}.evil.example/`],
  ['another port', `${origin}:8443/`],
  ['an origin behind a user', `https://site.gateway.example@evil.example/`],
  ['a script', 'javascript:alert(1)'],
  ['a blob', `blob:${origin}/1`],
  ['a page of the gateway on its origin', `${origin}/-/bridge`],
  ['no URL', 'site'],
  ['a huge URL', `${origin}/${'x'.repeat(10_000)}`],
  ['an object', { href: origin }],
  ['nothing', undefined],
])('rejects a page that claims to be at %s', (_, url) => {
  expect(own(url)).toBeNull();
  expect(shared(url)).toBeNull();
});

it('shortens a huge title, and removes control and bidi characters', () => {
  const { title } = own(`${origin}/`, `\u202e\u0000\n<b>Verified\u2066 by${' Antway'.repeat(1_000_000)}`)!;
  expect(title).toMatch(/^<b>Verified by Antway/);
  expect(title).toHaveLength(200);
  expect(title).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  expect(own(`${origin}/`, { toString: () => 'x' })!.title).toBe('');
});

it('knows the recorded page by path and address, and by the path below a name', () => {
  const page = { address, path: '/docs/?q' } as ShownPage;
  expect(isSamePage(shared(`${origin}/${address.toUpperCase()}/docs/?q#x`)!, page)).toBe(true);
  expect(isSamePage(shared(`${origin}/tide/docs/?q`)!, page)).toBe(true);
  expect(isSamePage(shared(`${origin}/${'cd'.repeat(32)}/docs/?q`)!, page)).toBe(false);
  expect(isSamePage(shared(`${origin}/${address}/docs/`)!, page)).toBe(false);
});
