import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { describe, expect, it } from 'vitest';
import { hasSigned } from '../../src/payment/node-signature.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const { publicKey, secretKey } = ml_dsa65.keygen(new Uint8Array(32).fill(5));
const other = ml_dsa65.keygen(new Uint8Array(32).fill(6));

describe('a signature of a node', () => {
  const context = bytes('ab');
  const signature = ml_dsa65.sign(bytes('cd'), secretKey, { context });

  it('is valid again and again', () => {
    for (let i = 0; i < 2; i++) expect(hasSigned(publicKey, bytes('cd'), signature, context)).toBe(true);
  });

  it('is valid for nothing else, also after it was valid once', () => {
    expect(hasSigned(publicKey, bytes('cd'), signature, context)).toBe(true);
    const changed = signature.slice();
    changed[7]! ^= 1;
    for (let i = 0; i < 2; i++) {
      expect(hasSigned(publicKey, bytes('ce'), signature, context)).toBe(false);
      expect(hasSigned(publicKey, bytes('cd'), changed, context)).toBe(false);
      expect(hasSigned(other.publicKey, bytes('cd'), signature, context)).toBe(false);
      expect(hasSigned(publicKey, bytes('cd'), signature)).toBe(false);
      // The same bytes one after the other, with another border.
      expect(hasSigned(publicKey, bytes('d'), signature, bytes('abc'))).toBe(false);
      expect(hasSigned(publicKey, bytes('bcd'), signature, bytes('a'))).toBe(false);
    }
  });
});
