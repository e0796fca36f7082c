// @module-tag slow
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TokenType, tokenize } from '@csstools/css-tokenizer';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { type LinkedType, LinkRewriter, rewriteStream } from '../../src/gateway/links/link-rewriter.ts';
import { limits } from '../../src/limits.ts';
import { fromRoot } from '../support/paths.ts';

const hex = 'ab'.repeat(32);
const targets = {
  urlOf: (named: string, isNavigation: boolean) =>
    named === 'known' || /^[0-9a-f]{64}$/.test(named)
      ? `${isNavigation ? '/to' : '/at'}/${named}`
      : undefined,
  version: '',
};

/** One string character for each byte. */
const bytesOf = (text: string) => Buffer.from(text, 'latin1');

function rewrite(type: LinkedType, text: string, cuts: readonly number[] = []): string {
  const rewriter = new LinkRewriter(type, targets);
  const bytes = bytesOf(text);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  let at = 0;
  const parts = ends.map((end) => {
    const part = bytes.subarray(at, end);
    at = end;
    return rewriter.write(part);
  });
  return Buffer.concat([...parts, rewriter.end()]).toString('latin1');
}

// “¦at¦” and “¦to¦” mark the links; the first one is loaded by the page, the second one is followed by the user.
const marked = (text: string) => ({
  before: text.replaceAll('¦at¦', `ant://${hex}`).replaceAll('¦to¦', `autonomi://${hex}`),
  after: text.replaceAll('¦at¦', `/at/${hex}`).replaceAll('¦to¦', `/to/${hex}`),
});

describe('in HTML', () => {
  it.each([
    '<img src="¦at¦/a.png">',
    "<IMG ALT=x SRC='¦at¦'>",
    '<img src=¦at¦/a.png?a=1&amp;b=2#c>',
    '<img src = "\n ¦at¦ \n">',
    '<img srcset="¦at¦/1 1x, /own 2x,¦at¦/2 3x">',
    '<link rel=preload as=image imagesrcset="¦at¦/1 400w, ¦at¦/2 800w" href=¦at¦>',
    '<video poster="¦at¦" src="¦at¦?x"><track src="¦at¦#y"></video>',
    '<a href="¦to¦/page#part">a</a><area href=¦to¦><form action="¦to¦"><button formaction="¦to¦">',
    '<svg><use href="¦at¦/s.svg#a"/><image xlink:href="¦at¦"/></svg><object data="¦at¦">',
    '<p style="background: url(¦at¦/a) url(\'¦at¦/b\')">',
    '<p style="background: url(&quot;¦at¦/a&quot;)">',
    '<style>@import "¦at¦/a.css"; p { background: url("¦at¦/b") }</style><img src="¦at¦">',
    '<svg><style>p { background: url(¦at¦) }<!-- ¦at --></style><style>a{b:url(¦at¦)}</style></svg>',
    '<svg><title><img src="¦at¦"></title><script/><image href="¦at¦"/></svg><style>a{b:url(¦at¦)}</style>',
    '<script src="¦at¦/lib.js"></script><iframe src="¦at¦"></iframe><base href="¦at¦/">',
    '<textarea>a</textarea><img src="¦at¦"><xmp></xmp><title></title><img src="¦at¦">',
    '<img src="¦at¦">\xff\x80\0<img src="¦at¦">',
  ])('%s', (text) => {
    const { before, after } = marked(text);
    expect(rewrite('html', before)).toBe(after);
  });

  it.each([
    [
      'names that are known',
      '<img src="ant://known/a"><img src="ant://unknown/a">',
      '<img src="/at/known/a"><img src="ant://unknown/a">',
    ],
    ['addresses in capitals', `<img src="ANT://${hex.toUpperCase()}/A">`, `<img src="/at/${hex}/A">`],
    ['escaped slashes', `<img src="ant:&#x2F;&#47;${hex}&#x2F;a">`, `<img src="/at/${hex}&#x2F;a">`],
    [
      'the addresses of aut.local',
      `<img src="https://aut.local/${hex}/a"><img src=http://aut.local/${hex}>`,
      `<img src="/at/${hex}/a"><img src=/at/${hex}>`,
    ],
  ])('%s', (_, before, after) => {
    expect(rewrite('html', before)).toBe(after);
  });
});

