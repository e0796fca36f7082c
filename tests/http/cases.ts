import { hugeBytes, hugeEnd, hugeMiddle, hugeSize } from '../support/huge-file.ts';
import type { Case, CaseRequest, Expected, ExpectedHeader } from './case.ts';
import {
  alphabet,
  homePage,
  large,
  notFoundPage,
  routedFiles,
  siteFiles,
  svg,
  tornFile,
  zipBytes,
} from './fixtures.ts';

type Headers = Record<string, ExpectedHeader>;
type Row = [name: string, request: CaseRequest, expected: Expected];

const ask =
  (method: string) =>
  (path: string, headers: Record<string, string> = {}): CaseRequest => ({
    method,
    path,
    headers,
    as: 'fetch',
  });
const [get, head, options] = ['GET', 'HEAD', 'OPTIONS'].map(ask) as [Ask, Ask, Ask];
type Ask = ReturnType<typeof ask>;
const open = (path: string): CaseRequest => ({ method: 'GET', path, headers: {}, as: 'document' });
const follow = (path: string): CaseRequest => ({ ...open(path), isLink: true });
const range = (path: string, value: string, headers: Record<string, string> = {}) =>
  get(path, { Range: value, ...headers });

const ok = (body: Expected['body'], headers: Headers = {}): Expected => ({
  status: 200,
  headers: { ...lengthOf(body), ...headers },
  ...(body !== undefined && { body }),
});
const typed = (type: string, headers: Headers = {}): Expected => ({
  status: 200,
  headers: { 'Content-Type': type, ...headers },
});
const partial = (body: string | Uint8Array, contentRange: string, headers: Headers = {}): Expected => ({
  status: 206,
  headers: { 'Content-Range': contentRange, ...lengthOf(body), ...headers },
  body,
});
const unsatisfiable = (size: number): Expected => ({
  status: 416,
  headers: { 'Content-Range': `bytes */${size}` },
});
const failure = (status: number, code: string, headers: Headers = {}): Expected => ({
  status,
  headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers },
  body: [new RegExp(`"code":"${code}"`)],
});
const failurePage = (status: number, code: string): Expected => ({
  status,
  headers: { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' },
  body: [/<h1>/, new RegExp(`<code>${code}</code>`)],
});
const movedTo = (location: string): Expected => ({ status: 301, headers: { Location: location } });
const notModified = (headers: Headers = {}): Expected => ({ status: 304, headers, body: '' });

function lengthOf(body: Expected['body']): Headers {
  return body === undefined || Array.isArray(body)
    ? {}
    : { 'Content-Length': String(Buffer.from(body).length) };
}

const abc = '/{site}/abc.txt';
const big = '/{site}/large.bin';
const utf8 = '; charset=utf-8';
const forEver = 'public, max-age=31536000, immutable';
const forAMinute = 'public, max-age=60';
const textOf = (path: string) => siteFiles[path] as string;

const methods: Row[] = [
  ['GET of a member', get(abc), ok(alphabet, { 'Accept-Ranges': 'bytes' })],
  ['GET of an empty member', get('/{site}/empty.txt'), ok('')],
  ['GET of a file of its own address', get('/{file}'), ok(alphabet)],
  ['GET of a record that is not a data map', get('/{record}'), ok('a record that is no data map')],
  ['HEAD has the headers of GET and no body', head(abc), { ...ok('', headOf(alphabet)), body: '' }],
  ['HEAD of a larger member', head(big), { ...ok('', headOf(large)), body: '' }],
  ['HEAD of a file', head('/{file}'), { ...ok('', headOf(alphabet)), body: '' }],
  ['HEAD of a folder', head('/{bare}/'), { ...typed(`text/html${utf8}`), body: '' }],
  [
    'HEAD takes no range',
    ask('HEAD')(abc, { Range: 'bytes=0-0' }),
    { ...ok('', headOf(alphabet)), body: '' },
  ],
  ['HEAD of a missing path', head('/{site}/none.txt'), { status: 404, body: '' }],
  [
    'OPTIONS lists the methods',
    options(abc),
    { status: 204, headers: { Allow: 'GET, HEAD, OPTIONS' }, body: '' },
  ],
  ...['POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND'].map(
    (method): Row => [
      `${method} is not allowed`,
      ask(method)(abc),
      { status: 405, headers: { Allow: 'GET, HEAD, OPTIONS' } },
    ],
  ),
];

function headOf(body: string | Uint8Array): Headers {
  return {
    'Content-Length': String(body.length),
    'Accept-Ranges': 'bytes',
    ETag: '{etag}',
    'Content-Type': /./,
  };
}

const last = large.length - 1;
const ranges: Row[] = [
  ['the first byte', range(abc, 'bytes=0-0'), partial('a', 'bytes 0-0/26')],
  ['a middle', range(abc, 'bytes=2-5'), partial('cdef', 'bytes 2-5/26')],
  ['the last byte', range(abc, 'bytes=25-25'), partial('z', 'bytes 25-25/26')],
  ['all of it', range(abc, 'bytes=0-25'), partial(alphabet, 'bytes 0-25/26')],
  ['open end', range(abc, 'bytes=20-'), partial('uvwxyz', 'bytes 20-25/26')],
  ['open end from 0', range(abc, 'bytes=0-'), partial(alphabet, 'bytes 0-25/26')],
  ['the last three', range(abc, 'bytes=-3'), partial('xyz', 'bytes 23-25/26')],
  ['the last hundred of 26', range(abc, 'bytes=-100'), partial(alphabet, 'bytes 0-25/26')],
  ['an end past the end is cut', range(abc, 'bytes=24-999'), partial('yz', 'bytes 24-25/26')],
  ['an absurd end is cut', range(abc, 'bytes=25-99999999999999999999'), partial('z', 'bytes 25-25/26')],
  ['a start at the end', range(abc, 'bytes=26-'), unsatisfiable(26)],
  ['a start past the end', range(abc, 'bytes=100-200'), unsatisfiable(26)],
  ['an absurd start', range(abc, 'bytes=99999999999999999999-'), unsatisfiable(26)],
  ['the last 0 bytes', range(abc, 'bytes=-0'), unsatisfiable(26)],
  ['any of an empty member', range('/{site}/empty.txt', 'bytes=0-0'), ok('', { 'Content-Range': null })],
  ['backwards is malformed', range(abc, 'bytes=5-2'), ok(alphabet, { 'Content-Range': null })],
  ['no numbers is malformed', range(abc, 'bytes=-'), ok(alphabet)],
  ['words are malformed', range(abc, 'bytes=a-b'), ok(alphabet)],
  ['a negative start is malformed', range(abc, 'bytes=--1'), ok(alphabet)],
  ['no unit is malformed', range(abc, '0-5'), ok(alphabet)],
  ['an unknown unit', range(abc, 'lines=0-5'), ok(alphabet)],
  ['several give the whole', range(abc, 'bytes=0-1,4-5'), ok(alphabet)],
  ['the unit in capitals', range(abc, 'BYTES=0-1'), partial('ab', 'bytes 0-1/26')],
  ['of a file', range('/{file}', 'bytes=1-3'), partial('bcd', 'bytes 1-3/26')],
  ['of a record', range('/{record}', 'bytes=2-7'), partial('record', 'bytes 2-7/28')],
  [
    'over the border of two chunks',
    range(big, 'bytes=99000-201000'),
    partial(large.subarray(99_000, 201_001), `bytes 99000-201000/${large.length}`),
  ],
  [
    'the end of a larger member',
    range(big, 'bytes=-7'),
    partial(large.subarray(-7), `bytes ${last - 6}-${last}/${large.length}`),
  ],
  [
    'has the validators and type of the whole',
    range(abc, 'bytes=0-0'),
    partial('a', 'bytes 0-0/26', {
      ETag: '{etag}',
      'Content-Type': `text/plain${utf8}`,
      'Cache-Control': forEver,
    }),
  ],
  ['If-Range with the ETag', range(abc, 'bytes=0-0', { 'If-Range': '{etag}' }), partial('a', 'bytes 0-0/26')],
  ['If-Range with another ETag', range(abc, 'bytes=0-0', { 'If-Range': '"other"' }), ok(alphabet)],
  ['If-Range with a weak ETag', range(abc, 'bytes=0-0', { 'If-Range': 'W/{etag}' }), ok(alphabet)],
  [
    'If-Range with a date',
    range(abc, 'bytes=0-0', { 'If-Range': 'Sat, 01 Jan 2028 00:00:00 GMT' }),
    ok(alphabet),
  ],
  [
    'If-Range with another ETag, unsatisfiable range',
    range(abc, 'bytes=99-', { 'If-Range': '"other"' }),
    ok(alphabet),
  ],
  ['the first byte of 4.6 GB', range('/{huge}', 'bytes=0-0'), partial('0', `bytes 0-0/${hugeSize}`)],
  [
    'past 4 GiB',
    range('/{huge}', `bytes=${hugeMiddle}-${hugeMiddle + 99}`),
    partial(hugeBytes(0, 100), `bytes ${hugeMiddle}-${hugeMiddle + 99}/${hugeSize}`),
  ],
  [
    'past 4 GiB, over the border of two chunks',
    range('/{huge}', `bytes=${hugeMiddle - 70}-${hugeMiddle + 69}`),
    partial(
      hugeBytes(hugeMiddle - 70, hugeMiddle + 70),
      `bytes ${hugeMiddle - 70}-${hugeMiddle + 69}/${hugeSize}`,
    ),
  ],
  [
    'the end of 4.6 GB',
    range('/{huge}', `bytes=-${hugeEnd.length}`),
    partial(hugeEnd, `bytes ${hugeSize - hugeEnd.length}-${hugeSize - 1}/${hugeSize}`),
  ],
  ['past the end of 4.6 GB', range('/{huge}', `bytes=${hugeSize}-`), unsatisfiable(hugeSize)],
  [
    'HEAD of 4.6 GB',
    head('/{huge}'),
    { status: 200, headers: { 'Content-Length': String(hugeSize) }, body: '' },
  ],
];

const ifNone = (path: string, value: string, headers: Record<string, string> = {}) =>
  get(path, { 'If-None-Match': value, ...headers });
const validators: Row[] = [
  ['a strong ETag', get(abc), ok(alphabet, { ETag: /^"[^"]+"$/ })],
  ['members have different ETags', get(abc), ok(alphabet, { ETag: { not: '{etag /{site}/style.css}' } })],
  ['not even with equal bytes', get(abc), ok(alphabet, { ETag: { not: '{etag /{site}/same-as-abc.txt}' } })],
  ['an archive’s page and its member', get('/{site}/'), ok(homePage, { ETag: { not: `{etag ${abc}}` } })],
  ['If-None-Match', ifNone(abc, '{etag}'), notModified({ ETag: '{etag}', 'Cache-Control': forEver })],
  ['If-None-Match, weak', ifNone(abc, 'W/{etag}'), notModified()],
  ['If-None-Match with a list', ifNone(abc, '"x", {etag}, "y"'), notModified()],
  ['If-None-Match with a comma in a tag', ifNone(abc, '"a,b",{etag}'), notModified()],
  ['If-None-Match with *', ifNone(abc, '*'), notModified()],
  ['If-None-Match with another ETag', ifNone(abc, '"other"'), ok(alphabet)],
  ['If-None-Match with the ETag of another member', ifNone(abc, '{etag /{site}/style.css}'), ok(alphabet)],
  ['If-None-Match without quotes', ifNone(abc, 'other'), ok(alphabet)],
  ['If-None-Match of a missing path', ifNone('/{site}/none.txt', '*'), { status: 404 }],
  ['If-None-Match of a missing address', ifNone('/{missing}', '*'), { status: 404 }],
  ['If-None-Match comes before Range', ifNone(abc, '{etag}', { Range: 'bytes=0-0' }), notModified()],
  [
    'If-None-Match with another ETag, and Range',
    ifNone(abc, '"other"', { Range: 'bytes=0-0' }),
    partial('a', 'bytes 0-0/26'),
  ],
  ['If-None-Match on HEAD', head(abc, { 'If-None-Match': '{etag}' }), notModified()],
  ['If-None-Match on a folder', ifNone('/{bare}/', '{etag}'), notModified()],
  ['If-Match', get(abc, { 'If-Match': '{etag}' }), ok(alphabet)],
  ['If-Match with *', get(abc, { 'If-Match': '*' }), ok(alphabet)],
  [
    'If-Match with another ETag',
    get(abc, { 'If-Match': '"other"' }),
    { status: 412, headers: { 'Cache-Control': 'no-store' }, body: '' },
  ],
  ['If-Match with a weak ETag', get(abc, { 'If-Match': 'W/{etag}' }), { status: 412, body: '' }],
  [
    'If-Modified-Since means nothing',
    get(abc, { 'If-Modified-Since': 'Sat, 01 Jan 2028 00:00:00 GMT' }),
    ok(alphabet),
  ],
];

const caching: Row[] = [
  ['a member', get(abc), ok(alphabet, { 'Cache-Control': forEver, Vary: null })],
  ['a file', get('/{file}'), ok(alphabet, { 'Cache-Control': forEver })],
  ['a folder’s page', get('/{site}/'), ok(homePage, { 'Cache-Control': forEver, Vary: 'Accept' })],
  [
    'a listing',
    get('/{bare}/'),
    typed(`text/html${utf8}`, { 'Cache-Control': forEver, Vary: 'Accept, Accept-Language' }),
  ],
  ['a member by a name', get('/docs.site/abc.txt'), ok(alphabet, { 'Cache-Control': forAMinute })],
  ['a listing by a name', get('/bare/'), typed(`text/html${utf8}`, { 'Cache-Control': forAMinute })],
  [
    'a missing path',
    get('/{site}/none.txt'),
    { status: 404, headers: { 'Cache-Control': 'no-store', ETag: null } },
  ],
  [
    'an unsatisfiable range',
    range(abc, 'bytes=99-'),
    { status: 416, headers: { 'Cache-Control': 'no-store' } },
  ],
  ['a redirect', follow('/{site}/docs'), { status: 301, headers: { 'Cache-Control': forEver } }],
  [
    'a redirect by a name',
    follow('/docs.site/docs'),
    { status: 301, headers: { 'Cache-Control': forAMinute } },
  ],
];

const byType: Record<string, string> = {
  'abc.txt': `text/plain${utf8}`,
  'UPPER.TXT': `text/plain${utf8}`,
  'index.html': `text/html${utf8}`,
  'page.xhtml': `application/xhtml+xml${utf8}`,
  'style.css': `text/css${utf8}`,
  'app.js': `text/javascript${utf8}`,
  'app.mjs': `text/javascript${utf8}`,
  'data.json': `application/json${utf8}`,
  'site.webmanifest': `application/manifest+json${utf8}`,
  'picture.svg': `image/svg+xml${utf8}`,
  'feed.xml': `text/xml${utf8}`,
  'notes.md': `text/markdown${utf8}`,
  'table.csv': `text/csv${utf8}`,
  'titles.vtt': `text/vtt${utf8}`,
  'picture.png': 'image/png',
  'photo.jpeg': 'image/jpeg',
  'photo.avif': 'image/avif',
  'film.webm': 'video/webm',
  'film.mp4': 'video/mp4',
  'sound.mp3': 'audio/mpeg',
  'sound.opus': 'audio/ogg',
  'font.woff2': 'font/woff2',
  'paper.pdf': 'application/pdf',
  'module.wasm': 'application/wasm',
  'files.zip': 'application/zip',
};
const bySniffing: Record<string, string> = {
  'sniff/html': `text/plain${utf8}`,
  'sniff/svg': `text/plain${utf8}`,
  'sniff/xml': `text/plain${utf8}`,
  'sniff/png': 'image/png',
  'sniff/gif': 'image/gif',
  'sniff/webm': 'video/webm',
  'sniff/mp4': 'video/mp4',
  'sniff/pdf': 'application/pdf',
  'sniff/zip': 'application/zip',
  'sniff/text': `text/plain${utf8}`,
  'sniff/binary': 'application/octet-stream',
  'sniff/latin1': 'application/octet-stream',
  'sniff/empty': `text/plain${utf8}`,
  'unknown.zzz': 'application/octet-stream',
  'text.zzz': `text/plain${utf8}`,
};
const types: Row[] = [
  ...Object.entries(byType).map(
    ([path, type]): Row => [
      `\`${/\.\w+$/.exec(path)![0]}\``,
      get(`/{site}/${path}`),
      typed(type, { 'X-Content-Type-Options': 'nosniff' }),
    ],
  ),
  [
    'by the name that follows a file',
    get('/{file}/words.css'),
    ok(alphabet, { 'Content-Type': `text/css${utf8}` }),
  ],
  [
    'of a file without a name, by `?filename=`',
    get('/{file}?filename=words.csv'),
    ok(alphabet, { 'Content-Type': `text/csv${utf8}` }),
  ],
  [
    '`?filename=` gives no type of a page, script or style',
    get('/{file}?filename=words.css'),
    ok(alphabet, { 'Content-Type': `text/plain${utf8}` }),
  ],
  [
    '`?filename=` leaves the type of a member',
    get('/{site}/style.css?filename=look.html'),
    typed(`text/css${utf8}`),
  ],
];
const sniffing: Row[] = [
  ...Object.entries(bySniffing).map(([path, type]): Row => [path, get(`/{site}/${path}`), typed(type)]),
  ['a file without a name', get('/{page}'), ok(homePage, { 'Content-Type': `text/html${utf8}` })],
  ['a text without a name', get('/{file}'), typed(`text/plain${utf8}`)],
];

const sent = (value: string | null): Expected => ok(alphabet, { 'Content-Disposition': value });
const disposition: Row[] = [
  ['no header without a query', get(abc), sent(null)],
  ['`?download`', get(`${abc}?download`), sent('attachment; filename="abc.txt"')],
  ['`?download=true`', get(`${abc}?download=true`), sent('attachment; filename="abc.txt"')],
  ['`?download=false`', get(`${abc}?download=false`), sent(null)],
  ['`?filename=`', get(`${abc}?filename=letters.txt`), sent('inline; filename="letters.txt"')],
  ['both', get(`${abc}?download&filename=letters.txt`), sent('attachment; filename="letters.txt"')],
  [
    'a name beyond ASCII',
    get('/{file}?download&filename=%C5%BC%C3%B3%C5%82w%20%E2%82%AC.txt'),
    sent(`attachment; filename="zo_w _.txt"; filename*=UTF-8''%C5%BC%C3%B3%C5%82w%20%E2%82%AC.txt`),
  ],
  [
    'quotes and backslashes',
    get('/{file}?download&filename=a%22b%25.txt'),
    sent(`attachment; filename="a_b_.txt"; filename*=UTF-8''a%22b%25.txt`),
  ],
  [
    'folders are cut off',
    get('/{file}?download&filename=..%2F..%2Fetc%2Fpasswd'),
    sent('attachment; filename="passwd"'),
  ],
  [
    'line breaks cannot split the header',
    get('/{file}?download&filename=a%0D%0AX-Evil%3A%201'),
    sent('attachment; filename="aX-Evil: 1"'),
  ],
  [
    'a member’s own name beyond ASCII',
    get(`/{site}/names/${encodeURIComponent('日本語.txt')}?download`),
    ok('japanese', {
      'Content-Disposition': `attachment; filename="___.txt"; filename*=UTF-8''%E6%97%A5%E6%9C%AC%E8%AA%9E.txt`,
    }),
  ],
  [
    'a file by the name that follows it',
    get('/{file}/letters.txt?download'),
    sent('attachment; filename="letters.txt"'),
  ],
  [
    'on a range too',
    range(`${abc}?download`, 'bytes=0-0'),
    partial('a', 'bytes 0-0/26', { 'Content-Disposition': 'attachment; filename="abc.txt"' }),
  ],
];

const folders: Row[] = [
  ['an archive’s address', follow('/{site}'), movedTo('/{site}/')],
  ['a folder', follow('/{site}/docs'), movedTo('/{site}/docs/')],
  ['a folder, with its query', follow('/{site}/docs?a=1&b=x%20y&c'), movedTo('/{site}/docs/?a=1&b=x%20y&c')],
  ['an archive’s address, with its query', follow('/{site}?q=%C3%BC'), movedTo('/{site}/?q=%C3%BC')],
  ['the root’s default document', get('/{site}/'), ok(homePage)],
  ['a folder’s default document', get('/{site}/docs/'), ok(textOf('docs/index.html'))],
  ['the default document by its own name', get('/{site}/docs/index.html'), ok(textOf('docs/index.html'))],
  ['a query changes nothing', get(`${abc}?v=2`), ok(alphabet)],
  ['a file in a folder', get('/{site}/folder/sub/c.txt'), ok('c in sub')],
  ['a file is no folder', get(`${abc}/`), { status: 404 }],
  ['nothing is below a file', get(`${abc}/more`), { status: 404 }],
  ['two slashes differ from one slash', get('/{site}//abc.txt'), { status: 404 }],
  ['the case of a name counts', get('/{site}/ABC.TXT'), { status: 404 }],
  ['the index of the tar is no member', get('/{site}/archive.tar.idx'), { status: 404 }],
  ['a tar without an index', get('/{untold}/a.txt'), ok(alphabet)],
  ['a folder of a tar without an index', get('/{untold}/sub/'), ok(homePage)],
  ['a hidden folder', get('/{site}/.well-known/x.txt'), ok('well known')],
  ['a file whose address is in capitals', get('/{FILE}'), ok(alphabet)],
];

const routes: Row[] = [
  ['the root', get('/{routed}/'), ok(routedFiles['start.html'] as string)],
  ['`*`', get('/{routed}/blog/2024'), ok(routedFiles['blog.html'] as string)],
  ['`*` takes slashes', get('/{routed}/blog/2024/05/post'), ok(routedFiles['blog.html'] as string)],
  ['a route wins over a file', get('/{routed}/blog/real.html'), ok(routedFiles['blog.html'] as string)],
  ['an exact route wins over a file', get('/{routed}/abc.txt'), ok('the other')],
  ['`?` matches one character', get('/{routed}/img/a.svg'), ok(svg)],
  ['`?` is not two', get('/{routed}/img/ab.svg'), { status: 404 }],
  ['`{a,b}`', get('/{routed}/old-b'), ok(routedFiles['start.html'] as string)],
  ['`{a,b}` is not c', get('/{routed}/old-c'), { status: 404 }],
  ['`**` between slashes', get('/{routed}/deep/1/2/x'), ok(routedFiles['deep.html'] as string)],
  ['`**` takes no folder too', get('/{routed}/deep/x'), ok(routedFiles['deep.html'] as string)],
  ['`[0-9]`', get('/{routed}/class/7'), ok(routedFiles['digit.html'] as string)],
  ['a route to a missing member', get('/{routed}/dangling/x'), { status: 404 }],
  ['no route', get('/{routed}/plain.txt'), ok('no route')],
  ['the type is that of the document', get('/{routed}/blog/picture.png'), typed(`text/html${utf8}`)],
];

const nameOf = (name: string) => `/{site}/names/${encodeURIComponent(name)}`;
const names: Row[] = [
  ...Object.entries(siteFiles)
    .filter(([path]) => path.startsWith('names/'))
    .map(([path, content]): Row => {
      const name = path.slice('names/'.length);
      const shown = name.includes('\u0301') || name.includes('\u0308') ? `${name} (decomposed)` : name;
      return [`“${shown}”`, get(nameOf(name)), ok(content)];
    }),
  ['a composed name, asked for decomposed', get(nameOf('cafe\u0301.txt')), ok('stored composed')],
  ['a decomposed name, asked for composed', get(nameOf('resum\u00e9.txt')), ok('stored decomposed')],
  ['`+` is a plus', get('/{site}/names/a+b.txt'), ok('plus')],
  ['`%20` twice', get('/{site}/names/two%20%20spaces.txt'), ok('two spaces')],
  ['letters may be encoded', get('/{site}/%61%62c.txt'), ok(alphabet)],
  ['`&`, `=` and `;` may stand as they are', get('/{site}/names/a&b=c;d.txt'), ok('ampersand')],
  [
    'hexadecimal digits in small letters',
    get('/{site}/names/%e6%97%a5%e6%9c%ac%e8%aa%9e.txt'),
    ok('japanese'),
  ],
  ['a dot file', get('/{site}/.hidden'), ok('hidden')],
  ['an encoded slash', get('/{site}/docs%2Findex.html'), { status: 400 }],
  ['an encoded slash after dots', get('/{site}/..%2F..%2Fetc%2Fpasswd'), { status: 400 }],
  ['encoded dots and slash', get('/{site}/%2e%2e%2Fabc.txt'), { status: 400 }],
  ['an encoded NUL', get('/{site}/abc.txt%00.html'), { status: 400 }],
  ['an invalid `%` sequence', get('/{site}/names/100%.txt'), { status: 400 }],
  ['bytes that are not UTF-8', get('/{site}/%FF.txt'), { status: 400 }],
];

const detail = (path: string, display: string, size: number, path_type = 'FILE') => ({
  path,
  display,
  modified: 0,
  size,
  path_type,
});
const folderJson = JSON.stringify([
  detail('folder/sub/', 'sub/', 0, 'DIRECTORY'),
  detail('folder/9.txt', '9.txt', 4),
  detail('folder/10.txt', '10.txt', 3),
  detail('folder/a.txt', 'a.txt', 11),
]);
const listings: Row[] = [
  [
    'a root without a default document',
    get('/{bare}/'),
    ok([/<h1>Contents of [0-9a-f]{8}…[0-9a-f]{6}</, /href="\.\/a\.txt"/, /href="\.\/sub\/"/], {
      'Content-Type': `text/html${utf8}`,
    }),
  ],
  [
    'a folder',
    get('/{site}/folder/'),
    ok([/<h1>Contents of folder\//, /href="\.\.\/"/, /href="\.\/a\.txt"/, /11 B/]),
  ],
  [
    'names link to the members',
    get('/{site}/names/'),
    ok([/href="\.\/100%25\.txt"/, /href="\.\/a%3Ab\.txt"/, /href="\.\/a%23b\.txt"/]),
  ],
  ['names are escaped', get('/{site}/names/'), ok([/&lt;b&gt;\.txt/, /it&#39;s &quot;quoted&quot;\.txt/])],
  [
    '`?format=json`',
    get('/{site}/folder/?format=json'),
    ok(folderJson, { 'Content-Type': 'application/json' }),
  ],
  [
    '`Accept: application/json`',
    get('/{site}/folder/', { Accept: 'application/json' }),
    ok(folderJson, { 'Content-Type': 'application/json', Vary: 'Accept' }),
  ],
  [
    '`Accept` with parameters',
    get('/{site}/folder/', { Accept: 'application/json;q=0.9, */*;q=0.1' }),
    ok(folderJson),
  ],
  [
    'HTML if `Accept` allows HTML',
    get('/{site}/folder/', { Accept: 'text/html, application/json' }),
    typed(`text/html${utf8}`),
  ],
  [
    'JSON of a folder with a default document',
    get('/{site}/docs/', { Accept: 'application/json' }),
    ok(JSON.stringify([detail('docs/index.html', 'index.html', 34)])),
  ],
  ['a member for any `Accept`', get(abc, { Accept: 'application/json' }), ok(alphabet)],
  [
    'HTML and JSON have their own ETags',
    get('/{site}/folder/?format=json'),
    ok(folderJson, { ETag: { not: '{etag /{site}/folder/}' } }),
  ],
  ['JSON without the slash', follow('/{site}/folder?format=json'), movedTo('/{site}/folder/?format=json')],
  ['a tar without an index', get('/{untold}/?format=json'), ok([/"a\.txt"/, /"sub\/"/])],
];

const formats: Row[] = [
  [
    '`raw` of a file is its data map',
    get('/{file}?format=raw'),
    typed('application/octet-stream', { 'Content-Disposition': 'attachment; filename="{file}"' }),
  ],
  ['`raw` of a record is the record', get('/{record}?format=raw'), ok('a record that is no data map')],
  [
    '`raw` has an ETag of its own',
    get('/{record}?format=raw'),
    ok('a record that is no data map', { ETag: { not: '{etag /{record}}' } }),
  ],
  ['`raw` has ranges', range('/{record}?format=raw', 'bytes=0-0'), partial('a', 'bytes 0-0/28')],
  ['`raw` of a missing address', get('/{missing}?format=raw'), failure(404, 'NOT_FOUND')],
  [
    '`tar` of an archive',
    get('/{site}/?format=tar'),
    typed('application/x-tar', { 'Content-Disposition': 'attachment; filename="{site}.tar"' }),
  ],
  [
    '`tar` of a folder',
    get('/{site}/folder/?format=tar'),
    ok([/a in folder/, /c in sub/, /archive\.tar\.idx/], {
      'Content-Type': 'application/x-tar',
      'Content-Disposition': 'attachment; filename="folder.tar"',
    }),
  ],
  ['`tar` of a manifest', get('/{manifest}/?format=tar'), ok([/first\.txt/, /archive\.tar\.idx/])],
  ['`tar` of a missing folder', get('/{site}/none/?format=tar'), failure(404, 'NOT_FOUND')],
  ['`tar` has ranges', range('/{site}/folder/?format=tar', 'bytes=0-5'), partial('10.txt', 'bytes 0-5/6144')],
  ['`tar` of a file', get('/{file}?format=tar'), failure(501, 'UNSUPPORTED')],
  ['`json` of a file', get('/{file}?format=json'), failure(501, 'UNSUPPORTED')],
  ['an unknown format', get('/{file}?format=zip'), failure(501, 'UNSUPPORTED')],
  ['a site’s own `format` parameter, on a member', get('/{site}/abc.txt?format=print'), ok(alphabet)],
];

const aliases: Row[] = [
  ['a member', get('/docs.site/abc.txt'), ok(alphabet)],
  [
    'a member has the ETag of its address',
    get('/docs.site/abc.txt'),
    ok(alphabet, { ETag: `{etag ${abc}}` }),
  ],
  ['the root', get('/docs.site/'), ok(homePage)],
  ['without the slash', follow('/docs.site'), movedTo('/docs.site/')],
  ['a folder', follow('/docs.site/docs?x=1'), movedTo('/docs.site/docs/?x=1')],
  ['a file', get('/letters'), ok(alphabet)],
  ['the case of a name counts', get('/DOCS.site/'), { status: 404 }],
];

const notFound: Row[] = [
  [
    'a user gets the archive’s 404.html',
    open('/{site}/none'),
    {
      status: 404,
      headers: { 'Content-Type': `text/html${utf8}`, 'Cache-Control': 'no-store', ETag: null },
      body: notFoundPage,
    },
  ],
  ['at any depth', open('/{site}/a/b/c.html'), { status: 404, body: notFoundPage }],
  ['a script gets JSON', get('/{site}/none'), failure(404, 'NOT_FOUND')],
  ['a page of the gateway if the site has none', open('/{bare}/none'), failurePage(404, 'NOT_FOUND')],
  ['by its own name it is a page like others', get('/{site}/404.html'), ok(notFoundPage)],
];

const errors: Row[] = [
  ['63 digits', get(`/${'a'.repeat(63)}`), failure(400, 'BAD_ADDRESS')],
  ['65 digits', get(`/${'a'.repeat(65)}/x`), failure(400, 'BAD_ADDRESS')],
  ['0x before it', get('/0x{file}'), failure(400, 'BAD_ADDRESS')],
  ['a record at no peer', get('/{missing}'), failure(404, 'NOT_FOUND')],
  ['a record at no peer, for a user', open('/{missing}'), failurePage(404, 'NOT_FOUND')],
  ['a missing member', get('/{bare}/none'), failure(404, 'NOT_FOUND')],
  ['a chunk at no peer', get('/{torn}'), failure(404, 'NOT_FOUND')],
  ['a range that needs that chunk', range('/{torn}', 'bytes=12000-12009'), failure(404, 'NOT_FOUND')],
  [
    'a range in other chunks',
    range('/{torn}', 'bytes=0-9'),
    partial(tornFile.subarray(0, 10), 'bytes 0-9/30000'),
  ],
  ['chunks that do not decrypt', get('/{wrong}'), failure(502, 'CORRUPT')],
  ['chunks that do not decrypt, for a user', open('/{wrong}'), failurePage(502, 'CORRUPT')],
  ['a data map of another version', get('/{version2}'), failure(501, 'UNSUPPORTED')],
  ['an address that the host blocks', get('/{denied}'), failure(451, 'DENIED')],
  ['the same, for a user', open('/{denied}'), failurePage(451, 'DENIED')],
  ['the same, as a record', get('/{denied}?format=raw'), failure(451, 'DENIED')],
  ['an unsatisfiable range', range(abc, 'bytes=99-'), failure(416, 'BAD_RANGE')],
  ['a method', ask('POST')(abc), failure(405, 'METHOD')],
  ['a bad path, for a user', open('/{site}/a%2Fb'), failurePage(400, 'BAD_ADDRESS')],
];

const manifests: Row[] = [
  ['a public address with a manifest', follow('/{manifest}'), movedTo('/{manifest}/')],
  ['its entries', get('/{manifest}/first.txt'), ok(alphabet)],
  ['its folders', get('/{manifest}/folder/second.txt'), ok(alphabet)],
  ['its listing', get('/{manifest}/'), ok([/Contents of Two files/, /first\.txt/, /26 B/])],
  ['its JSON', get('/{manifest}/?format=json'), ok([/"size":26/])],
  ['ranges of its entries', range('/{manifest}/first.txt', 'bytes=-1'), partial('z', 'bytes 25-25/26')],
  [
    'the ETag of an entry',
    get('/{manifest}/first.txt'),
    ok(alphabet, { ETag: { not: '{etag /{manifest}/folder/second.txt}' } }),
  ],
];

const untrusted =
  /^default-src http:[^;]+ data: blob:; script-src 'none'; worker-src 'none'; object-src 'none';.*form-action 'none'; frame-ancestors 'self'; sandbox allow-same-origin .*$/;
const openerPolicy = { 'Cross-Origin-Opener-Policy': 'same-origin-allow-popups' };
const trusted = "object-src 'none'; frame-ancestors 'self'";
const own = /^default-src 'none'; style-src 'unsafe-inline';.*frame-ancestors 'self'$/;
const security: Row[] = [
  ['a page', get('/{site}/'), ok(homePage, { 'Content-Security-Policy': untrusted })],
  [
    'a page, opened',
    open('/{site}/'),
    ok(homePage, { 'Content-Security-Policy': untrusted, ...openerPolicy, 'Origin-Agent-Cluster': '?1' }),
  ],
  ['a page of a trusted site', get('/{trusted}/'), ok(homePage, { 'Content-Security-Policy': trusted })],
  ['an SVG document', get('/{site}/picture.svg'), ok(svg, { 'Content-Security-Policy': untrusted })],
  [
    'any member',
    get(abc),
    ok(alphabet, {
      'Content-Security-Policy': untrusted,
      'X-Content-Type-Options': 'nosniff',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Referrer-Policy': 'same-origin',
      'Set-Cookie': null,
    }),
  ],
  [
    'a part',
    range(abc, 'bytes=0-0'),
    partial('a', 'bytes 0-0/26', {
      'Content-Security-Policy': untrusted,
      'X-Content-Type-Options': 'nosniff',
    }),
  ],
  ['a redirect, opened', follow('/{site}'), { status: 301, headers: openerPolicy }],
  ['a 404.html', open('/{site}/none'), { status: 404, headers: { 'Content-Security-Policy': untrusted } }],
  [
    'a listing',
    get('/{bare}/'),
    ok(undefined, { 'Content-Security-Policy': own, 'X-Content-Type-Options': 'nosniff' }),
  ],
  [
    'an error',
    get('/{missing}'),
    { status: 404, headers: { 'Content-Security-Policy': own, 'X-Content-Type-Options': 'nosniff' } },
  ],
  [
    'a raw record',
    get('/{page}?format=raw'),
    typed('application/octet-stream', {
      'Content-Security-Policy': untrusted,
      'Content-Disposition': /^attachment/,
    }),
  ],
  [
    'the tar of a trusted site',
    get('/{trusted}/?format=tar'),
    typed('application/x-tar', { 'Content-Security-Policy': untrusted }),
  ],
  [
    'a file’s name cannot make it trusted',
    get('/{page}/x.html'),
    ok(homePage, { 'Content-Security-Policy': untrusted }),
  ],
  [
    'content as a worker’s script',
    get('/{trusted}/trusted.txt', { 'Service-Worker': 'script' }),
    failure(403, 'REFUSED'),
  ],
];

const question: Expected = {
  status: 403,
  headers: {
    ...openerPolicy,
    'Cache-Control': 'no-store',
    'Content-Type': `text/html${utf8}`,
    'Content-Security-Policy': own,
    ETag: null,
  },
  body: [/Open without scripts/, /Trust this site/, /<form[^>]* method="post" action="\/-\/trust"/],
};
const firstVisit: Row[] = [
  ['a page asks', open('/{fresh}/'), question],
  ['a page by its path asks', open('/{fresh}/index.html'), question],
  ['an SVG document asks', open('/{fresh}/picture.svg'), question],
  ['a text does not', open('/{fresh}/a.txt'), ok(alphabet)],
  ['a script’s request does not', get('/{fresh}/'), ok(homePage)],
  ['a page of a trusted site does not', open('/{trusted}/'), ok(homePage)],
  ['a page whose site was decided does not', open('/{site}/'), ok(homePage)],
];

const internal: Row[] = [
  [
    'health',
    get('/-/health'),
    ok([/"status":"ok","gateway":"antway","version":"\d/], {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      'X-Frame-Options': 'DENY',
      'Content-Length': null,
    }),
  ],
  ['stats', get('/-/stats'), ok([/"requests"/])],
  ['activity', get('/-/activity'), ok([/"peerBytes":\[/, /"transfers":\[/])],
  ['peers', get('/-/peers'), ok([/"peers"/])],
  ['cache', get('/-/cache'), ok([/"count"/])],
  ['HEAD', head('/-/health'), { status: 200, body: '' }],
  [
    'a navigation, which any website can start',
    open('/-/health'),
    { status: 403, headers: { 'Cache-Control': 'no-store', ...openerPolicy } },
  ],
  ['an unknown endpoint', get('/-/nothing'), failure(404, 'NOT_FOUND')],
  ['a method it does not take', ask('POST')('/-/health'), failure(405, 'METHOD', { Allow: 'GET, HEAD' })],
  ['a name of JavaScript’s own', get('/-/constructor'), failure(404, 'NOT_FOUND')],
];

const send = (method: string, path: string, body: unknown): CaseRequest => ({
  ...ask(method)(path),
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const post = (path: string, body: unknown) => send('POST', path, body);
const remove = ask('DELETE');
const done: Expected = { status: 204, body: '' };
const json = (...body: RegExp[]): Expected => ({
  status: 200,
  headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
  body,
});
const refused = failure(403, 'REFUSED');

/** Which methods each endpoint takes: asked with one that none does. */
const methodsOf: Row[] = [
  ['activity', 'GET, HEAD, DELETE'],
  ['appearance', 'GET, HEAD, PUT'],
  ['cache', 'GET, HEAD'],
  ['config', 'GET, HEAD'],
  ['export', 'GET, HEAD, POST'],
  ['files', 'GET, HEAD'],
  ['health', 'GET, HEAD'],
  ['import', 'POST'],
  ['manifests', 'GET, HEAD, POST, DELETE'],
  ['peers', 'GET, HEAD'],
  ['pins', 'GET, HEAD, POST, DELETE'],
  ['reset', 'POST'],
  ['settings', 'GET, HEAD, PUT'],
  ['sites', 'GET, HEAD, DELETE'],
  ['stats', 'GET, HEAD'],
  ['test-peer', 'POST'],
  ['trust', 'GET, HEAD, POST, DELETE'],
  ['visits', 'POST, DELETE'],
].map(
  ([name, allow]): Row => [
    `/-/${name}`,
    ask('PROPFIND')(`/-/${name}`),
    failure(405, 'METHOD', { Allow: allow! }),
  ],
);

const pin = (address: string, action: string) => post('/-/pins', { address, action });
const library: Row[] = [
  ['no pins at first', get('/-/pins'), json(/^\{"pins":\[\]\}$/)],
  ['pin', pin('{file}', 'pin'), json(/"address":"[0-9a-f]{64}"/, /"state":"(complete|partial)"/)],
  ['the list', get('/-/pins'), json(/"chunks":\{"stored":\d+,"total":\d+\}/, /"bytesPerSecond":/)],
  ['pause', pin('{file}', 'pause'), json(/"activity":"paused"/)],
  ['resume', pin('{file}', 'resume'), json(/"activity":"(idle|waiting|fetching)"/)],
  ['verify', pin('{file}', 'verify'), json(/"address":/)],
  ['an unknown action', pin('{file}', 'remove'), refused],
  ['no address', post('/-/pins', { action: 'pin' }), refused],
  ['no JSON', post('/-/pins', 'pin it'), refused],
  ['an invalid address', pin('x', 'pin'), failure(400, 'BAD_ADDRESS')],
  ['an address on the deny list', pin('{denied}', 'pin'), failure(451, 'DENIED')],
  ['pause a site without a pin', pin('{missing}', 'pause'), failure(404, 'NOT_FOUND')],
  [
    'export',
    get('/-/export?address={file}'),
    typed('application/x-tar', {
      'Content-Disposition': 'attachment; filename="{file}.antsite"',
      'Accept-Ranges': 'bytes',
    }),
  ],
  [
    'its first bytes',
    range('/-/export?address={file}', 'bytes=0-15'),
    { status: 206, headers: { 'Content-Length': '16' }, body: 'antway-site.json' },
  ],
  ['the files of a stored site', get('/-/files?address={file}'), json(/^\{"files":\[""\]\}$/)],
  ['a file of a stored site', get('/-/files?address={file}&path='), typed('application/octet-stream')],
  ['the files of a site that is not stored', get('/-/files?address={missing}'), failure(404, 'NOT_FOUND')],
  ['the files of nothing', get('/-/files'), refused],
  ['export of a site that is not stored', get('/-/export?address={missing}'), failure(404, 'NOT_FOUND')],
  ['export of nothing', get('/-/export'), refused],
  ['export with a title that is no form', post('/-/export?address={file}', 'Low Tide'), refused],
  ['import of an empty file', post('/-/import', ''), failure(501, 'UNSUPPORTED')],
  ['import of an invalid file', post('/-/import', 'x'.repeat(20)), failure(501, 'UNSUPPORTED')],
  ['unpin', remove('/-/pins?address={file}'), done],
  ['unpin a site without a pin', remove('/-/pins?address={file}'), failure(404, 'NOT_FOUND')],
  [
    'list the opened sites',
    get('/-/sites'),
    json(/"kind":"archive"/, /"offline":(true|false)/, /"lastOpened":\d/),
  ],
  [
    'note a visit from the library at another name',
    post('/-/visits', {
      ...{ address: '{site}', path: '/{site}/', name: null, title: 'A site', icon: null },
      ...{ kind: 'archive', lastOpened: 1 },
    }),
    done,
  ],
  ['the files of opened sites', get('/-/recent-files'), json(/^\{"sites":\[/)],
  ['a list that is not configured', get('/-/lists?address={missing}'), refused],
  ['note an invalid visit', post('/-/visits', { address: '{site}', path: 'https://a.example/' }), refused],
  ['delete a visit', remove('/-/visits?address={site}'), done],
  ['remove it and its chunks', remove('/-/sites?address={site}'), done],
  ['remove an unknown site', remove('/-/sites?address={missing}'), done],
  ['remove an invalid address', remove('/-/sites?address=x'), failure(400, 'BAD_ADDRESS')],
];

const choices: Row[] = [
  ['the effective config', get('/-/config'), json(/"peers":\["http/, /"sources":/, /"problem":/)],
  ['read the user’s settings', get('/-/settings'), json(/^\{/)],
  ['set something', send('PUT', '/-/settings', { cache: { memoryBytes: 50_000_000 } }), json(/50000000/)],
  ['set an unknown key', send('PUT', '/-/settings', { colour: 'red' }), failure(500, 'BAD_CONFIG')],
  ['the appearance', get('/-/appearance'), json(/^\{"language":null,"theme":null\}$/)],
  ['set an unknown language', send('PUT', '/-/appearance', { language: 'xx', theme: null }), refused],
  ['set an unknown theme', send('PUT', '/-/appearance', { language: null, theme: 'pink' }), refused],
  ['let the browser choose', send('PUT', '/-/appearance', { language: null, theme: null }), done],
  ['decide about a site', post('/-/trust', { address: '{bare}', decision: 'trusted' }), done],
  ['an invalid decision', post('/-/trust', { address: '{bare}', decision: 'perhaps' }), refused],
  ['the decisions', get('/-/trust'), json(/"decision":"trusted"/)],
  ['revoke a decision', remove('/-/trust?address={bare}'), done],
  ['list the stored manifests', get('/-/manifests'), json(/^\[/)],
  ['store an invalid manifest', post('/-/manifests', 'no manifest'), failure(502, 'CORRUPT')],
  ['remove a stored manifest', remove('/-/manifests?id={missing}'), done],
  ['test an invalid peer', post('/-/test-peer', { url: 'x' }), failure(500, 'BAD_CONFIG')],
  ['an invalid reset', post('/-/reset', { chunks: 'all' }), refused],
];

const mayChange = { 'Cache-Control': 'public, no-cache' };
const pointers: Row[] = [
  ['a member of a pointer’s target', get('/{pointer}/abc.txt'), ok(alphabet, mayChange)],
  [
    'the ETag is that of the target',
    get('/{pointer}/abc.txt'),
    { status: 200, headers: { ETag: '{etag /{site}/abc.txt}' } },
  ],
  ['not changed', get('/{pointer}/abc.txt', { 'If-None-Match': '{etag}' }), notModified(mayChange)],
  ['a range', range('/{pointer}/abc.txt', 'bytes=0-2'), partial('abc', 'bytes 0-2/26', mayChange)],
  ['the root without the slash', follow('/{pointer}'), movedTo('/{pointer}/')],
  ['a listing', get('/{pointer}/folder/?format=json'), ok([/"a\.txt"/], mayChange)],
  ['a missing member', get('/{pointer}/nothing.txt'), failure(404, 'NOT_FOUND')],
  [
    'its own record',
    get('/{pointer}?format=raw'),
    {
      status: 200,
      headers: { 'Content-Length': '5303', 'Content-Type': 'application/octet-stream', ...mayChange },
    },
  ],
];

const redirects: Row[] = [
  ['301 with a splat', follow('/{redirected}/old/a%20b/c?q=1'), movedTo('/{redirected}/new/a%20b/c?q=1')],
  [
    '302 with a query of its own',
    follow('/{redirected}/moved?q=1'),
    { status: 302, headers: { Location: '/{redirected}/index.html?from=moved#part' } },
  ],
  ['200 shows another member', get('/{redirected}/app/any/route'), ok(homePage)],
  ['404 and 410 show another member', get('/{redirected}/gone'), { status: 404, body: notFoundPage }],
  ['an existing member wins', get('/{redirected}/abc.txt'), ok(alphabet)],
  ['a target on another host is not used', get('/{redirected}/evil'), failure(404, 'NOT_FOUND')],
];

const envelopes: Row[] = [
  [
    'the content, with the type of its language',
    get('/{envelope}'),
    ok('# Grüße', { 'Content-Type': `text/markdown${utf8}`, ETag: /\.envelope:md"$/ }),
  ],
  ['HEAD', head('/{envelope}'), { ...ok('', headOf(Buffer.from('# Grüße'))), body: '' }],
  ['a range', range('/{envelope}', 'bytes=2-3'), partial('Gr', 'bytes 2-3/9')],
  [
    'a download has its title',
    get('/{envelope}?download=1'),
    ok('# Grüße', {
      'Content-Disposition': 'attachment; filename="My _note_.md"; filename*=UTF-8\'\'My%20%22note%22.md',
    }),
  ],
  [
    'markup is shown as text',
    get('/{markup}'),
    ok('<script>alert(1)</script>', { 'Content-Type': `text/plain${utf8}` }),
  ],
  ['the envelope itself', get('/{envelope}?format=json'), ok([/^\{"v":1/], { ETag: /\.file"$/ })],
  ['the envelope by a name', get('/{envelope}/note.json'), ok([/^\{"v":1/], { ETag: /\.file"$/ })],
  ['other JSON stays', get('/{unwrapped}'), ok('{"v":1,"meta":null,"content":"x"}')],
];

const wholeZip = { 'Content-Type': 'application/zip', 'Content-Length': String(zipBytes) };
const zips: Row[] = [
  ['the root without the slash', follow('/{zip}'), movedTo('/{zip}/')],
  ['its default document', get('/{zip}/'), ok(homePage, { 'Content-Type': `text/html${utf8}` })],
  ['a stored member', get('/{zip}/folder/stored.txt'), ok(alphabet)],
  [
    'a range of a stored member',
    range('/{zip}/folder/stored.txt', 'bytes=2-5'),
    partial('cdef', 'bytes 2-5/26'),
  ],
  ['a deflated member', get('/{zip}/folder/deflated.txt'), ok(alphabet.repeat(100))],
  [
    'a range of a deflated member',
    range('/{zip}/folder/deflated.txt', 'bytes=1300-1303'),
    partial('abcd', 'bytes 1300-1303/2600'),
  ],
  [
    'HEAD of a deflated member',
    head('/{zip}/folder/deflated.txt'),
    { ...ok('', headOf(alphabet.repeat(100))), body: '' },
  ],
  ['a listing', get('/{zip}/folder/?format=json'), ok([/"deflated\.txt"/, /2600/])],
  ['an encrypted member', get('/{zip}/secret.txt'), failure(501, 'UNSUPPORTED')],
  ['a missing member', get('/{zip}/none.txt'), failure(404, 'NOT_FOUND')],
  ['the ZIP itself', get('/{zip}/?format=zip'), typed('application/zip', wholeZip)],
  ['the ZIP by a name', get('/{zip}/photos.zip'), typed('application/zip', wholeZip)],
  [
    'the ZIP as a download',
    get('/{zip}?download=1&filename=photos.zip'),
    typed('application/zip', { ...wholeZip, 'Content-Disposition': /^attachment; filename="photos\.zip"/ }),
  ],
  ['a folder as a tar', get('/{zip}/folder/?format=tar'), typed('application/x-tar')],
  ['an office document is a file', get('/{office}'), typed('application/zip')],
  ['a file has no format “zip”', get('/{file}?format=zip'), failure(501, 'UNSUPPORTED')],
];

const original = { 'Accept-Ranges': 'bytes', ETag: /\.file:\w+(\.\w+)?"$/ };
const rewritten = { 'Accept-Ranges': 'none', ETag: /\.links-1/ };
const links: Row[] = [
  [
    'in a page, shown',
    open('/{linked}/'),
    ok([/href="\/[0-9a-f]{64}\/abc\.txt"/, /src="\/docs\.site\/p"/], rewritten),
  ],
  [
    'in a page, fetched',
    get('/{linked}/own.html'),
    ok([/srcset="\/docs\.site\/1 1x, \/[0-9a-f]{64}\/2 2x"/], rewritten),
  ],
  [
    'in a style sheet',
    get('/{linked}/style.css'),
    ok([/@import "\/[0-9a-f]{64}\/a/, /url\(\/\w/], rewritten),
  ],
  ['in a script stay', get('/{linked}/script.js'), ok([/'ant:\/\/[0-9a-f]{64}\/abc/], original)],
  ['to nothing stay', get('/{linked}/unknown.html'), ok([/"ant:\/\/1234"/], original)],
  ['in UTF-16 stay', get('/{linked}/utf16.html'), ok([/a\0n\0t\0:/], original)],
  [
    'HEAD has the length of GET',
    head('/{linked}/own.html'),
    { status: 200, headers: { 'Content-Length': '102', ...rewritten }, body: '' },
  ],
  [
    'in a long page, while it streams',
    get('/{linked}/long.html'),
    { status: 200, headers: { 'Content-Length': null, ...rewritten } },
  ],
  [
    'HEAD of a long page',
    head('/{linked}/long.html'),
    { status: 200, headers: { 'Content-Length': null, ...rewritten }, body: '' },
  ],
  ['not modified', get('/{linked}/own.html', { 'If-None-Match': '{etag}' }), notModified(rewritten)],
  [
    'a long page, not modified',
    get('/{linked}/long.html', { 'If-None-Match': '{etag}' }),
    notModified(rewritten),
  ],
  [
    'a range is of the original',
    range('/{linked}/own.html', 'bytes=13-26'),
    partial('ant://docs.sit', 'bytes 13-26/124', original),
  ],
  [
    'a range of another version is the whole original',
    range('/{linked}/own.html', 'bytes=0-4', { 'If-Range': '{etag}' }),
    ok([/srcset="ant:\/\/docs/], original),
  ],
  ['a download is the original', get('/{linked}/own.html?download=1'), ok([/ant:\/\/docs/], original)],
  [
    'data for a script is the original',
    get('/{linked}/own.html', { 'Antway-As-Data': '1' }),
    ok([/ant:\/\/docs/], original),
  ],
  ['in 404.html', open('/{linked}/none'), { status: 404, body: [/src="\/[0-9a-f]{64}\/lost\.png"/] }],
];

/** Every case, in the order of the document. */
export const cases: readonly Case[] = [
  ...table('Methods', methods),
  ...table('Ranges', ranges),
  ...table('Validators', validators),
  ...table('Caching', caching, 'own'),
  ...table('Types by extension', types),
  ...table('Types by sniffing', sniffing),
  ...table('Content-Disposition', disposition, 'own'),
  ...table('Archives and folders', folders),
  ...table('Routes', routes),
  ...table('Redirects', redirects, 'own'),
  ...table('Names in URLs', names),
  ...table('Listings', listings, 'own'),
  ...table('Formats', formats, 'own'),
  ...table('Names of addresses', aliases, 'own'),
  ...table('Pointers', pointers, 'own'),
  ...table('404.html', notFound, 'own'),
  ...table('Envelopes', envelopes, 'own'),
  ...table('ZIP', zips, 'own'),
  ...table('Links to content addresses', links, 'own'),
  ...table('Errors', errors, 'own'),
  ...table('Manifests', manifests, 'own'),
  ...table('Security headers', security, 'own'),
  ...table('First visit', firstVisit, 'own'),
  ...table('The gateway’s own endpoints', internal, 'own'),
  ...table('Their methods', methodsOf, 'own'),
  ...table('The library', library, 'own'),
  ...table('Settings and decisions', choices, 'own'),
];

function table(group: string, rows: readonly Row[], kind?: 'own'): Case[] {
  return rows.map(([name, request, expected]) => ({
    group,
    name,
    request,
    expected,
    isOwn: kind === 'own',
  }));
}
