// @module-tag isolated
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readZipDirectory } from '../../src/archive/zip-directory.ts';
import type { Archive } from '../../src/content/archive.ts';
import { type ByteSource, memorySource } from '../../src/content/byte-source.ts';
import { inflated } from '../../src/content/inflated.ts';
import { loadZip } from '../../src/content/zip.ts';
import { limits } from '../../src/limits.ts';
import { bufferAccess } from '../../src/util/random-access.ts';
import { noise } from '../support/publish.ts';
import { makeZip, type ZipFile } from '../support/zip.ts';

const text = 'The quick brown fox jumps over the lazy dog. '.repeat(50);
const list = (bytes: Uint8Array) => readZipDirectory(bufferAccess(bytes));
const open = async (bytes: Uint8Array): Promise<Archive> => (await loadZip(memorySource(bytes)))!;
const load = async (bytes: Uint8Array, path: string): Promise<ByteSource> =>
  (await open(bytes)).member(path)!.load();
const textOf = async (source: ByteSource) => Buffer.from(await source.read(0, source.size)).toString();
const streamed = async (source: ByteSource, start = 0, end = source.size) =>
  Buffer.from(await new Response(source.stream(start, end)).arrayBuffer());

describe('a ZIP', () => {
  const files: ZipFile[] = [
    { path: 'index.html', data: text },
    { path: 'stored.txt', data: text, method: 0 },
    { path: 'empty.txt', data: '', method: 0 },
    { path: 'none.txt', data: '' },
    { path: 'folder/', data: '', method: 0 },
    { path: 'folder/a.txt', data: 'a', localExtra: Buffer.alloc(9) },
  ];

  it.each([
    ['as programs write it', makeZip(files)],
    ['with a comment that looks like an end', makeZip(files, { comment: 'PK\x05\x06'.padEnd(60, '\0') })],
    [
      'with ZIP64',
      makeZip(
        files.map((file) => ({ ...file, zip64: true })),
        { zip64: true },
      ),
    ],
  ])('%s lists and gives its members', async (_, zip) => {
    const archive = await open(zip);
    expect([...archive.members.keys()]).toEqual([
      'index.html',
      'stored.txt',
      'empty.txt',
      'none.txt',
      'folder/a.txt',
    ]);
    expect(archive.refused).toEqual([]);
    expect(archive.member('index.html')).toMatchObject({
      size: text.length,
      modified: Date.UTC(2024, 2, 15, 12, 34, 56) / 1000,
    });
    for (const [path, expected] of [
      ['index.html', text],
      ['stored.txt', text],
      ['empty.txt', ''],
      ['none.txt', ''],
      ['folder/a.txt', 'a'],
    ] as const) {
      const source = await archive.member(path)!.load();
      expect(source.size).toBe(expected.length);
      expect(await textOf(source)).toBe(expected);
      expect((await streamed(source)).toString()).toBe(expected);
    }
  });

  it('of the program “zip” opens', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'antway-zip-'));
    writeFileSync(join(folder, 'größe.txt'), text);
    writeFileSync(join(folder, 'b.bin'), noise(3, 200_000));
    const script = `import zipfile,sys\nz=zipfile.ZipFile('x.zip','w',zipfile.ZIP_DEFLATED)\nz.write('größe.txt')\nz.write('b.bin')\nz.close()`;
    execFileSync('python3', ['-c', script], { cwd: folder });
    const zip = readFileSync(join(folder, 'x.zip'));
    rmSync(folder, { recursive: true });
    expect(await textOf(await load(zip, 'größe.txt'))).toBe(text);
    expect(await streamed(await load(zip, 'b.bin'))).toEqual(noise(3, 200_000));
  });

  it('gives any range, also of deflated members, in any order', async () => {
    const data = noise(5, 30_000);
    for (const method of [0, 8]) {
      const source = await load(makeZip([{ path: 'a', data, method }]), 'a');
      await fc.assert(
        fc.asyncProperty(fc.nat(data.length), fc.nat(data.length), async (a, b) => {
          const [start, end] = [Math.min(a, b), Math.max(a, b)];
          const expected = Buffer.from(data.subarray(start, end));
          expect(Buffer.from(await source.read(start, end))).toEqual(expected);
          expect(await streamed(source, start, end)).toEqual(expected);
        }),
        { numRuns: 50 },
      );
      const halves = await Promise.all([source.read(0, 100), source.read(0, 100), source.read(100, 300)]);
      expect(halves.map(({ length }) => length)).toEqual([100, 100, 200]);
    }
  });

  it('opens for a second caller although the first one aborts', async () => {
    const bytes = memorySource(makeZip([{ path: 'a', data: text }]));
    const archive = (await loadZip({
      ...bytes,
      async read(start, end, signal) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        signal?.throwIfAborted();
        return bytes.read(start, end);
      },
    }))!;
    const first = new AbortController();
    const opening = archive.member('a')!.load(first.signal);
    const other = archive.member('a')!.load();
    first.abort();
    await expect(opening).rejects.toMatchObject({ name: 'AbortError' });
    expect((await other).size).toBe(text.length);
  });

  it('reads names without Unicode in code page 437, and backslashes as slashes', async () => {
    const zip = makeZip([
      { path: Buffer.from([0x67, 0x72, 0x94, 0xe1, 0x65]), data: 'a', flags: 0 },
      { path: 'windows\\b.txt', data: 'b' },
    ]);
    expect([...(await open(zip)).members.keys()]).toEqual(['größe', 'windows/b.txt']);
  });

  it.each(['[Content_Types].xml', 'mimetype', 'META-INF/MANIFEST.MF'])(
    'with “%s” is a document of another format',
    async (path) => {
      expect(await loadZip(memorySource(makeZip([{ path, data: 'x' }])))).toBeUndefined();
    },
  );
});

