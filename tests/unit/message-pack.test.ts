import { type DecoderOptions, decode, ExtData, type ExtensionCodecType, encode } from '@msgpack/msgpack';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeUntrusted,
  type Encodable,
  encode as encodeOwn,
} from '../../src/self-encryption/message-pack.ts';

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

/** Random bytes, and valid values with some bytes changed. */
const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 60 }),
  fc.tuple(anyValue, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 })).map(([value, changes]) => {
    const bytes = encode(value, { maxDepth: 1000 });
    for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
    return bytes;
  }),
);

/** The library believes headers, and interprets timestamps. */
const likeOurs: DecoderOptions<undefined> = {
  maxArrayLength: 10_000,
  maxMapLength: 10_000,
  extensionCodec: {
    tryToEncode: () => null,
    decode: (data, type) => ({ type, data }),
  } satisfies ExtensionCodecType<undefined>,
};

describe('MessagePack from an untrusted source', () => {
  it('is decoded as the library decodes it', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const bytes = encode(value, { maxDepth: 1000 });
        const decoded = decodeUntrusted(bytes, { ...generous, maxDepth: 1000 });
        expect(decoded).toEqual(decode(bytes));
        expect(encode(decoded, { maxDepth: 1000 })).toEqual(bytes);
      }),
    );
  });

  it.each([
    ['long text', 'x'.repeat(70_000)],
    ['long bytes', new Uint8Array(70_000)],
    ['a long list', Array.from({ length: 70_000 }, () => 1)],
    ['a long map', Object.fromEntries(Array.from({ length: 300 }, (_, i) => [i, i]))],
    ['numbers of every width', [1, 200, 300, 70_000, 2 ** 40, -1, -100, -300, -70_000, -(2 ** 40), 0.5]],
    ['text that begins with a byte order mark', '\ufeffx'],
  ])('may hold %s', (_, value) => {
    expect(decodeUntrusted(encode(value), generous)).toEqual(value);
  });

  it('may hold extensions of every length', () => {
    for (const length of [0, 1, 2, 3, 4, 8, 16, 300, 65_536]) {
      const extension = { type: -1, data: new Uint8Array(length).fill(7) };
      const bytes = encode([new ExtData(extension.type, extension.data), 5]);
      expect(decodeUntrusted(bytes, generous)).toEqual([extension, 5]);
    }
  });

  it('is accepted or refused as by the library, for any bytes', () => {
    let accepted = 0;
    const outcome = (decoded: () => unknown) => {
      try {
        return { value: decoded() };
      } catch {
        return 'refused';
      }
    };
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const own = outcome(() => decodeUntrusted(bytes, generous));
        const library = outcome(() => decode(bytes, likeOurs));
        if (own !== 'refused') accepted++;
        // The library decodes damaged UTF-8 to other characters.
        if (JSON.stringify(own).includes('\ufffd')) expect(library).not.toBe('refused');
        else expect(own).toEqual(library);
      }),
      { numRuns: 5000 },
    );
    expect(accepted).toBeGreaterThan(500);
  });

  it.each([
    ['null', [0x81, 0xc0, 1]],
    ['a list', [0x81, 0x90, 1]],
    ['bytes', [0x81, 0xc4, 0, 1]],
    ['__proto__', [0x81, 0xa9, ...Buffer.from('__proto__'), 0x80]],
  ])('is refused with a map whose key is %s', (_, bytes) => {
    expect(() => decodeUntrusted(Uint8Array.from(bytes), generous)).toThrow(RangeError);
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

  it('never makes the walk read outside its bytes, for any bytes', () => {
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

describe('MessagePack of our own', () => {
  const anyEncodable = fc.letrec<{ value: Encodable }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.maxSafeNat(),
      fc.nat(300),
      fc.constant(null),
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.uint8Array({ maxLength: 300 }),
      fc.array(tie('value'), { maxLength: 40 }),
      fc.dictionary(fc.string(), tie('value'), { maxKeys: 40, noNullPrototype: true }),
    ),
  })).value;

  it('has the same bytes as the library’s', () => {
    fc.assert(
      fc.property(anyEncodable, (value) => {
        expect(encodeOwn(value)).toEqual(encode(value, { maxDepth: 1000 }));
      }),
    );
  });

  it.each<[string, Encodable]>([
    ['numbers of every width', [0, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1]],
    ['texts of every width', [0, 31, 32, 255, 256, 65_535, 65_536].map((length) => 'é'.repeat(length / 2))],
    ['bytes of every width', [0, 255, 256, 65_535, 65_536].map((length) => new Uint8Array(length))],
    ['lists of every width', [0, 15, 16, 65_535, 65_536].map((length) => Array(length).fill(1))],
    [
      'maps of every width',
      [0, 15, 16, 65_535, 65_536].map((length) => Object.fromEntries(Array(length).fill(1).entries())),
    ],
  ])('has the same bytes as the library’s for %s', (_, value) => {
    expect(Buffer.from(encodeOwn(value)).equals(encode(value))).toBe(true);
  });
});
