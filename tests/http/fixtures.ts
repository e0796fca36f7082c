import { encode } from '@msgpack/msgpack';
import { Address } from '../../src/address.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { DataMap } from '../../src/self-encryption/data-map.ts';
import { encryptAt, publishHugeFile, publishMap } from '../support/huge-file.ts';
import { PointerOwner } from '../support/pointers.ts';
import { type ChunkSink, noise, publish } from '../support/publish.ts';
import type { Files } from '../support/tar.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { makeZip } from '../support/zip.ts';

export const alphabet = 'abcdefghijklmnopqrstuvwxyz';
export const homePage = '<!doctype html><title>Home</title><p>Home</p>';
export const notFoundPage = '<!doctype html><title>Lost</title><p>Lost</p>';
export const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>';

/** Spans the three chunks of its archive. */
export const large = noise(4, 300_000);

const bytes = (start: string) => Buffer.from(start.padEnd(64, '\0'), 'latin1');
const png = bytes('\x89PNG\r\n\x1a\n');
const pdf = '%PDF-1.7\n%%EOF\n';

export const siteFiles: Files = {
  'index.html': homePage,
  '404.html': notFoundPage,
  'abc.txt': alphabet,
  'same-as-abc.txt': alphabet,
  'empty.txt': '',
  'UPPER.TXT': 'upper',
  'large.bin': large,
  'style.css': 'p { color: teal }',
  'app.js': 'export {};',
  'app.mjs': 'export {};//m',
  'data.json': '{"a":1}',
  'site.webmanifest': '{}',
  'picture.svg': svg,
  'picture.png': png,
  'photo.jpeg': bytes('\xff\xd8\xff\xe0'),
  'photo.avif': bytes('\0\0\0\x1cftypavif'),
  'film.webm': bytes('\x1aE\xdf\xa3 film'),
  'film.mp4': bytes('\0\0\0\x18ftypisom'),
  'sound.mp3': bytes('ID3\x04'),
  'sound.opus': bytes('OggS'),
  'font.woff2': bytes('wOF2'),
  'paper.pdf': pdf,
  'page.xhtml': '<html xmlns="http://www.w3.org/1999/xhtml"><body>x</body></html>',
  'feed.xml': '<?xml version="1.0"?><feed/>',
  'notes.md': '# Notes',
  'table.csv': 'a,b\n',
  'titles.vtt': 'WEBVTT\n',
  'module.wasm': bytes('\0asm\x01'),
  'files.zip': bytes('PK\x03\x04'),
  'unknown.zzz': Buffer.from([0, 1, 2, 3]),
  'text.zzz': 'text of an unknown kind',
  'sniff/html': '<!DOCTYPE html><p>x',
  'sniff/svg': `<?xml version="1.0"?>\n${svg}`,
  'sniff/xml': '<?xml version="1.0"?><a/>',
  'sniff/png': Buffer.concat([png, Buffer.from('2')]),
  'sniff/gif': bytes('GIF89a'),
  'sniff/webm': bytes('\x1aE\xdf\xa3 sniffed'),
  'sniff/mp4': bytes('\0\0\0\x20ftypmp42'),
  'sniff/pdf': `${pdf}sniffed`,
  'sniff/zip': bytes('PK\x03\x04 sniffed'),
  'sniff/text': 'Grüße',
  'sniff/binary': Buffer.from([1, 2, 3, 0xff]),
  'sniff/latin1': Buffer.from('Gr\xfc\xdfe', 'latin1'),
  'sniff/empty': '',
  'docs/index.html': '<!doctype html><title>Docs</title>',
  'folder/a.txt': 'a in folder',
  'folder/10.txt': 'ten',
  'folder/9.txt': 'nine',
  'folder/sub/c.txt': 'c in sub',
  '.well-known/x.txt': 'well known',
  '.hidden': 'hidden',
  'names/100%.txt': 'percent',
  'names/%41.txt': 'percent forty-one',
  'names/a#b.txt': 'hash',
  'names/a?b.txt': 'question',
  'names/a+b.txt': 'plus',
  'names/a&b=c;d.txt': 'ampersand',
  'names/it\'s "quoted".txt': 'quotes',
  'names/a:b.txt': 'colon',
  'names/a\\b.txt': 'backslash',
  'names/<b>.txt': 'angle',
  'names/two  spaces.txt': 'two spaces',
  'names/ spaces at both ends ': 'ends',
  'names/12 34': 'numbers at its end',
  'names/日本語.txt': 'japanese',
  'names/🦀.txt': 'crab',
  'names/caf\u00e9.txt': 'stored composed',
  'names/resume\u0301.txt': 'stored decomposed',
  'names/\u00fc.txt': 'composed of two',
  'names/u\u0308.txt': 'decomposed of two',
  'names/~tilde_-.!*().txt': 'marks',
};

