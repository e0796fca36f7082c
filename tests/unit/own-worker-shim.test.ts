import { expect, test } from 'vitest';
import { memorySource } from '../../src/content/byte-source.ts';
import type { Representation } from '../../src/gateway/http/representation.ts';
import { shimPosition, shimScript, withWorkerShim } from '../../src/gateway/origins/own-worker-shim.ts';
import { Trace } from '../../src/stats/trace.ts';

const encode = (text: string) => new TextEncoder().encode(text);
const shim = `<script>${shimScript}</script>`;

// “¦” marks the place for the shim.
test.each([
  ['after the head', '<!doctype html><html lang="en"><head>¦<meta charset="utf-8">'],
  [
    'after a head with attributes',
    '<!DOCTYPE html>\n<html>\n<head data-a=\'>\' data-b=">">¦<title>a</title>',
  ],
  ['after html without a head', '<!doctype html><html class=a>¦<title>a</title>'],
  ['after a doctype alone', '<!doctype html>¦<title>a</title>'],
  ['after a doctype with a public identifier', '<!DOCTYPE HTML PUBLIC "-//W3C//DTD" "http://x">¦<p>a'],
  ['at the beginning of a document without a doctype', '¦<title>a</title><p>b'],
  ['at the beginning of text', '¦Hello <html><head>'],
  ['after a byte order mark', '\ufeff¦<p>a'],
  [
    'after comments that hold tags',
    '<!-- <head> --><!doctype html><!-- <head> --><html><!-- a --><head>¦<p>',
  ],
  ['after an XML declaration', '<?xml version="1.0"?><!DOCTYPE html><html><head>¦<title>a</title>'],
  ['before a header, which is no head', '<!doctype html>¦<header><head></header>'],
  ['before a body', '<!doctype html><html>¦<body><head>'],
  ['before a frameset', '<html>¦<frameset><frame src="a.html"></frameset>'],
  ['before a script', '<!doctype html>¦<script>"<html><head>"</script>'],
  ['before an end tag that creates an element', '<!doctype html><html>¦</br><head>'],
  ['after an end tag that browsers ignore', '<!doctype html><html></p><head>¦'],
  ['after multi-byte characters', '<!-- ä€😀 --><!doctype html><html data-a="ä€😀"><head>¦'],
  ['in capitals', '<!DOCTYPE HTML><HTML><HEAD>¦<TITLE>'],
  ['in an empty document', '¦'],
  ['before a comment without an end', '<!doctype html>¦<!-- <head>'],
  ['before a tag without an end', '<!doctype html>¦<html lang="en'],
])('the shim stands %s', (_, marked) => {
  const at = encode(marked.slice(0, marked.indexOf('¦'))).length;
  expect(shimPosition(encode(marked.replace('¦', '')))).toBe(at);
});

test.each(['le', 'be'])('a document in UTF-16 has the shim in the same encoding: utf-16%s', async (order) => {
  const encode = (text: string) => {
    const bytes = Buffer.from(`\ufeff${text}`, 'utf16le');
    return new Uint8Array(order === 'le' ? bytes : bytes.swap16());
  };
  const { source } = await withWorkerShim(page(encode('<!doctype html><head><p>ä')), signal, trace);
  expect(await source.read(0, source.size, signal, trace)).toEqual(
    encode(`<!doctype html><head>${shim}<p>ä`),
  );
});

test('other types and downloads are left as they are', async () => {
  for (const representation of [
    page(encode('<p>a'), { 'Content-Type': 'image/svg+xml' }),
    page(encode('<p>a'), { 'Content-Disposition': 'attachment; filename="a.html"' }),
    page(encode('<p>a'), { 'Content-Type': 'text/plain; charset=utf-8' }),
  ]) {
    expect(await withWorkerShim(representation, signal, trace)).toBe(representation);
  }
});

test('the document with the shim has its own size and validator, and can be read in parts', async () => {
  const html = `<!doctype html><head><title>a</title>${'b'.repeat(100_000)}`;
  const at = '<!doctype html><head>'.length;
  const expected = encode(html.slice(0, at) + shim + html.slice(at));
  const { source, etag, headers } = await withWorkerShim(page(encode(html)), signal, trace);
  expect(source.size).toBe(expected.length);
  expect(etag).toMatch(/^"abc\.file\.shim-\d+"$/);
  expect(headers['Content-Type']).toBe('text/html; charset=utf-8');
  for (const [start, end] of [
    [0, expected.length],
    [0, at],
    [at - 1, at + 1],
    [at, at + shim.length],
    [at + 5, at + 9],
    [at + shim.length, expected.length],
    [expected.length - 3, expected.length],
    [7, 7],
  ] as const) {
    const part = expected.subarray(start, end);
    expect(await source.read(start, end), `${start}–${end}`).toEqual(part);
    const streamed = await new Response(source.stream(start, end)).bytes();
    expect(Buffer.compare(streamed, part), `${start}–${end}`).toBe(0);
  }
});

test('a stream of the document with the shim fails when the document does, and can be cancelled', async () => {
  let isCancelled = false;
  const broken = memorySource(encode('<head><p>a'));
  const failing = (failure: Error | undefined) => ({
    ...broken,
    stream: () =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => (failure ? controller.error(failure) : controller.enqueue(encode('a'))),
        cancel: () => {
          isCancelled = true;
        },
      }),
  });
  const rejected = await withWorkerShim(
    { ...page(encode('')), source: failing(new Error('lost')) },
    signal,
    trace,
  );
  await expect(new Response(rejected.source.stream(0, rejected.source.size)).text()).rejects.toThrow('lost');

  const endless = await withWorkerShim({ ...page(encode('')), source: failing(undefined) }, signal, trace);
  const reader = endless.source.stream(0, endless.source.size).getReader();
  await reader.read();
  await reader.cancel();
  expect(isCancelled).toBe(true);
});

test('the shim is one line of ASCII that does not end its element', () => {
  expect(shimScript).toMatch(/^[\x20-\x7e]+$/);
  expect(shimScript).not.toMatch(/<\/script|<!--/i);
});

const { signal } = new AbortController();
const trace = new Trace('/');

function page(bytes: Uint8Array, headers: Record<string, string> = {}): Representation {
  return {
    source: memorySource(bytes),
    etag: '"abc.file"',
    headers: { 'Content-Type': 'text/html; charset=utf-8', ...headers },
  };
}
