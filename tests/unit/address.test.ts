import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Address, equalBytes, toHex } from '../../src/address.ts';

const addressBytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
const hex = '00ff1bd6a59a2c3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f5061728394a5b6';

describe('an address in hex', () => {
  it('is read in either case and written in lower case', () => {
    expect(Address.fromHex(hex).hex).toBe(hex);
    expect(Address.fromHex(hex.toUpperCase()).hex).toBe(hex);
    expect(String(Address.fromHex(hex))).toBe(hex);
  });

  it('comes back as it was written, for any 32 bytes', () => {
    fc.assert(
      fc.property(addressBytes, (bytes) => {
        const address = Address.fromBytes(bytes);
        expect(Address.fromHex(address.hex).bytes).toEqual(bytes);
        expect(address.hex).toBe(Buffer.from(bytes).toString('hex'));
      }),
    );
  });

  it.each([
    ['63 digits', hex.slice(1)],
    ['65 digits', `${hex}0`],
    ['a letter beyond f', `g${hex.slice(1)}`],
    ['a prefix', `0x${hex.slice(2)}`],
    ['a line break at the end', `${hex}\n`],
    ['a full-width digit', `０${hex.slice(1)}`],
    ['nothing', ''],
  ])('is refused with BAD_ADDRESS when it has %s', (_, text) => {
    expect(Address.isHex(text)).toBe(false);
    expect(() => Address.fromHex(text)).toThrow(expect.objectContaining({ code: 'BAD_ADDRESS' }));
  });
});

describe('an address in bytes', () => {
  it('is a copy: changes of the original do not change it', () => {
    const bytes = new Uint8Array(32).fill(7);
    const address = Address.fromBytes(bytes);
    bytes[0] = 8;
    expect(address.bytes[0]).toBe(7);
  });

  it('has a buffer of its own, even when it comes from the middle of a larger one', () => {
    const frame = new Uint8Array(100).map((_, i) => i);
    const address = Address.fromBytes(frame.subarray(10, 42));
    expect(address.bytes.buffer.byteLength).toBe(32);
    expect(address.bytes[0]).toBe(10);
  });

  it.each([0, 31, 33])('is refused with BAD_ADDRESS if it has %i bytes', (length) => {
    expect(() => Address.fromBytes(new Uint8Array(length))).toThrow(
      expect.objectContaining({ code: 'BAD_ADDRESS' }),
    );
  });

  it('equals only an address with the same bytes', () => {
    const address = Address.fromHex(hex);
    expect(address.equals(Address.fromHex(hex.toUpperCase()))).toBe(true);
    expect(address.equals(Address.fromHex(`01${hex.slice(2)}`))).toBe(false);
  });
});

describe('an address in base32', () => {
  it('has 52 lower-case characters, a valid DNS label, as RFC 4648 encodes it', () => {
    expect(Address.fromBytes(new Uint8Array(32)).base32).toBe('a'.repeat(52));
    // Python: base64.b32encode(bytes(range(32))).lower().rstrip('=')
    expect(Address.fromBytes(Uint8Array.from({ length: 32 }, (_, i) => i)).base32).toBe(
      'aaaqeayeaudaocajbifqydiob4ibceqtcqkrmfyydenbwha5dypq',
    );
  });

  it('comes back as it was written, in either case, for any 32 bytes', () => {
    fc.assert(
      fc.property(addressBytes, (bytes) => {
        const { base32 } = Address.fromBytes(bytes);
        expect(base32).toMatch(/^[a-z2-7]{52}$/);
        expect(Address.fromBase32(base32).bytes).toEqual(bytes);
        expect(Address.fromBase32(base32.toUpperCase()).bytes).toEqual(bytes);
      }),
    );
  });

  it.each([
    ['51 characters', 'a'.repeat(51)],
    ['53 characters', 'a'.repeat(53)],
    ['padding', `${'a'.repeat(52)}====`],
    ['a digit that base32 lacks', `${'a'.repeat(50)}1a`],
    ['bits set that no byte uses, which would give one site two origins', `${'a'.repeat(51)}b`],
    ['nothing', ''],
  ])('is refused with BAD_ADDRESS when it has %s', (_, label) => {
    expect(() => Address.fromBase32(label)).toThrow(expect.objectContaining({ code: 'BAD_ADDRESS' }));
  });
});

describe('bytes', () => {
  it('are equal when length and content are', () => {
    expect(equalBytes(new Uint8Array([1, 2]), new Uint8Array([1, 2]))).toBe(true);
    expect(equalBytes(new Uint8Array([1, 2]), new Uint8Array([1, 3]))).toBe(false);
    expect(equalBytes(new Uint8Array([1, 2]), new Uint8Array([1, 2, 0]))).toBe(false);
    expect(equalBytes(new Uint8Array(), new Uint8Array())).toBe(true);
  });

  it('are written in hex with both digits of each', () => {
    expect(toHex(new Uint8Array([0, 9, 16, 255]))).toBe('000910ff');
  });
});
