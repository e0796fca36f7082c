import { encode } from '@msgpack/msgpack';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeUntrusted } from '../../src/self-encryption/message-pack.ts';

const generous = { maxDepth: 32, maxValues: 100_000 };
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.integer(),
    fc.double({ noNaN: true }),
    fc.boolean(),
    fc.constant(null),
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.uint8Array({ maxLength: 300 }),
    fc.array(tie('value'), { maxLength: 40 }),
    fc.dictionary(
      fc.string().filter((key) => key !== '__proto__'),
      tie('value'),
      { maxKeys: 40, noNullPrototype: true },
    ),
  ),
})).value;

describe('MessagePack from an untrusted source', () => {
  it('is decoded as the library decodes it', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const bytes = encode(value, { maxDepth: 1000 });
        expect(encode(decodeUntrusted(bytes, { ...generous, maxDepth: 1000 }), { maxDepth: 1000 })).toEqual(
          bytes,
        );
      }),
    );
  });

  it.each([
    ['long text', 'x'.repeat(70_000)],
    ['long bytes', new Uint8Array(70_000)],
    ['a long list', Array.from({ length: 70_000 }, () => 1)],
    ['a long map', Object.fromEntries(Array.from({ length: 300 }, (_, i) => [i, i]))],
    ['a date', new Date(0)],
    ['numbers of every width', [1, 200, 300, 70_000, 2 ** 40, -1, -100, -300, -70_000, -(2 ** 40), 0.5]],
  ])('may hold %s', (_, value) => {
    expect(decodeUntrusted(encode(value), generous)).toEqual(value);
  });

  it('that is cut short or goes on after its end is refused', () => {
    const bytes = encode({ list: [1, 'two', new Uint8Array(3), { four: 4.5 }], rest: 'x'.repeat(100) });
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decodeUntrusted(bytes.subarray(0, length), generous)).toThrow();
    }
    expect(() => decodeUntrusted(Uint8Array.of(...bytes, 0), generous)).toThrow();
  });

  it('is refused past the allowed depth, and accepted at it', () => {
    expect(decodeUntrusted(encode([[[]]]), { maxDepth: 3, maxValues: 10 })).toEqual([[[]]]);
    expect(() => decodeUntrusted(encode([[[1]]]), { maxDepth: 2, maxValues: 10 })).toThrow();
  });

  it('is refused past the allowed number of values, and accepted at it', () => {
    expect(decodeUntrusted(encode([1, [2, 3]]), { maxDepth: 3, maxValues: 5 })).toEqual([1, [2, 3]]);
    expect(() => decodeUntrusted(encode([1, [2, 3]]), { maxDepth: 3, maxValues: 4 })).toThrow();
  });

  it('whose headers claim more than follows costs no memory', () => {
    // Nested headers of arrays of 4,194,304 elements; decoded naively they take 32 MB each.
    const bytes = new Uint8Array(5 * 1000);
    for (let at = 0; at < bytes.length; at += 5) bytes.set([0xdd, 0, 0x40, 0, 0], at);
    const before = process.memoryUsage().rss;
    expect(() => decodeUntrusted(bytes, { maxDepth: 10_000, maxValues: 2 ** 32 })).toThrow();
    expect(process.memoryUsage().rss - before).toBeLessThan(100e6);
  });

  it('never makes the walk read outside its bytes, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const frame = new Uint8Array(100).fill(0xc0);
        frame.set(bytes, 20);
        const inside = frame.subarray(20, 20 + bytes.length);
        const outcome = (of: Uint8Array) => {
          try {
            return { value: encode(decodeUntrusted(of, generous)) };
          } catch {
            return 'refused';
          }
        };
        expect(outcome(inside)).toEqual(outcome(bytes));
      }),
    );
  });
});
