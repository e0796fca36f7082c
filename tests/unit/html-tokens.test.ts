import fc from 'fast-check';
import { Parser } from 'htmlparser2';
import { describe, expect, it } from 'vitest';
import { htmlTokens } from '../../src/gateway/http/html-tokens.ts';

/** One line for each token. */
function lines(html: string): string[] {
  return Array.from(htmlTokens(html), ({ kind, name, attributes, text, end }) =>
    [kind, name, ...Array.from(attributes, ([key, value]) => `${key}=${value}`), text, end]
      .filter((part) => part !== '')
      .join(' '),
  );
}

describe('the tokens of HTML', () => {
  it.each<[string, string[]]>([
    ['<!DocType html>a<B>', ['doctype 15', 'text a 16', 'open b 19']],
    ['</P class=a>', ['close p class=a 12']],
    ['a<1 b', ['text a 1', 'text < 2', 'text 1 b 5']],
    ['<br/><a/b>', ['open br 5', 'open a b= 10']],
    // Comments
    ['<!-- <b> --><i>', ['open i 15']],
    ['<!-- -- > --!><i>', ['open i 17']],
    ['<!--><i>', ['open i 8']],
    ['<!---><i>', ['open i 9']],
    ['<!----><i>', ['open i 10']],
    ['<!--\n<b>\n--><i>', ['open i 15']],
    ['<!-- <b>', []],
    ['<!b><?xml version="1.0"?></ b></><i>', ['open i 36']],
    ['<![CDATA[<b>]]>', ['text ]]> 15']],
    // Attributes
    ['<a A=b c = \'d"\' e="f>" g>', ['open a a=b c=d" e=f> g= 25']],
    ['<a b=c b=d>', ['open a b=c 11']],
    ['<a b= >', ['open a b= 7']],
    ['<a b=/c/>', ['open a b=/c/ 9']],
    ['<a b="c"d=e>', ['open a b=c d=e 12']],
    ['<a =b==c>', ['open a =b==c 9']],
    ['<a b=&amp;>', ['open a b=&amp; 11']],
    ['<a\u00a0b c\u00a0=\u00a0d>', ['open a\u00a0b c\u00a0=\u00a0d 11']],
    // Tags without an end
    ['a<b', ['text a 1']],
    ['a<b c', ['text a 1']],
    ['a<b c="><i>', ['text a 1']],
    ["a<b c='><i>", ['text a 1']],
    ['<!doctype html', []],
    // Elements that contain only text
    ['<title><b>&amp;</title ><i>', ['open title <b>&amp; 7', 'close title 24', 'open i 27']],
    ['<Script>"</b></scripts>"</SCRIPT>', ['open script "</b></scripts>" 8', 'close script 33']],
    ['<style><!--</style>--><b>', ['open style <!-- 7', 'close style 19', 'text --> 22', 'open b 25']],
    ['<textarea><b>', ['open textarea <b> 10']],
    ['<title/>a</title>', ['open title a 8', 'close title 17']],
    ['<titles><b>', ['open titles 8', 'open b 11']],
  ])('of %j are those of a browser', (html, expected) => {
    expect(lines(html)).toEqual(expected);
  });

  it('are those that htmlparser2 finds, in any order of fragments', () => {
    const fragments =
      `<!doctype html>|<html>|<head |<title>|</title>|<script>|</script>|</scrip>|<STYLE>|</style >|<link
      |<meta|rel=icon|href='a"b'|HREF="c>d"|a = b|=|"|'|<!--|-->|--!>|<!-|->|<!|<?|</>|<1|</1|>|/>| /|<|-|!| |x|é|&amp;`.split(
        '|',
      );
    /** Ends every tag, comment and element. htmlparser2 takes some unfinished tags for text. */
    const end = `'">--></title></script></style>`;
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...fragments), { maxLength: 40 }), (parts) => {
        const html = `${parts.join('')}${end}`;
        expect(summary(html)).toEqual(summaryOfLibrary(html));
      }),
      { numRuns: 5000 },
    );
  });

  it.each([
    '<',
    '<a ',
    '<a b="',
    "<a b='",
    '<!--',
    '<!-- -',
    '</',
    '<!',
    '<script>',
    '<script></',
    '<a b ',
    ' =',
  ])('are found in time proportional to the length in a document of %j', (part) => {
    const startedAt = performance.now();
    expect(() => lines(part.repeat(300_000))).not.toThrow();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});

interface Summary {
  opened: { name: string; attributes: Record<string, string>; end: number }[];
  doctypes: number[];
  text: string;
}

function summary(html: string): Summary {
  const found: Summary = { opened: [], doctypes: [], text: '' };
  for (const { kind, name, attributes, text, end } of htmlTokens(html)) {
    if (kind === 'open') found.opened.push({ name, attributes: Object.fromEntries(attributes), end });
    if (kind === 'doctype') found.doctypes.push(end);
    found.text += text;
  }
  return found;
}

function summaryOfLibrary(html: string): Summary {
  const found: Summary = { opened: [], doctypes: [], text: '' };
  const parser = new Parser(
    {
      onopentag(name, attributes, isImplied) {
        if (!isImplied) found.opened.push({ name, attributes, end: parser.endIndex + 1 });
      },
      onprocessinginstruction: () => void found.doctypes.push(parser.endIndex + 1),
      ontext(text) {
        found.text += text;
      },
    },
    { decodeEntities: false },
  );
  parser.end(html);
  return found;
}