const zipped = makeZip([
  { path: 'index.html', data: homePage },
  { path: 'folder/stored.txt', data: alphabet, method: 0 },
  { path: 'folder/deflated.txt', data: alphabet.repeat(100) },
  { path: 'secret.txt', data: 'x', flags: 0x801 },
  { path: '../out.txt', data: 'x' },
]);
export const zipBytes = zipped.length;

/** Longer than one piece of a body, so it is rewritten while it streams. `{site}` stands for an address. */
export const longLinkedPage = `<!doctype html><title>Long</title>${'<p>text</p>'.repeat(120_000)}<img src="ant://{site}/a">`;

export const linkedFiles: Files = {
  'index.html':
    '<!doctype html><meta charset="utf-8"><a href="autonomi://{site}/abc.txt">a</a><img src="ant://docs.site/p">',
  'own.html': '<img srcset="ant://docs.site/1 1x, https://aut.local/{site}/2 2x">',
  'style.css': '@import "ant://{site}/a.css"; p { background: url(autonomi://{site}/b) }',
  'script.js': "fetch('ant://{site}/abc.txt')",
  'unknown.html': '<a href="ant://1234">no address</a>',
  'long.html': longLinkedPage,
  '404.html': '<img src="ant://{site}/lost.png">',
};

export const routedFiles: Files = {
  'app-conf.json': JSON.stringify({
    routeMap: {
      '': 'start.html',
      'blog/*': 'blog.html',
      'img/?.svg': 'one.svg',
      'old-{a,b}': 'start.html',
      'deep/**/x': 'deep.html',
      'class/[0-9]': 'digit.html',
      'abc.txt': 'other.txt',
      'dangling/*': 'nope.html',
    },
  }),
  'start.html': '<title>Start</title>',
  'blog.html': '<title>Blog</title>',
  'blog/real.html': 'never shown',
  'one.svg': svg,
  'deep.html': '<title>Deep</title>',
  'digit.html': '<title>Digit</title>',
  'abc.txt': 'not this',
  'other.txt': 'the other',
  'plain.txt': 'no route',
};

const redirectedFiles: Files = {
  _redirects: [
    '/old/* /new/:splat 301',
    '/moved /index.html?from=moved#part 302',
    '/app/* /index.html 200',
    '/gone /lost.html 410',
    '/abc.txt /index.html',
    '/evil //evil.example/',
    '/evil https://evil.example/ 302',
  ].join('\n'),
  'index.html': homePage,
  'lost.html': notFoundPage,
  'abc.txt': alphabet,
};

/** Addresses by the name that the table gives them. */
export type Fixtures = Awaited<ReturnType<typeof publishFixtures>>;

