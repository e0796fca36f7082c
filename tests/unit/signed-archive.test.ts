import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { blake3 } from '@noble/hashes/blake3.js';
import { sha3_256 } from '@noble/hashes/sha3.js';
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toHex } from '../../src/address.ts';
import { createTarchive, type TarEntry } from '../../src/archive/create-tar.ts';
import { listTar } from '../../src/archive/list-tar.ts';
import { xornameOf } from '../../src/content/content-hash.ts';
import { SignedArchive } from '../../src/content/signed-archive.ts';
import { limits } from '../../src/limits.ts';
import { OwnerKey } from '../../src/owner/owner-key.ts';
import { signMembers } from '../../src/owner/sign-members.ts';
import { bufferAccess, type RandomAccess } from '../../src/util/random-access.ts';
import { type Line, makeTarchive } from '../support/tarchive.ts';

const utf8 = new TextEncoder();
const alice = new OwnerKey(new Uint8Array(32).fill(1));
const mallory = new OwnerKey(new Uint8Array(32).fill(2));

const entry = (path: string, text: string): TarEntry => ({ path, source: bufferAccess(utf8.encode(text)) });
const site = [entry('index.html', '<h1>Low Tide</h1>'), entry('notes/a b.txt', 'blanks'), entry('empty', '')];

const signed = async (entries: readonly TarEntry[], key = alice) =>
  createTarchive(await signMembers(entries, key));
const readAll = (source: RandomAccess) => source.read(0, source.size);

async function checks(tar: RandomAccess): Promise<Record<string, string>> {
  const archive = (await SignedArchive.open(tar))!;
  const found: Record<string, string> = {};
  for (const path of archive.paths) {
    const check = await archive.check(path);
    const detail = check.state === 'valid' ? check.signer.hex : check.state === 'invalid' ? check.why : '';
    found[path] = `${check.state} ${detail}`.trim();
  }
  return found;
}

const bySigner = (key: OwnerKey) => `valid ${key.address.hex}`;
const hashOf = (text: string) => toHex(sha3_256(utf8.encode(text)));
const signatureOf = (key: OwnerKey, text: string) => toHex(key.signContent(sha3_256(utf8.encode(text))));
const keyFile = (key: OwnerKey) => `${toHex(key.publicKey)}\n`;

/** An archive whose index lines a stranger wrote. */
async function forged(files: Record<string, string>, suffix: (line: Line) => string) {
  const index = (lines: readonly Line[]) =>
    lines.map((line) => `${line.path} ${line.offset} ${line.size}${suffix(line)}\n`).join('');
  return bufferAccess(await makeTarchive(files, index));
}

