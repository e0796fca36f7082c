import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LruCache } from '../../src/util/lru-cache.ts';

const keysOf = <T>(cache: LruCache<T>) => [...'abcdef'].filter((key) => cache.has(key)).join('');

function cacheOfNumbers(maxSize: number, entries: Record<string, number>) {
  const cache = new LruCache<number>(maxSize, (size) => size);
  for (const [key, size] of Object.entries(entries)) cache.set(key, size);
  return cache;
}

describe('a cache of the least recently used', () => {
  it('counts entries if it does not know their sizes', () => {
    const cache = new LruCache<string>(2);
    for (const key of 'abc') cache.set(key, key.toUpperCase());
    expect(keysOf(cache)).toBe('bc');
    expect(cache.get('c')).toBe('C');
    expect(cache.get('a')).toBeUndefined();
  });

  it('is filled exactly to its limit', () => {
    expect(keysOf(cacheOfNumbers(10, { a: 4, b: 6 }))).toBe('ab');
    expect(keysOf(cacheOfNumbers(10, { a: 4, b: 6, c: 1 }))).toBe('bc');
  });

  it('removes as many of the oldest entries as a new entry needs', () => {
    expect(keysOf(cacheOfNumbers(10, { a: 3, b: 3, c: 3, d: 7 }))).toBe('cd');
  });

  it('keeps an entry that was read, but not an entry that was only looked up', () => {
    const cache = cacheOfNumbers(3, { a: 1, b: 1, c: 1 });
    cache.get('a');
    cache.has('b');
    cache.set('d', 1);
    expect(keysOf(cache)).toBe('acd');
  });

  it('counts a replaced value once, and its replacement as used', () => {
    const cache = cacheOfNumbers(10, { a: 5, b: 5 });
    cache.set('a', 2);
    cache.set('c', 3);
    expect(keysOf(cache)).toBe('abc');
    cache.set('d', 1);
    expect(keysOf(cache)).toBe('acd');
    expect(cache.get('a')).toBe(2);
  });

  it('does not store a value larger than its limit, and drops the value that it would replace', () => {
    const cache = cacheOfNumbers(10, { a: 5, b: 5 });
    cache.set('a', 11);
    expect(keysOf(cache)).toBe('b');
    cache.set('c', 11);
    expect(keysOf(cache)).toBe('b');
  });

  it('has room for another entry after one was deleted', () => {
    const cache = cacheOfNumbers(2, { a: 1, b: 1 });
    cache.delete('a');
    cache.delete('a');
    cache.set('c', 1);
    expect(keysOf(cache)).toBe('bc');
  });

  it('holds the most recently used entries that fit, after any sequence of calls', () => {
    const action = fc.record({
      kind: fc.constantFrom('get', 'set', 'delete'),
      key: fc.constantFrom(...'abcdef'),
      size: fc.nat(12),
    });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const cache = cacheOfNumbers(20, {});
        let expected: [key: string, size: number][] = [];
        for (const { kind, key, size } of actions) {
          const known = expected.find((entry) => entry[0] === key);
          const others = expected.filter((entry) => entry[0] !== key);
          if (kind === 'get') {
            expect(cache.get(key)).toBe(known?.[1]);
            expected = known ? [...others, known] : others;
          } else if (kind === 'set') {
            cache.set(key, size);
            expected = [...others, [key, size]];
            while (expected.reduce((sum, entry) => sum + entry[1], 0) > 20) expected.shift();
          } else {
            cache.delete(key);
            expected = others;
          }
          expect(keysOf(cache)).toBe(
            expected
              .map((entry) => entry[0])
              .sort()
              .join(''),
          );
        }
      }),
    );
  });
});