/** Encrypts and stores what the table asks for. The same every time, so the addresses are too. */
export async function publishFixtures(sink: ChunkSink) {
  const file = await publish(Buffer.from(alphabet), sink);
  const manifest = manifestOf([
    ['first.txt', file],
    ['folder/second.txt', file],
  ]);
  const site = await publish(await makeTarchive(siteFiles), sink);
  return {
    site,
    zip: await publish(zipped, sink),
    office: await publish(makeZip([{ path: '[Content_Types].xml', data: '<Types/>' }]), sink),
    linked: await publish(await makeTarchive(linkedFilesOf(site)), sink),
    trusted: await publish(await makeTarchive({ 'index.html': homePage, 'trusted.txt': 'trusted' }), sink),
    fresh: await publish(
      await makeTarchive({ 'index.html': homePage, 'picture.svg': svg, 'a.txt': alphabet }),
      sink,
    ),
    denied: await publish(Buffer.from('blocked by the host'), sink),
    routed: await publish(await makeTarchive(routedFiles), sink),
    envelope: await publish(
      Buffer.from(
        JSON.stringify({ v: 1, meta: { title: 'My "note"', lang: 'markdown' }, content: '# Grüße' }),
      ),
      sink,
    ),
    markup: await publish(
      Buffer.from('{"v":1,"meta":{"title":"","lang":"html"},"content":"<script>alert(1)</script>"}'),
      sink,
    ),
    unwrapped: await publish(Buffer.from('{"v":1,"meta":null,"content":"x"}'), sink),
    redirected: await publish(await makeTarchive(redirectedFiles), sink),
    bare: await publish(await makeTarchive({ 'b.txt': 'b', 'a.txt': alphabet, 'sub/c.txt': 'c' }), sink),
    untold: await publish(await makeTarchive({ 'a.txt': alphabet, 'sub/index.html': homePage }, null), sink),
    file,
    page: await publish(Buffer.from(homePage), sink),
    record: await putRecord(Buffer.from('a record that is no data map'), sink),
    manifest: await publish(manifest, sink),
    huge: await publishHugeFile(sink),
    torn: await publish(tornFile, withoutSecond(sink)),
    wrong: await publishWrongMap(sink),
    version2: await putRecord(encode([2, [0, 1, 2].map((i) => [i, hash, hash, 9]), null]), sink),
    missing: 'ab'.repeat(32),
    pointer: pointerOwner.address.hex,
  };
}

function linkedFilesOf(site: string): Files {
  const filled = Object.entries(linkedFiles).map(([path, text]) => [
    path,
    String(text).replaceAll('{site}', site),
  ]);
  const utf16 = Buffer.from(`\ufeff<img src="ant://${site}/a">`, 'utf16le');
  return { ...Object.fromEntries(filled), 'utf16.html': utf16 };
}

const hash = Array<number>(32).fill(7);

/** Whose pointer leads to the site. */
const pointerOwner = new PointerOwner(11);

/** The record at `{pointer}`, for a peer that the fixtures were published to. */
export function pointerRecord({ site }: Fixtures): Uint8Array {
  return pointerOwner.sign(7n, Address.fromHex(site));
}

/** Of three chunks, of which the second is at no peer. */
export const tornFile = noise(6, 30_000);

function withoutSecond(sink: ChunkSink): ChunkSink {
  let chunks = 0;
  return {
    put: async (address, content) => {
      if (++chunks !== 2) await sink.put(address, content);
    },
  };
}

/** A file whose data map leads to chunks that do not decrypt with its keys. */
async function publishWrongMap(sink: ChunkSink): Promise<string> {
  const map = await encryptAt(1, Buffer.from('sealed with other keys'), sink);
  return publishMap(new DataMap(map.dstHashes, map.srcHashes, map.sizes), sink);
}

function manifestOf(entries: [path: string, address: string][]): Uint8Array {
  const body = encode({
    name: 'Two files',
    entries: entries.map(([path, address]) => ({
      path,
      size: alphabet.length,
      source: { Public: { address: Buffer.from(address, 'hex') } },
    })),
  });
  return Buffer.concat([Buffer.from([0xc1, 0x41, 0x4e, 0x54, 1]), body]);
}

async function putRecord(record: Uint8Array, sink: ChunkSink): Promise<string> {
  const address = Address.fromBytes((await loadBlake3())(record)).hex;
  await sink.put(address, record);
  return address;
}
