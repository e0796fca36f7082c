import { describe, expect, it } from 'vitest';
import { isUri, mapUrls, type Syntax, urlOf } from '../../src/drop-in/content-uri.ts';

const hex = 'ab'.repeat(32);
const rewritten = (text: string, syntax: Syntax) =>
  mapUrls(text, syntax, (url) => (isUri(url) ? urlOf(url, '/ant/') : undefined));
const badAddress = expect.objectContaining({ code: 'BAD_ADDRESS' });

describe('a content address in a page', () => {
  it.each([
    [`ant://${hex}`, `/ant/${hex}`],
    [`autonomi://${hex}/a%20b/c.png?v=1#top`, `/ant/${hex}/a%20b/c.png?v=1#top`],
    [`ANT://${hex.toUpperCase()}/A`, `/ant/${hex}/A`],
    [` ant://${hex}/ `, `/ant/${hex}/`],
    [hex, `/ant/${hex}`],
    ['ant://low-tide/crab.png', '/ant/low-tide/crab.png'],
    [`autonomi://${hex}?name=my%20report.pdf`, `/ant/${hex}?filename=my+report.pdf`],
    ['ant://low-tide/search?name=crab', '/ant/low-tide/search?name=crab'],
  ])('%s becomes %s', (uri, url) => {
    expect(urlOf(uri, '/ant/')).toBe(url);
  });

  it.each([
    '',
    'ant://',
    `ant://${hex}0`,
    `ant://${hex.slice(2)}`,
    'ant://../x',
    'ant://a b',
    'https://a.example/',
    'ant://manifest/wUFOVAGBp2VudHJpZXOQ',
  ])('%j is not an address', (uri) => expect(() => urlOf(uri, '/ant/')).toThrow(badAddress));

  it.each([
    '/..',
    '/.',
    '/../../logout',
    '/a/%2e%2E/b',
    '/a/.%2e',
    '/a/%2e/b',
    '/a\\..\\b',
    '/.\t.\n/logout',
    '/..\u0001',
    '/../x?y#z',
  ])('that leaves its address by %j is invalid', (path) => {
    for (const start of [`ant://${hex}`, hex, 'ant://docs']) {
      expect(() => urlOf(start + path, '/ant/')).toThrow(badAddress);
    }
  });

  it.each(['/...', '/.hidden/a..b', '/a?x=/../y', '/a#/../y', '/%252e%252e/x', '/. ./x'])(
    'stays below its address: %j',
    (path) => {
      const { href } = new URL(urlOf(`ant://${hex}${path}`, 'https://site.example/ant/'));
      expect(href.startsWith(`https://site.example/ant/${hex}/`)).toBe(true);
    },
  );

  it.each([
    ['image/png', 'file.png'],
    ['image/svg+xml', 'file.svg'],
    ['text/html; charset=utf-8', 'file.html'],
    ['text/plain', 'file.txt'],
    ['audio/mpeg', 'file.mp3'],
    ['application/pdf', 'file.pdf'],
    ['application/ld+json;profile=x', 'file.ld%2Bjson'],
  ])('of type %s has a name that says so, if it has no other', (type, name) => {
    expect(urlOf(`ant://${hex}`, '/ant/', type)).toBe(`/ant/${hex}?filename=${name}`);
    expect(urlOf(`ant://${hex}/photo.jpg`, '/ant/', type)).toBe(`/ant/${hex}/photo.jpg`);
  });

  it('is an address or one of the names that the worker knows', () => {
    const known = { docs: hex, '1234': hex };
    const at = (uri: string, names: Record<string, string>) => () =>
      urlOf(uri, '/ant/', null, undefined, names);
    expect(at('ant://docs/a.png', known)()).toBe('/ant/docs/a.png');
    expect(at('ant://1234', known)()).toBe('/ant/1234');
    expect(at(`ant://${hex}`, {})()).toBe(`/ant/${hex}`);
    for (const uri of ['ant://1234', 'ant://low-tide/crab.png', 'ant://toString', 'ant://Docs', 'cafe']) {
      expect(at(uri, { docs: hex })).toThrow(badAddress);
    }
  });

  it('by a name that the page knows and its gateway does not is its address', () => {
    expect(urlOf('ant://docs/a.png', 'https://g.example/', null, { docs: hex })).toBe(
      `https://g.example/${hex}/a.png`,
    );
    expect(urlOf('ant://toString/a.png', '/ant/', null, { docs: hex })).toBe('/ant/toString/a.png');
  });

  it.each<[Syntax, string, string]>([
    ['url', ` ant://${hex}/a, b.png `, ` /ant/${hex}/a, b.png `],
    ['url', `Autonomi://${hex}`, `/ant/${hex}`],
    [
      'srcset',
      `ant://${hex}/1.png 1x,autonomi://${hex}/2.png 2x, /3.png 3x , ant://${hex}/4.png`,
      `/ant/${hex}/1.png 1x,/ant/${hex}/2.png 2x, /3.png 3x , /ant/${hex}/4.png`,
    ],
    ['srcset', `ant://${hex}, ant://${hex}/b,c.png 480w`, `/ant/${hex}, /ant/${hex}/b,c.png 480w`],
    [
      'css',
      `url("ant://${hex}/a (1).png"), url( 'ant://${hex}' ), URL(ant://${hex})`,
      `url("/ant/${hex}/a (1).png"), url( '/ant/${hex}' ), URL(/ant/${hex})`,
    ],
    ['css', `var(--a) url(ant://${hex}) var(--b)`, `var(--a) url(/ant/${hex}) var(--b)`],
  ])('is found where a URL begins in %s: %s', (syntax, text, expected) => {
    expect(rewritten(text, syntax)).toBe(expected);
  });

  it.each<[Syntax, string]>([
    ['url', `https://gw.example/#ant://${hex}`],
    ['url', `https://t.me/share?url=ant://${hex}`],
    ['url', `web+ant://${hex}/x`],
    ['url', 'merchant://shop'],
    ['url', ''],
    ['srcset', `https://gw.example/#ant://${hex} 1x, /b?u=ant://${hex} 2x, /c,ant://${hex} 3x`],
    ['css', `url("https://gw.example/#ant://${hex}")`],
    ['css', `url(https://gw.example/?u=ant://${hex})`],
    ['css', `url("data:image/svg+xml,<image href='ant://${hex}'/>")`],
    ['css', `"url(ant://${hex})" 'it\\'s url(ant://${hex})'`],
  ])('is not seen inside what is another: %s, %s', (syntax, text) => {
    expect(rewritten(text, syntax)).toBe(text);
  });
});
