import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { newestPointer, type Pointer, parsePointer } from '../../src/content/pointer.ts';
import { PointerOwner } from '../support/pointers.ts';

interface Vector {
  address: string;
  counter: string;
  file: string;
  seed_hex: string;
  target: string;
  target_kind: number;
}

const folder = new URL('../fixtures/self-encryption/', import.meta.url);
const read = (file: string) => Uint8Array.from(readFileSync(new URL(file, folder)));
const vectors: Vector[] = JSON.parse(readFileSync(new URL('pointers.json', folder), 'utf8'));
const address = Address.fromHex(vectors[0]!.address);
const record = read('pointer-s1-c7.bin');

describe('a pointer of the network’s own making', () => {
  it.each(vectors)('is read: $file', ({ file, address, counter, target, target_kind }) => {
    const bytes = read(file);
    expect(parsePointer(bytes, Address.fromHex(address))).toEqual({
      counter: BigInt(counter),
      kind: target_kind === 0 ? 'chunk' : 'pointer',
      target: Address.fromHex(target),
      record: bytes,
    });
  });

  it('belongs to the key that its seed gives, so that the tests’ own are like it', () => {
    for (const { seed_hex, address } of vectors) {
      expect(new PointerOwner(Number.parseInt(seed_hex.slice(0, 2), 16)).address.hex).toBe(address);
    }
  });

  it.each([
    ['the owner', 1],
    ['the counter', 1953],
    ['the target', 1962],
    ['the last byte of the target', 1993],
    ['the signature', 1994],
    ['the last byte', 5302],
  ])('is CORRUPT with another bit in %s', (_, at) => {
    const changed = record.slice();
    changed[at]! ^= 1;
    expect(() => parsePointer(changed, address)).toThrow(expect.objectContaining({ code: 'CORRUPT' }));
  });

  it.each([
    ['nothing', new Uint8Array()],
    ['less', record.slice(0, -1)],
    ['more', Uint8Array.from([...record, 0])],
    ['another owner’s', read('pointer-s2-c3.bin')],
  ])('is CORRUPT when it is %s', (_, bytes) => {
    expect(() => parsePointer(bytes, address)).toThrow(expect.objectContaining({ code: 'CORRUPT' }));
  });

  it('of another version is UNSUPPORTED', () => {
    const changed = record.slice();
    changed[0] = 2;
    expect(() => parsePointer(changed, address)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  });
});

describe('the newest of several pointers', () => {
  const owner = new PointerOwner(3);
  const [low, high] = [Address.fromHex('01'.repeat(32)), Address.fromHex('02'.repeat(32))];
  const finalCounter = 2n ** 64n - 1n;
  const pointer = (counter: bigint, target: Address, kind?: Pointer['kind']) =>
    parsePointer(owner.sign(counter, target, kind), owner.address);
  /** In either order of arrival. */
  const newestOf = (a: Pointer, b: Pointer) => [
    newestPointer(undefined, [a, b]),
    newestPointer(undefined, [b, a]),
    newestPointer(a, [b]),
    newestPointer(b, [a]),
  ];

  it('has the larger counter, for any target', () => {
    const [old, young] = [pointer(255n, low), pointer(256n, high)];
    expect(newestOf(old, young)).toEqual(Array(4).fill(young));
    const last = pointer(finalCounter, high, 'pointer');
    expect(newestOf(pointer(finalCounter - 1n, low), last)).toEqual(Array(4).fill(last));
  });

  it('has the smaller target, with the same counter and kind', () => {
    const [a, b] = [pointer(finalCounter - 1n, low), pointer(finalCounter - 1n, high)];
    expect(newestOf(a, b)).toEqual(Array(4).fill(a));
  });

  it('has the smaller kind, with the same counter, for any target', () => {
    const [chunk, other] = [pointer(7n, high, 'chunk'), pointer(7n, low, 'pointer')];
    expect(newestOf(chunk, other)).toEqual(Array(4).fill(chunk));
  });

  it('is the first seen record, with the final counter', () => {
    const [a, b] = [pointer(finalCounter, low), pointer(finalCounter, high)];
    expect([newestPointer(a, [b, b, b]), newestPointer(b, [a, a, a])]).toEqual([a, b]);
    const other = pointer(finalCounter, low, 'pointer');
    expect(newestPointer(other, [a, b])).toBe(other);
  });

  it('is the record of most answers, with the final counter and no record seen before', () => {
    const [a, b] = [pointer(finalCounter, low), pointer(finalCounter, high)];
    const seen = pointer(9n, low);
    for (const known of [undefined, seen]) {
      expect(newestPointer(known, [a, b, b])).toBe(b);
      expect(newestPointer(known, [b, seen, a, a, b, b])).toBe(b);
    }
    const other = pointer(finalCounter, high, 'pointer');
    expect(newestPointer(undefined, [b, other, other])).toBe(other);
  });

  it('is the smaller one, with the final counter and as many answers for each', () => {
    const [a, b] = [pointer(finalCounter, low), pointer(finalCounter, high)];
    expect([newestPointer(undefined, [a, b]), newestPointer(undefined, [b, a])]).toEqual([a, a]);
  });

  it('is the record seen before, if no peer answers', () => {
    const seen = pointer(1n, low);
    expect([newestPointer(seen, []), newestPointer(undefined, [])]).toEqual([seen, undefined]);
  });
});