describe('in CSS', () => {
  it.each([
    '@import url(¦at¦/a.css) print;@import "¦at¦/b.css" layer(x);@IMPORT/**/\'¦at¦\';',
    '@font-face { src: url("¦at¦/f.woff2") format("woff2"), url(  ¦at¦/g  ) }',
    'a { background: image-set("¦at¦/1" 1x, "¦at¦/2" type("image/png"), url(¦at¦/3) 3x), URL(¦at¦) }',
    'a { cursor: url(¦at¦/c.cur) 1 2, auto; mask: src("¦at¦/m.svg#a") }',
    '\xef\xbb\xbf@charset "utf-8";@import "¦at¦";\xe4\xb8\xad{}',
  ])('%s', (text) => {
    const { before, after } = marked(text);
    expect(rewrite('css', before)).toBe(after);
  });
});

describe('unchanged', () => {
  const link = `ant://${hex}`;
  it.each<[LinkedType, string]>([
    ['html', 'ant://1234'],
    ['html', '<img src="ant://1234">'],
    ['html', `<img src="ant://${hex}0/a"><img src="ant://${hex.slice(1)}">`],
    ['html', `<img src="x${link}"><img src="/${link}"><img src="https://a.example/?${link}">`],
    ['html', `<img src="https://aut.local/known"><img src="https://aut.local.example/${hex}">`],
    ['html', `<img src="https://x@aut.local/${hex}"><img src="ant://user@${hex}/">`],
    ['html', `<p title="${link}" data-src="${link}" content="${link}">${link}</p>`],
    ['html', `<!-- <img src="${link}"> --><!doctype html SYSTEM "${link}">`],
    ['html', `<script>x = '<img src="${link}">'; // url(${link})</script>`],
    ['html', `<textarea><img src="${link}"></textarea><title><a href="${link}"></title>`],
    ['html', `<noembed><img src="${link}"></noembed><plaintext><img src="${link}">`],
    ['html', `<img src="${link}`],
    ['html', `<style>p::before { content: "${link}" } /* url(${link}) */</style>`],
    ['css', `p::before { content: "${link}" } /* url(${link}) */ @namespace "${link}";`],
    ['css', `a[href="${link}"] { --x: "url(${link})" }`],
    ['css', `a { background: url(x${link}) url("${link}\n) }`],
    ['css', `a { background: url(&quot;${link}&quot;) }`],
    ['css', `a { background: image-set("a" type("${link}")) }`],
  ])('%s: %s', (type, text) => {
    expect(rewrite(type, text)).toBe(text);
  });

  it.each<[string, LinkedType, (filler: string) => string]>([
    [
      'a style attribute',
      'html',
      (filler) => `<p style="background: url(${link}); --x: ${filler}"><img src="${link}">`,
    ],
    ['a data URL', 'html', (filler) => `<img src="data:,${filler}"><img src="${link}">`],
    ['a comment', 'css', (filler) => `/*/ ${filler} */ a { b: url(${link}) }`],
    ['a string', 'css', (filler) => `a { b: "\\"${filler}'"; c: url(${link}) }`],
    ['a URL', 'css', (filler) => `a { b: url(data:\\),${filler}); c: url(${link}) }`],
    ['a URL with a link', 'css', (filler) => `a { b: url(${link}/${filler}); c: url(${link}) }`],
  ])('%s beyond the limit passes, and the next link is rewritten', (_, type, textOf) => {
    const text = textOf('x'.repeat(limits.linkTokenBytes));
    const expected =
      text.slice(0, text.lastIndexOf(link)) + text.slice(text.lastIndexOf(link)).replace('ant:/', '/at');
    expect(rewrite(type, text)).toBe(expected);
    const cuts = Array.from({ length: 150 }, (_, i) => i * 997);
    expect(rewrite(type, text, cuts)).toBe(expected);
  });

  it('a foreign style sheet with a long comment holds back no more than the limit', () => {
    const rewriter = new LinkRewriter('html', targets);
    const start = rewriter.write(bytesOf('<svg><style>a<!--'));
    let length = start.length;
    for (let i = 0; i < 20; i++) length += rewriter.write(bytesOf('x'.repeat(16_384))).length;
    expect(length).toBeGreaterThan(20 * 16_384 - 2 * limits.linkTokenBytes);
  });
});

