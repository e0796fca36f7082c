import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sniffType, typeOfName } from '../../src/gateway/http/content-type.ts';

describe('the type of a name', () => {
  it.each([
    ['index.html', 'text/html; charset=utf-8'],
    ['INDEX.HTML', 'text/html; charset=utf-8'],
    ['app.js', 'text/javascript; charset=utf-8'],
    ['app.mjs', 'text/javascript; charset=utf-8'],
    ['style.css', 'text/css; charset=utf-8'],
    ['data.json', 'application/json; charset=utf-8'],
    ['app.webmanifest', 'application/manifest+json; charset=utf-8'],
    ['feed.xml', /xml; charset=utf-8$/],
    ['logo.svg', 'image/svg+xml; charset=utf-8'],
    ['README.md', 'text/markdown; charset=utf-8'],
    ['photo.jpeg', 'image/jpeg'],
    ['photo.png', 'image/png'],
    ['font.woff2', 'font/woff2'],
    ['film.mp4', 'video/mp4'],
    ['song.opus', 'audio/ogg'],
    ['code.wasm', 'application/wasm'],
    ['site.tar.gz', /gzip/],
    ['a.b/c.txt', 'text/plain; charset=utf-8'],
  ])('%s is %s', (name, type) => {
    expect(typeOfName(name)).toEqual(typeof type === 'string' ? type : expect.stringMatching(type));
  });

  it.each(['', 'README', '.', 'name.', 'a.b/c', 'x.unheard-of', '.gitignore'])(
    '“%s” is not known',
    (name) => {
      expect(typeOfName(name)).toBeUndefined();
    },
  );

  it.each(['x.constructor', 'x.__proto__', 'x.toString', 'x.valueof'])(
    'is not a property that every JavaScript object has: %s',
    (name) => {
      expect(typeOfName(name)).toBeUndefined();
    },
  );
});

describe('the type of bytes without a telling name', () => {
  const latin1 = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
  const sniff = (text: string) => sniffType(latin1(text));

  it.each([
    ['%PDF-1.7', 'application/pdf'],
    ['\x89PNG\r\n\x1a\n\0\0', 'image/png'],
    ['\xff\xd8\xff\xe0', 'image/jpeg'],
    ['GIF89a\x01', 'image/gif'],
    ['RIFF\x01\x02\x03\x04WEBPVP8', 'image/webp'],
    ['RIFF\n\0\0\0WAVEfmt ', 'audio/wav'],
    ['\0\0\0\x20ftypavif', 'image/avif'],
    ['\0\0\0\x20ftypisom', 'video/mp4'],
    ['\x1aE\xdf\xa3', 'video/webm'],
    ['OggS\0', 'audio/ogg'],
    ['PK\x03\x04', 'application/zip'],
    ['\x1f\x8b\x08\0', 'application/gzip'],
    ['\0asm\x01', 'application/wasm'],
    [`${'\0'.repeat(257)}ustar`, 'application/x-tar'],
    ['\xc1ANT\x01', 'application/vnd.autonomi.manifest'],
    ['\0\x01\x02\x03', 'application/octet-stream'],
    ['text \xff\xfe text', 'application/octet-stream'],
    ['<!DOCTYPE html><p>', 'text/html; charset=utf-8'],
    ['\xef\xbb\xbf\n <html lang=en>', 'text/html; charset=utf-8'],
    ['<svg xmlns="x">', 'image/svg+xml; charset=utf-8'],
    ['<?xml version="1.0"?>\n<svg>', 'image/svg+xml; charset=utf-8'],
    ['<?xml version="1.0"?><rss>', 'application/xml; charset=utf-8'],
    ['plain text', 'text/plain; charset=utf-8'],
    ['', 'text/plain; charset=utf-8'],
    ['The new WAVE came', 'text/plain; charset=utf-8'],
  ])('%j is %s', (text, type) => {
    expect(sniff(text)).toBe(type);
  });

  it('is text also when the part that is looked at ends inside a character', () => {
    const text = new TextEncoder().encode('ä'.repeat(600));
    expect(sniffType(text.subarray(0, 1023))).toBe('text/plain; charset=utf-8');
  });

  it('is always a valid type, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1100 }), (bytes) => {
        expect(sniffType(bytes)).toMatch(/^[a-z]+\/[a-z0-9.+-]+(; charset=utf-8)?$/);
      }),
    );
  });
});