describe('a signed archive', () => {
  it('has a valid signature of its publisher for every file, also for empty ones and for the key itself', async () => {
    expect(await checks(await signed(site))).toEqual({
      'index.html': bySigner(alice),
      'notes/a b.txt': bySigner(alice),
      empty: bySigner(alice),
      'archive.tar.key': bySigner(alice),
    });
  });

  it('has the same bytes each time', async () => {
    const first = await readAll(await signed(site));
    const second = await readAll(await signed(site.toReversed()));
    expect(Buffer.compare(first, second)).toBe(0);
  });

  it('keeps the lines of unchanged files when another file changes', async () => {
    const linesOf = async (entries: readonly TarEntry[]) =>
      (await listTar(await signed(entries), limits.indexTailBytes, undefined, true)).members;
    const before = await linesOf(site);
    const after = await linesOf([...site.slice(1), entry('index.html', '<h1>High Tide</h1>')]);
    const kept = (lines: typeof before) => lines.find(({ path }) => path === 'notes/a b.txt')!.signature;
    expect(kept(after)).toEqual(kept(before));
    expect(after.find(({ path }) => path === 'index.html')!.signature).not.toEqual(
      before.find(({ path }) => path === 'index.html')!.signature,
    );
  });

  it('replaces the key file of another publisher', async () => {
    const copied = [...site, entry('archive.tar.key', keyFile(mallory))];
    expect(await checks(await signed(copied))).toEqual(await checks(await signed(site)));
  });

  it('is listed like an archive without signatures by readers that do not check them', async () => {
    const plain = await listTar(createTarchive(site), limits.indexTailBytes);
    const { members, refused } = await listTar(await signed(site), limits.indexTailBytes);
    expect(refused).toEqual([]);
    expect(
      members.filter(({ path }) => path !== 'archive.tar.key').map(({ path, size }) => ({ path, size })),
    ).toEqual(plain.members.map(({ path, size }) => ({ path, size })));
    expect(members.every((member) => !('signature' in member))).toBe(true);
  });

  it('has no signatures if its publisher wanted none', async () => {
    expect(await SignedArchive.open(createTarchive(site))).toBeUndefined();
  });

  it('is not made for more files than an index holds, before any file is read', async () => {
    const unreadable: RandomAccess = { size: 1, read: () => Promise.reject(new Error('It was read.')) };
    const many = Array.from({ length: 10_100 }, (_, i) => ({ path: `${i}`, source: unreadable }));
    await expect(signMembers(many, alice)).rejects.toMatchObject({ code: 'TOO_LARGE' });
  });

  it('cannot be made without files', async () => {
    await expect(signed([])).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });

  it('stops when its publisher cancels', async () => {
    const stop = new AbortController();
    const reason = new Error('cancelled');
    const progress = (done: number) => done === 1 && stop.abort(reason);
    await expect(signMembers(site, alice, { signal: stop.signal, progress })).rejects.toBe(reason);
  });

  it('hashes with SHA3-256 across pieces, as other implementations do', async () => {
    const bytes = new Uint8Array(2 * limits.streamPieceBytes + 5).map((_, i) => i * 31);
    const native = createHash('sha3-256').update(bytes).digest();
    const newHash = () => createHash('sha3-256');
    expect(toHex(await xornameOf(bufferAccess(bytes)))).toBe(native.toString('hex'));
    expect(toHex(await xornameOf(bufferAccess(bytes), { newHash }))).toBe(native.toString('hex'));
  });
});

describe('a signature of other software', () => {
  it('is valid if the crates made it that AntTP signs with', async () => {
    const fixture = new URL('../fixtures/signatures/saorsa-pqc.txt', import.meta.url);
    const lines = readFileSync(fixture, 'utf8').trim().split('\n');
    const [key, ...fields] = lines.map((line) => line.slice(line.indexOf(' ') + 1));
    const contents = { 'about.txt': "Written by somebody else's program.\n", 'empty.txt': '' };
    const paths = Object.keys(contents);
    const tar = await forged({ ...contents, 'archive.tar.key': key! }, ({ path }) =>
      paths.includes(path) ? ` ${fields[paths.indexOf(path)]}` : '',
    );
    expect(await checks(tar)).toEqual({
      'about.txt': expect.stringMatching(/^valid [0-9a-f]{64}$/),
      'empty.txt': expect.stringMatching(/^valid [0-9a-f]{64}$/),
      'archive.tar.key': 'unsigned',
    });
  });

  it('cannot be checked in an archive of AntTP, which has no key but names the bytes in the same way', async () => {
    const fixture = new URL('../fixtures/anttp/tarchive_as_coded_2/plain.bin', import.meta.url);
    const tar = bufferAccess(new Uint8Array(readFileSync(fixture)));
    const { members } = await listTar(tar, limits.indexTailBytes, undefined, true);
    expect(members.length).toBeGreaterThan(0);
    for (const { offset, size, signature } of members) {
      expect(signature!.xorname).toBe(toHex(sha3_256(await tar.read(offset, offset + size))));
      expect(signature!.signature).toHaveLength(2 * 3309);
    }
    expect(new Set(Object.values(await checks(tar)))).toEqual(new Set(['no-key']));
  });
});

