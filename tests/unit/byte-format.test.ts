import { describe, expect, it } from 'vitest';
import { formatBytes } from '../../src/cli/format.ts';
import { byteFormat } from '../../src/util/byte-format.ts';

describe('bytes', () => {
  it.each([
    [0, '0 B', '0 B'],
    [0.4, '0 B', '0 B'],
    [999, '999 B', '999 B'],
    [1_000, '1.0 kB', '1 kB'],
    [9_994, '10.0 kB', '9.99 kB'],
    [99_940, '99.9 kB', '99.9 kB'],
    [99_960, '100.0 kB', '100 kB'],
    [999_499, '999.5 kB', '999 kB'],
    [999_600, '999.6 kB', '1 MB'],
    [999_960, '1.0 MB', '1 MB'],
    [67_108_864, '67.1 MB', '67.1 MB'],
    [1e15, '1000.0 TB', '1,000 TB'],
  ])('%d are %s in a column, and %s in a text', (bytes, column, text) => {
    expect(byteFormat('en', 'one')(bytes)).toBe(column);
    expect(byteFormat('en', 'three')(bytes)).toBe(text);
  });

  it('have the separators of the language', () => {
    expect(byteFormat('de', 'one')(1_500_000)).toBe('1,5 MB');
    expect(byteFormat('de', 'three')(1_230_000)).toBe('1,23 MB');
  });

  it('have a word for their unit on a terminal', () => {
    expect([0, 1, 999, 1_000].map(formatBytes)).toEqual(['0 bytes', '1 byte', '999 bytes', '1.0 kB']);
  });
});
