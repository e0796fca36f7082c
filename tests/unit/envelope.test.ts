import fc from 'fast-check';
import { expect, it } from 'vitest';
import { memorySource } from '../../src/content/byte-source.ts';
import { openEnvelope } from '../../src/gateway/http/envelope.ts';
import { limits } from '../../src/limits.ts';
import { Trace } from '../../src/stats/trace.ts';

const open = (text: string | Uint8Array) => {
  const source = memorySource(typeof text === 'string' ? new TextEncoder().encode(text) : text);
  return openEnvelope(source, new AbortController().signal, new Trace('/'));
};
const envelope = (meta: unknown, content: unknown = 'text') => JSON.stringify({ v: 1, meta, content });

it.each([
  ['', 'txt'],
  ['rust', 'txt'],
  ['html', 'txt'],
  ['svg', 'txt'],
  ['markdown', 'md'],
  ['json', 'json'],
  ['constructor', 'txt'],
  ['__proto__', 'txt'],
])('an envelope of the language %j is a file with the extension %s', async (lang, extension) => {
  const opened = (await open(envelope({ title: 'A', lang })))!;
  expect(opened).toMatchObject({ title: 'A', extension });
  const bytes = await opened.source.read(0, opened.source.size);
  expect(new TextDecoder().decode(bytes)).toBe('text');
});

it.each([
  ['../../etc/passwd', '.. .. etc passwd'],
  ['evil\u202etxt.exe', 'evil txt.exe'],
  ['a\r\nSet-Cookie: b', 'a  Set-Cookie: b'],
  ['x'.repeat(10_000), 'x'.repeat(100)],
  [{ toString: 'no' }, ''],
])('the title %j becomes %j', async (title, expected) => {
  expect((await open(envelope({ title })))?.title).toBe(expected);
});

it.each([
  ['{"v":2,"meta":{},"content":"x"}'],
  ['{"v":1,"meta":[],"content":1}'],
  ['{"v":1,"meta":null,"content":"x"}'],
  ['{"v":1,"content":"x"}'],
  ['{"v":1,"meta":{},"content":"x"'],
  ['{"v":1,"meta":{},"content":"x","v":2}'],
  ['{"meta":{},"v":1,"content":"x"}'],
  ['[{"v":1,"meta":{},"content":"x"}]'],
  [''],
])('%s is no envelope', async (text) => {
  expect(await open(text)).toBeUndefined();
});

it('invalid UTF-8 and a file beyond the limit are no envelopes', async () => {
  expect(
    await open(
      Buffer.concat([Buffer.from('{"v":1,"meta":{},"content":"'), Buffer.of(0xff), Buffer.from('"}')]),
    ),
  ).toBeUndefined();
  expect(await open(envelope({}, 'x'.repeat(limits.envelopeBytes)))).toBeUndefined();
});

it('any content comes out as it is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (content) => {
      const { source } = (await open(envelope({}, content)))!;
      expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(await source.read(0, source.size))).toBe(
        content,
      );
    }),
  );
});