describe('a forged signature', () => {
  const text = '<h1>Low Tide</h1>';
  const line = (key: OwnerKey, of: string) => ` ${hashOf(of)} ${signatureOf(key, of)}`;

  it('of another file of the archive is invalid', async () => {
    const files = { 'a.html': text, 'b.html': 'other', 'archive.tar.key': keyFile(alice) };
    // Once with the name that the signature covers, once with the name of the bytes.
    const swapped = await forged(files, ({ path }) => (path === 'b.html' ? line(alice, text) : ''));
    expect(await checks(swapped)).toMatchObject({ 'a.html': 'unsigned', 'b.html': 'invalid content' });
    const renamed = await forged(files, ({ path }) =>
      path === 'b.html' ? ` ${hashOf('other')} ${signatureOf(alice, text)}` : '',
    );
    expect(await checks(renamed)).toMatchObject({ 'b.html': 'invalid signature' });
  });

  it('of another archive is invalid, unless the file has the same bytes', async () => {
    const files = { 'evil.html': 'evil', 'copied.html': text, 'archive.tar.key': keyFile(alice) };
    const tar = await forged(files, ({ path }) => (path === 'archive.tar.key' ? '' : line(alice, text)));
    expect(await checks(tar)).toEqual({
      'evil.html': 'invalid content',
      'copied.html': bySigner(alice),
      'archive.tar.key': 'unsigned',
    });
  });

  it('by a key that is not the one in the archive is invalid, and names no signer', async () => {
    const tar = await forged({ 'index.html': text, 'archive.tar.key': keyFile(alice) }, ({ path }) =>
      path === 'index.html' ? line(mallory, text) : '',
    );
    const archive = (await SignedArchive.open(tar))!;
    expect(await archive.check('index.html')).toEqual({ state: 'invalid', why: 'signature' });
  });

  it('with a key that the stranger brings names the stranger only', async () => {
    const tar = await forged({ 'index.html': text, 'archive.tar.key': keyFile(mallory) }, ({ path }) =>
      path === 'index.html' ? line(mallory, text) : '',
    );
    expect(await checks(tar)).toMatchObject({ 'index.html': bySigner(mallory) });
  });

  it('for a pointer is no signature of a file', async () => {
    const xorname = sha3_256(utf8.encode(text));
    const tar = await forged({ 'index.html': text, 'archive.tar.key': keyFile(alice) }, ({ path }) =>
      path === 'index.html' ? ` ${toHex(xorname)} ${toHex(alice.sign(xorname))}` : '',
    );
    expect(await checks(tar)).toMatchObject({ 'index.html': 'invalid signature' });
  });

  it('that is cut off, too long or empty is invalid, and the archive opens', async () => {
    const right = signatureOf(alice, text);
    for (const wrong of [
      right.slice(0, -2),
      right.slice(0, -1),
      right.slice(0, 2),
      `${right}00`,
      'f'.repeat(6618),
    ]) {
      const tar = await forged({ 'index.html': text, 'archive.tar.key': keyFile(alice) }, ({ path }) =>
        path === 'index.html' ? ` ${hashOf(text)} ${wrong}` : '',
      );
      expect(await checks(tar)).toMatchObject({ 'index.html': 'invalid signature' });
    }
  });

  it('of which one bit differs is invalid', async () => {
    const right = Uint8Array.from(alice.signContent(sha3_256(utf8.encode(text))));
    await fc.assert(
      fc.asyncProperty(fc.nat(8 * right.length - 1), async (bit) => {
        const wrong = Uint8Array.from(right);
        wrong[bit >> 3]! ^= 1 << (bit & 7);
        const tar = await forged({ 'index.html': text, 'archive.tar.key': keyFile(alice) }, ({ path }) =>
          path === 'index.html' ? ` ${hashOf(text)} ${toHex(wrong)}` : '',
        );
        expect(await checks(tar)).toMatchObject({ 'index.html': 'invalid signature' });
      }),
      { numRuns: 10 },
    );
  });

  it('in an index of one huge line costs little, and the archive opens', async () => {
    const huge = 'ab'.repeat(12 * 1024 * 1024);
    const files = { 'index.html': text, 'archive.tar.key': keyFile(alice) };
    const tar = await forged(files, ({ path }) => (path === 'index.html' ? ` ${hashOf(text)} ${huge}` : ''));
    const start = performance.now();
    expect(await checks(tar)).toMatchObject({ 'index.html': 'invalid signature' });
    const spaced = '1 1 '.repeat(2 * 1024 * 1024);
    const blanks = await forged(files, ({ path }) =>
      path === 'index.html' ? ` ${spaced}x` : ` ${hashOf('')} ab`,
    );
    expect(await checks(blanks)).toMatchObject({ 'archive.tar.key': 'invalid signature' });
    // Quadratic work would take hours.
    expect(performance.now() - start).toBeLessThan(30_000);
  });

  it('counts only for the bytes of the last line, if two lines have one path', async () => {
    const files = { 'archive.tar.key': keyFile(alice), 'page.html': text, 'evil.html': 'evil' };
    const withPage = (...pages: ((good: Line, evil: Line) => string)[]) =>
      makeTarchive(files, (lines) => {
        const [key, good, evil] = lines as [Line, Line, Line];
        const all = [`archive.tar.key ${key.offset} ${key.size}${line(alice, keyFile(alice))}`];
        return `${[...all, ...pages.map((page) => page(good, evil))].join('\n')}\n`;
      });
    const good = ({ offset, size }: Line) => `page.html ${offset} ${size}${line(alice, text)}`;
    const unsigned = (_: Line, { offset, size }: Line) => `page.html ${offset} ${size}`;
    const wrong = (_: Line, { offset, size }: Line) => `page.html ${offset} ${size}${line(alice, text)}`;
    const checked = async (...pages: ((good: Line, evil: Line) => string)[]) =>
      checks(bufferAccess(await withPage(...pages)));
    expect(await checked(good, unsigned)).toMatchObject({ 'page.html': 'unsigned' });
    expect(await checked(good, wrong)).toMatchObject({ 'page.html': 'invalid content' });
    expect(await checked(wrong, good)).toMatchObject({ 'page.html': bySigner(alice) });
  });

  it('of a file does not count for a file that a route puts in its place', async () => {
    const route = { routes: { 'a.html': 'evil.html' } };
    const files = {
      'archive.tar.key': keyFile(alice),
      'a.html': text,
      'evil.html': 'evil',
      'app-conf.json': JSON.stringify({ routeMap: route.routes }),
    };
    const tar = await forged(files, ({ path }) => (path === 'a.html' ? line(alice, text) : ''));
    const archive = (await SignedArchive.open(tar))!;
    expect(archive.servedAt('a.html')?.path).toBe('evil.html');
    expect(await archive.check(archive.servedAt('a.html')!.path)).toEqual({ state: 'unsigned' });
    expect(archive.servedAt('missing.html')).toBeUndefined();
  });

  it('cannot be checked without a key of the right form', async () => {
    const wrong = [
      '',
      'no key',
      keyFile(alice).slice(2),
      `${keyFile(alice)}00`,
      `g${keyFile(alice).slice(1)}`,
    ];
    for (const key of [undefined, ...wrong]) {
      const files = { 'index.html': text, ...(key !== undefined && { 'archive.tar.key': key }) };
      const tar = await forged(files, ({ path }) => (path === 'index.html' ? line(alice, text) : ''));
      expect(await checks(tar)).toMatchObject({ 'index.html': 'no-key' });
    }
  });

  it('stands for the pointer of the key', async () => {
    const { publicKey } = ml_dsa65.keygen(new Uint8Array(32).fill(1));
    const context = utf8.encode('autonomi.pointer.address.v1');
    expect(await checks(await signed(site))).toMatchObject({
      'index.html': `valid ${toHex(blake3(publicKey, { context }))}`,
    });
  });
});
