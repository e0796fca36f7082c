import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRange } from '../../src/gateway/http/range.ts';

describe('a Range header', () => {
  it.each<[string, number, ReturnType<typeof parseRange>]>([
    ['bytes=0-0', 10, { start: 0, end: 1 }],
    ['bytes=0-9', 10, { start: 0, end: 10 }],
    ['bytes=2-5', 10, { start: 2, end: 6 }],
    ['bytes=2-99', 10, { start: 2, end: 10 }],
    ['bytes=9-', 10, { start: 9, end: 10 }],
    ['bytes=-3', 10, { start: 7, end: 10 }],
    ['bytes=-99', 10, { start: 0, end: 10 }],
    ['BYTES=2-5', 10, { start: 2, end: 6 }],
    ['bytes= 2-5\t', 10, { start: 2, end: 6 }],
    ['bytes=000000000000000000002-5', 10, { start: 2, end: 6 }],
    [`bytes=0-${'9'.repeat(400)}`, 10, { start: 0, end: 10 }],
    [`bytes=-${'9'.repeat(400)}`, 10, { start: 0, end: 10 }],
    ['bytes=10-', 10, 'unsatisfiable'],
    ['bytes=10-20', 10, 'unsatisfiable'],
    ['bytes=-0', 10, 'unsatisfiable'],
    [`bytes=${'9'.repeat(400)}-`, 10, 'unsatisfiable'],
    // RFC 9110 lets a server ignore the header. No Content-Range can name no bytes.
    ['bytes=0-', 0, undefined],
    ['bytes=0-0', 0, undefined],
    ['bytes=-5', 0, undefined],
    ['bytes=-0', 0, undefined],
    ['bytes=5-2', 10, undefined],
    ['bytes=-', 10, undefined],
    ['bytes=', 10, undefined],
    ['bytes', 10, undefined],
    ['', 10, undefined],
    ['bytes=a-b', 10, undefined],
    ['bytes=1.5-2', 10, undefined],
    ['bytes=--5', 10, undefined],
    ['bytes=1-2-3', 10, undefined],
    ['bytes=0x1-2', 10, undefined],
    ['bytes 0-5', 10, undefined],
    ['bytes=0-1,3-4', 10, undefined],
    ['lines=0-5', 10, undefined],
  ])('“%.40s” of %i bytes', (header, size, range) => {
    expect(parseRange(header, size)).toEqual(range);
  });

  it('may be absent', () => {
    expect(parseRange(null, 10)).toBeUndefined();
  });

  it('means what RFC 9110 says, for any numbers', () => {
    // In integers of any size, straight from the words of section 14.1.2.
    const reference = (first: bigint | undefined, last: bigint | undefined, size: bigint) => {
      if (size === 0n) return undefined;
      if (first === undefined) {
        if (last === undefined) return undefined;
        if (last === 0n) return 'unsatisfiable';
        return { start: Number(last > size ? 0n : size - last), end: Number(size) };
      }
      if (last !== undefined && last < first) return undefined;
      if (first >= size) return 'unsatisfiable';
      return { start: Number(first), end: Number(last === undefined || last >= size ? size : last + 1n) };
    };
    // No file is larger than 2^53 bytes, so equal and unequal huge numbers need not be told apart.
    const number = fc.oneof(
      fc.bigInt({ min: 0n, max: 20n }),
      fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }),
      fc.constant(2n ** 70n),
    );
    const size = fc.oneof(fc.bigInt({ min: 0n, max: 20n }), fc.bigInt({ min: 0n, max: 2n ** 50n }));
    fc.assert(
      fc.property(fc.option(number), fc.option(number), size, (first, last, size) => {
        const header = `bytes=${first ?? ''}-${last ?? ''}`;
        expect(parseRange(header, Number(size))).toEqual(
          reference(first ?? undefined, last ?? undefined, size),
        );
      }),
      { numRuns: 2000 },
    );
  });
});
