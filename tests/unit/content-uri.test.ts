import { describe, expect, it } from 'vitest';
import { hasUri, replaceUris, urlOf } from '../../src/drop-in/content-uri.ts';

const hex = 'ab'.repeat(32);
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
  ])('%j is none', (uri) => expect(() => urlOf(uri, '/ant/')).toThrow(badAddress));

  it.each([
    ['image/png', 'file.png'],
    ['image/svg+xml', 'file.svg'],
    ['text/html; charset=utf-8', 'file.html'],
    ['text/plain', 'file.txt'],
    ['audio/mpeg', 'file.mp3'],
    ['application/pdf', 'file.pdf'],
  ])('of type %s has a name that says so, if it has no other', (type, name) => {
    expect(urlOf(`ant://${hex}`, '/ant/', type)).toBe(`/ant/${hex}?filename=${name}`);
    expect(urlOf(`ant://${hex}/photo.jpg`, '/ant/', type)).toBe(`/ant/${hex}/photo.jpg`);
  });

  it('is found among others in srcset and style sheets', () => {
    expect(replaceUris(`ant://${hex}/1.png 1x,autonomi://${hex}/2.png 2x, /3.png 3x`, '/r/ant/')).toBe(
      `/r/ant/${hex}/1.png 1x,/r/ant/${hex}/2.png 2x, /3.png 3x`,
    );
    expect(replaceUris(`url("ant://${hex}/a.png"), url(ant://${hex})`, 'https://g.example/')).toBe(
      `url("https://g.example/${hex}/a.png"), url(https://g.example/${hex})`,
    );
  });

  it('is not seen in other schemes', () => {
    expect(hasUri('merchant://shop')).toBe(false);
    expect(hasUri(`https://a.example/ant/${hex}`)).toBe(false);
    expect(hasUri(`url(ant://${hex})`)).toBe(true);
    // Asked twice, because the pattern has a memory.
    expect(hasUri(`url(ant://${hex})`)).toBe(true);
  });
});