/** HTML and CSS files of installed packages, as they are. */
const corpus = readdirSync(fromRoot('node_modules/.pnpm'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(html|css)$/.test(name))
  .map((name): [LinkedType, string] => [
    name.endsWith('css') ? 'css' : 'html',
    readFileSync(join(fromRoot('node_modules/.pnpm'), name), 'latin1').slice(0, 200_000),
  ]);

const anyLink =
  /(?:ant|autonomi):(?:\/|&#x2f;){2}(?:[0-9a-f]{64}|known)|https:\/\/aut\.local\/[0-9a-f]{64}/iy;
const anyTarget = /\/(?:at|to)\/(?:[0-9a-f]{64}|known)/y;

/** Where the output differs from the input other than by targets in place of links; undefined if nowhere. */
function otherChange(input: string, output: string): number | undefined {
  for (let i = 0, j = 0; i < input.length || j < output.length; ) {
    anyLink.lastIndex = i;
    anyTarget.lastIndex = j;
    if (input[i] === output[j] && !(anyLink.test(input) && anyTarget.test(output))) {
      i++;
      j++;
      continue;
    }
    anyLink.lastIndex = i;
    anyTarget.lastIndex = j;
    if (!anyLink.test(input) || !anyTarget.test(output)) return i;
    i = anyLink.lastIndex;
    j = anyTarget.lastIndex;
  }
  return undefined;
}

const insertion = fc.tuple(
  fc.nat(),
  fc.constantFrom(
    `<img src="ant://${hex}/a">`,
    `url(ant://${hex})`,
    `ant://${hex}`,
    'ant://known',
    `style="background:url(&quot;autonomi:&#x2f;/${hex}&quot;)"`,
    `<style>@import 'https://aut.local/${hex}'`,
    '"',
    "'",
    '<!--',
    '-->',
    '/*',
    '*/',
    '<script>',
    '</style>',
    '<svg>',
    '\\',
    '\0',
    '\xff\xfe',
    '(',
    ')',
    '\n',
  ),
);

/** The same by the tokens of a library that follows the specification. */
function rewriteByTokens(css: string): string {
  const link = new RegExp(`^(\\s*)ant://(${hex}|known)(?=[/?#]|\\s*$)`);
  const mapped = (text: string) => text.replace(link, '$1/at/$2');
  let expects = false;
  let depth = 0;
  let output = '';
  for (const [type, raw] of tokenize({ css })) {
    let shown: string = raw;
    if (type === TokenType.URL) {
      const [, start, url, end] = /^([^(]*\()(.*?)(\)?)$/s.exec(raw)!;
      shown = start + mapped(url!) + end;
    }
    if (type === TokenType.String && expects && raw.length > 1 && raw.at(-1) === raw[0]) {
      shown = raw[0] + mapped(raw.slice(1, -1)) + raw[0];
    }
    output += shown;
    if (type === TokenType.Whitespace || type === TokenType.Comment) continue;
    expects =
      (type === TokenType.Function && /^(url|src|(-webkit-)?image-set)\($/i.test(raw)) ||
      (type === TokenType.AtKeyword && /^@import$/i.test(raw)) ||
      (type === TokenType.Comma && depth === 1);
    const opens = type === TokenType.Function || type === TokenType.OpenParen;
    if (opens && (depth > 0 || /image-set\($/i.test(raw))) depth++;
    if (type === TokenType.CloseParen && depth > 0) depth--;
  }
  return output;
}

test('CSS is read as the specification says', () => {
  const fragment = fc.constantFrom(
    ...[
      'url(',
      'URL( ',
      'src(',
      'image-set(',
      '-webkit-image-set(',
      '@import ',
      '"',
      "'",
      '/*',
      '*/',
      ')',
      '(',
    ],
    ...[
      ',',
      ';',
      '{',
      '}',
      '\\',
      '\\"',
      '\\)',
      '\n',
      '\r\n',
      '\f',
      ' ',
      'a',
      '-',
      '#',
      '@',
      '1',
      '.',
      '\xe9',
      '\0',
    ],
    ...[
      `ant://${hex}`,
      `ant://${hex}/a`,
      `"ant://known"`,
      `'ant://${hex}?b'`,
      `url(ant://known)`,
      'ant://unknown',
    ],
  );
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 30 }), (fragments) => {
      const css = fragments.join('');
      expect(rewrite('css', css)).toBe(rewriteByTokens(css));
    }),
    { numRuns: 20_000 },
  );
});

describe('over files of packages', () => {
  test('the corpus is large', () => {
    expect(corpus.length).toBeGreaterThan(20);
    expect(corpus.reduce((sum, [, text]) => sum + text.length, 0)).toBeGreaterThan(200_000);
  });

  test('a file without links stays as it is', () => {
    for (const [type, text] of corpus) expect(rewrite(type, text) === text).toBe(true);
  });

  test('only links change, and the pieces do not matter', { timeout: 240_000 }, () => {
    const short = corpus.map(([type, text]): [LinkedType, string] => [type, text.slice(0, 12_000)]);
    let rewritten = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...short),
        fc.array(insertion, { minLength: 1, maxLength: 12 }),
        fc.array(fc.nat(), { maxLength: 40 }),
        ([type, text], insertions, cuts) => {
          let input = text;
          for (const [at, what] of insertions) {
            const place = at % (input.length + 1);
            input = input.slice(0, place) + what + input.slice(place);
          }
          const output = rewrite(type, input);
          if (output !== input) rewritten++;
          expect(otherChange(input, output)).toBeUndefined();
          expect(rewrite(type, input, cuts) === output).toBe(true);
        },
      ),
      { numRuns: 1_500 },
    );
    expect(rewritten).toBeGreaterThan(120);
  });

  test('one byte at a time gives the same', () => {
    const text = marked(
      `<p style="a:url(¦at¦)"><style>@import "¦at¦";a{b:url(¦at¦)}</style><img srcset="¦at¦ 1x">`,
    );
    const cuts = Array.from(text.before, (_, i) => i);
    expect(rewrite('html', text.before, cuts)).toBe(text.after);
    expect(rewrite('css', text.before, cuts)).toBe(rewrite('css', text.before));
  });
});

describe('the stream', () => {
  const chunk = () => bytesOf(`<img src="ant://${hex}">`);

  test('reads only as the consumer reads', async () => {
    let reads = 0;
    const source = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          reads++;
          controller.enqueue(chunk());
        },
      },
      { highWaterMark: 0 },
    );
    const reader = rewriteStream(source, new LinkRewriter('html', targets)).getReader();
    expect(reads).toBe(0);
    await reader.read();
    expect(reads).toBe(1);
    await reader.cancel();
  });

  test('fails if its source fails, and cancels its source', async () => {
    const failing = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(chunk()),
      pull: (controller) => controller.error(new Error('torn')),
    });
    const reader = rewriteStream(failing, new LinkRewriter('html', targets)).getReader();
    await reader.read();
    await expect(reader.read()).rejects.toThrow('torn');
    let reason: unknown;
    const endless = new ReadableStream<Uint8Array>({
      cancel(given) {
        reason = given;
      },
    });
    await rewriteStream(endless, new LinkRewriter('html', targets)).cancel('enough');
    expect(reason).toBe('enough');
  });
});
