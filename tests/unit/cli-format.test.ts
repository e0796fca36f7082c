import { expect, it } from 'vitest';
import { printable, printableJson } from '../../src/cli/format.ts';

it.each([
  ['an escape sequence', '\x1b]0;title\x07.txt', '\\u001b]0;title\\u0007.txt'],
  ['lines', 'a\r\nb\u2028c\u0085d', 'a\\u000d\\u000ab\\u2028c\\u0085d'],
  ['the sequence introducer of one character', '\x9b2J', '\\u009b2J'],
  ['a deletion', 'a\x7f\b', 'a\\u007f\\u0008'],
  ['an order of reading', 'txt.\u202eexe\u2066\u200f\u061c', 'txt.\\u202eexe\\u2066\\u200f\\u061c'],
  ['letters', 'Grüße 世界 😀 \\ "x"', 'Grüße 世界 😀 \\ "x"'],
])('shows %s as plain text', (_, text, shown) => {
  expect(printable(text)).toBe(shown);
});

it('keeps the meaning and the lines of JSON', () => {
  const value = { name: '\x1b[2J\x9b2J\u202e\x7f\n"ü' };
  for (const indent of [undefined, 2]) {
    const json = printableJson(JSON.stringify(value, undefined, indent));
    expect(JSON.parse(json)).toEqual(value);
    expect(printable(json.replaceAll('\n', ''))).toBe(json.replaceAll('\n', ''));
    expect(json.split('\n')).toHaveLength(indent ? 3 : 1);
  }
});
