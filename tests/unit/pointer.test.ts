import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { newer, openPointer } from '../../src/content/pointer.ts';
import { PointerOwner } from './support/pointers.ts';

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
    expect(openPointer(bytes, Address.fromHex(address))).toEqual({
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
    expect(() => openPointer(changed, address)).toThrow(expect.objectContaining({ code: 'CORRUPT' }));
  });

  it.each([
    ['nothing', new Uint8Array()],
    ['less', record.slice(0, -1)],
    ['more', Uint8Array.from([...record, 0])],
    ['another owner’s', read('pointer-s2-c3.bin')],
  ])('is CORRUPT when it is %s', (_, bytes) => {
    expect(() => openPointer(bytes, address)).toThrow(expect.objectContaining({ code: 'CORRUPT' }));
  });

  it('of another version is UNSUPPORTED', () => {
    const changed = record.slice();
    changed[0] = 2;
    expect(() => openPointer(changed, address)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  });
});

describe('of two pointers the newer', () => {
  const owner = new PointerOwner(3);
  const [low, high] = [Address.fromHex('01'.repeat(32)), Address.fromHex('02'.repeat(32))];
  const pointer = (counter: bigint, target: Address) =>
    openPointer(owner.sign(counter, target), owner.address);

  it('has the larger counter, whatever the target', () => {
    const [old, young] = [pointer(255n, low), pointer(256n, high)];
    expect([newer(old, young), newer(young, old)]).toEqual([young, young]);
  });

  it('has the smaller target, with the same counter', () => {
    const [a, b] = [pointer(2n ** 64n - 1n, low), pointer(2n ** 64n - 1n, high)];
    expect([newer(a, b), newer(b, a)]).toEqual([a, a]);
  });
});