describe('a deflated member', () => {
  const data = noise(9, 1_000_000);
  const piece = 1_000;

  /** A source that counts the streams that are opened, and those that are still open. */
  function counted(bytes: Uint8Array) {
    const source = memorySource(bytes);
    const streams = { opened: 0, open: 0 };
    const stream: ByteSource['stream'] = (start, end, signal) => {
      streams.opened++;
      streams.open++;
      let at = start;
      return new ReadableStream({
        async pull(controller) {
          if (signal?.aborted) streams.open--;
          signal?.throwIfAborted();
          const next = Math.min(at + 4_096, end);
          if (at < end) controller.enqueue(await source.read(at, next));
          at = next;
          if (at < end) return;
          streams.open--;
          controller.close();
        },
        cancel: () => void streams.open--,
      });
    };
    return { streams, source: { ...source, stream } };
  }

  /** Node's decompressor reads all of its input at once. This one waits, as that of browsers, and changes no bytes. */
  beforeEach(() => {
    vi.stubGlobal('DecompressionStream', function unchanged() {
      return new TransformStream();
    });
  });
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  function counting(count: number) {
    const { streams, source } = counted(data);
    return {
      streams,
      sources: Array.from({ length: count }, (_, i) => inflated(source, data.length, `${i}`)),
    };
  }

  it('is inflated once for each of two readers that go through it in turns', async () => {
    const { streams, sources } = counting(1);
    for (let at = 0; at < 20 * piece; at += piece) {
      await sources[0]!.read(at, at + piece);
      const other = await sources[0]!.read(at + 7 * piece, at + 8 * piece);
      expect(Buffer.from(other)).toEqual(Buffer.from(data.subarray(at + 7 * piece, at + 8 * piece)));
    }
    expect(streams.opened).toBe(2);
  });

  it('that is read in part holds a decompressor for a short time, and few members hold one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { streams, sources } = counting(12);
      for (const source of sources) await source.read(0, piece);
      await vi.waitFor(() => expect(streams.open).toBeLessThanOrEqual(4));
      await vi.advanceTimersByTimeAsync(10_000);
      vi.useRealTimers();
      await vi.waitFor(() => expect(streams.open).toBe(0));
    } finally {
      vi.useRealTimers();
    }
  });

  it('goes on after the reader that opened it has aborted, and ends a read that is aborted', async () => {
    const { streams, sources } = counting(1);
    const first = new AbortController();
    await sources[0]!.read(0, piece, first.signal);
    first.abort();
    const next = await sources[0]!.read(piece, 2 * piece);
    expect(Buffer.from(next)).toEqual(Buffer.from(data.subarray(piece, 2 * piece)));
    expect(streams.opened).toBe(1);
    const second = new AbortController();
    const reading = sources[0]!.read(2 * piece, data.length - 1, second.signal);
    second.abort();
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
    await vi.waitFor(() => expect(streams.open).toBe(0));
  });
});

