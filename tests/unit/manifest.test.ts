import { readFileSync } from 'node:fs';
import { encode } from '@msgpack/msgpack';
import { describe, expect, it } from 'vitest';
import {
  encodeManifest,
  isManifest,
  manifestOfLink,
  parseManifest,
  wholeManifestOfLink,
} from '../../src/content/manifest.ts';
import { limits } from '../../src/limits.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';

const blake3 = await loadBlake3();
const recorded = readFileSync(new URL('../fixtures/self-encryption/manifest1.ant', import.meta.url));
const hash = new Uint8Array(32).fill(0xab);
const publicEntry = (path?: string, more = {}) => ({ path, source: { Public: { address: hash } }, ...more });

function manifest(body: unknown, version = 1): Uint8Array {
  return Buffer.concat([
    Uint8Array.of(0xc1, 0x41, 0x4e, 0x54, version),
    encode(body, { ignoreUndefined: true }),
  ]);
}
const linkOf = (bytes: Uint8Array) => `ant://manifest/${Buffer.from(bytes).toString('base64url')}`;
const parse = (body: unknown) => parseManifest(manifest(body), blake3);

describe('a manifest', () => {
  it('of the network’s own tools is read', () => {
    expect(isManifest(recorded)).toBe(true);
    const { entries, refused } = parseManifest(recorded, blake3);
    expect(entries.length).toBeGreaterThan(0);
    expect(refused).toEqual([]);
  });

  it('has entries with a path, or called by their address, and may tell their size', () => {
    const { name, entries } = parse({
      name: 'Site',
      entries: [publicEntry('a.txt', { size: 5 }), publicEntry()],
    });
    expect(name).toBe('Site');
    expect(entries.map(({ path, size }) => [path, size])).toEqual([
      ['a.txt', 5],
      ['ab'.repeat(32), undefined],
    ]);
  });

  it('is written as it is read, private maps included', () => {
    const parsed = parseManifest(recorded, blake3);
    const written = encodeManifest({
      ...(parsed.name === undefined ? {} : { name: parsed.name }),
      entries: parsed.entries.map(({ path, hasPath, size, source }) => ({
        ...(hasPath ? { path } : {}),
        ...(size === undefined ? {} : { size }),
        source,
      })),
    });
    expect(parseManifest(written, blake3)).toEqual(parsed);
    expect(parsed.entries.some(({ source }) => source.kind === 'embedded')).toBe(true);
  });

  it('refuses entries that no archive may hold, and serves the rest', () => {
    const { entries, refused } = parse({
      entries: ['../a', '/b', 'c', 'c', 'd/'].map((path) => publicEntry(path)),
    });
    expect(entries.map(({ path }) => path)).toEqual(['c']);
    expect(refused.map(({ path }) => path)).toEqual(['../a', '/b', 'c', 'd/']);
  });

  it.each<[string, Uint8Array, string]>([
    ['of another version', manifest({ entries: [] }, 2), 'UNSUPPORTED'],
    ['with a source of an unknown kind', manifest({ entries: [{ source: { Torrent: {} } }] }), 'UNSUPPORTED'],
    ['that is cut short', recorded.subarray(0, -1), 'CORRUPT'],
    ['with something behind it', Buffer.concat([recorded, Uint8Array.of(0)]), 'CORRUPT'],
    ['that is a list', manifest([]), 'CORRUPT'],
    ['without entries', manifest({}), 'CORRUPT'],
    [
      'with a short address',
      manifest({ entries: [{ source: { Public: { address: hash.subarray(1) } } }] }),
      'CORRUPT',
    ],
    ['with 100,001 entries', manifest({ entries: Array(limits.archiveEntries + 1).fill(0) }), 'TOO_LARGE'],
    ['over 64 MiB', Buffer.concat([recorded, new Uint8Array(limits.manifestBytes)]), 'TOO_LARGE'],
  ])('%s is refused', (_, bytes, code) => {
    expect(() => parseManifest(bytes, blake3)).toThrow(expect.objectContaining({ code }));
  });

  it('that claims more than it holds costs no memory', () => {
    const bytes = new Uint8Array(5 + 5 * 1000);
    bytes.set(manifest(0).subarray(0, 5));
    for (let at = 5; at < bytes.length; at += 5) bytes.set([0xdd, 0, 0x40, 0, 0], at);
    const before = process.memoryUsage().rss;
    expect(() => parseManifest(bytes, blake3)).toThrow(expect.objectContaining({ code: 'CORRUPT' }));
    expect(process.memoryUsage().rss - before).toBeLessThan(100e6);
  });
});

describe('a link with a manifest', () => {
  const link = linkOf(recorded);

  it('gives its bytes, also those of a later version', () => {
    expect(wholeManifestOfLink(link)).toEqual(new Uint8Array(recorded));
    const later = manifest({ entries: [] }, 2).subarray(0, 7);
    expect(wholeManifestOfLink(linkOf(later))).toEqual(new Uint8Array(later));
  });

  it('is called incomplete wherever it was cut off', () => {
    const start = 'ant://manifest/'.length;
    for (let end = start; end < link.length; end += end < start + 40 ? 1 : 97) {
      expect(() => wholeManifestOfLink(link.slice(0, end)), `${end}`).toThrow(
        expect.objectContaining({ code: 'BAD_ADDRESS' }),
      );
    }
    expect(() => wholeManifestOfLink(link.slice(0, -4))).toThrow(/incomplete/);
    expect(manifestOfLink(link.slice(0, -4))).toHaveLength(recorded.length - 3);
  });

  it('is called damaged if it contains something else', () => {
    for (const bytes of [Buffer.from('something else'), Buffer.concat([recorded, Buffer.from('x')])])
      expect(() => wholeManifestOfLink(linkOf(bytes))).toThrow(
        expect.objectContaining({ code: 'BAD_ADDRESS' }),
      );
  });
});