describe('a hostile ZIP', () => {
  it.each<[string, Partial<ZipFile>]>([
    ['encrypted', { flags: 0x801 }],
    ['of an unknown method', { method: 14 }],
    ['damaged', { localName: 'x' }],
    ['of another size', { size: 3 }],
  ])('with rules and routes that are %s is served without them', async (_, change) => {
    const files = ['_redirects', 'app-conf.json'].map((path) => ({ path, data: '/a /good', ...change }));
    const archive = await open(makeZip([...files, { path: 'good', data: text }]));
    expect(archive.refused.map(({ path }) => path)).toEqual(['app-conf.json', '_redirects']);
    expect(await textOf(await archive.member('good')!.load())).toBe(text);
  });

  it('does not keep its directory in memory for the names of its members', async () => {
    const { members } = await list(makeZip([{ path: 'a.txt', data: text }]));
    expect(members[0]!.name.buffer.byteLength).toBe(5);
  });

  it.each<[string, ZipFile, string]>([
    ['a path out of the archive', { path: '../a', data: 'x' }, 'leads out of the archive'],
    ['a path with backslashes out of the archive', { path: '..\\a', data: 'x' }, 'leads out of the archive'],
    ['an absolute path', { path: '/etc/a', data: 'x' }, 'absolute'],
    ['a NUL in a path', { path: 'a\0b', data: 'x' }, 'NUL'],
    ['an empty path', { path: '', data: 'x' }, 'names no file'],
    ['a long path', { path: 'x'.repeat(5_000), data: 'x' }, 'too long'],
    ['a link', { path: 'a', data: '/etc/passwd', unixMode: 0xa1ff }, 'a link'],
    ['a size that deflate cannot reach', { path: 'a', data: 'x', size: 4_000_000_000 }, 'size is impossible'],
    ['a stored member of another size', { path: 'a', data: 'x', method: 0, size: 2 }, 'size is impossible'],
    ['data past the members', { path: 'a', data: 'x', compressedSize: 1_000 }, 'past the end'],
    ['an offset past the members', { path: 'a', data: 'x', offset: 9_999 }, 'past the end'],
    ['an offset of 2^60 by ZIP64', { path: 'a', data: 'x', offset: 2 ** 60, zip64: true }, 'past the end'],
    ['the path of another member', { path: 'good', data: 'x' }, 'path twice'],
    ['the data of another member', { path: 'a', data: 'x', offset: 0 }, 'overlaps'],
  ])('%s is refused by name, and the rest is served', async (_, bad, reason) => {
    const archive = await open(makeZip([{ path: 'good', data: text }, bad]));
    expect(archive.refused.map((entry) => entry.reason).join()).toContain(reason);
    expect(archive.members.size).toBe(1);
    expect(await textOf(await archive.member('good')!.load())).toBe(text);
  });

  it.each<[string, ZipFile, string]>([
    ['an encrypted member', { path: 'a', data: 'x', flags: 0x801 }, 'UNSUPPORTED'],
    ['an unknown method', { path: 'a', data: 'x', method: 14, size: 1 }, 'UNSUPPORTED'],
    ['another name in the local header', { path: 'a', data: 'x', localName: 'b' }, 'CORRUPT'],
    ['a local header of another length', { path: 'a', data: 'x', localName: 'long' }, 'CORRUPT'],
    [
      'an offset that is no header',
      { path: 'a', data: text, offset: 3, compressedSize: 1, size: 1 },
      'CORRUPT',
    ],
  ])('%s fails with %3$s', async (_, bad, code) => {
    await expect(load(makeZip([bad]), 'a')).rejects.toMatchObject({ code });
  });

  it.each<[string, ZipFile]>([
    ['more data than declared', { path: 'a', data: 'x'.repeat(100_000), size: 1_000 }],
    ['less data than declared', { path: 'a', data: text, size: text.length + 1 }],
  ])('%s fails, and never looks complete', async (_, bad) => {
    const source = await load(makeZip([bad]), 'a');
    await expect(source.read(0, source.size)).rejects.toMatchObject({ code: 'CORRUPT' });
    await expect(streamed(source)).rejects.toMatchObject({ code: 'CORRUPT' });
  });

  it('data that is not deflated fails', async () => {
    const zip = makeZip([{ path: 'a', data: text }]);
    zip.fill(0xff, 31, 60);
    const source = await load(zip, 'a');
    await expect(streamed(source)).rejects.toMatchObject({ code: 'CORRUPT' });
  });

  it('a bomb inflates only as far as the consumer reads', async () => {
    const zip = makeZip([{ path: 'bomb', data: Buffer.alloc(100_000_000) }]);
    const source = await load(zip, 'bomb');
    const reader = source.stream(0, source.size).getReader();
    const before = process.memoryUsage().arrayBuffers;
    expect((await reader.read()).value!.length).toBeLessThanOrEqual(limits.largestPartBytes);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000);
    await reader.cancel();
  });

  it.each<[string, Buffer, string]>([
    ['no directory', Buffer.from('PK\x03\x04 and no more'), 'CORRUPT'],
    ['a directory outside', makeZip([{ path: 'a', data: 'x' }], { start: 0xfffffff0 }), 'CORRUPT'],
    ['fewer entries than counted', makeZip([{ path: 'a', data: 'x' }], { count: 2 }), 'CORRUPT'],
    [
      'millions of entries',
      makeZip([{ path: 'a', data: 'x' }], { count: 5_000_000, zip64: true }),
      'TOO_LARGE',
    ],
    [
      'a ZIP64 directory at 2^60',
      makeZip([{ path: 'a', data: 'x' }], { start: 2 ** 60, zip64: true }),
      'CORRUPT',
    ],
  ])('with %s is %3$s, and stays a file', async (_, zip, code) => {
    await expect(list(zip)).rejects.toMatchObject({ code });
    expect(await loadZip(memorySource(zip))).toBeUndefined();
  });

  it('never crashes, whatever its bytes', async () => {
    const zip = makeZip([
      { path: 'a', data: text },
      { path: 'b', data: text, method: 0 },
    ]);
    const change = fc.tuple(fc.nat(zip.length - 1), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
        const damaged = Buffer.from(zip);
        for (const [at, byte] of changes) damaged[at] = byte;
        const archive = await loadZip(memorySource(damaged));
        for (const member of archive?.members.values() ?? []) {
          const bytes = await member
            .load()
            .then(
              (source) => streamed(source),
              () => undefined,
            )
            .catch(() => undefined);
          if (bytes) expect(bytes.length).toBe(member.size);
        }
      }),
      { numRuns: 300 },
    );
  });
});
