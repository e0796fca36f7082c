import { blake3 } from '@noble/hashes/blake3.js';
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { Address } from '../../src/address.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** An owner who signs pointers; the same key for the same seed. */
export class PointerOwner {
  readonly address: Address;
  readonly #keys: { publicKey: Uint8Array; secretKey: Uint8Array };

  /** @param seed a byte, repeated 32 times. */
  constructor(seed: number) {
    this.#keys = ml_dsa65.keygen(new Uint8Array(32).fill(seed));
    const context = bytesOf('autonomi.pointer.address.v1');
    this.address = Address.fromBytes(Uint8Array.from(blake3(this.#keys.publicKey, { context })));
  }

  /** @param kind of the target; a number is the byte of a kind that this version does not know. */
  sign(
    counter: bigint,
    target: Address,
    kind: 'chunk' | 'pointer' | number = 'chunk',
  ): Uint8Array<ArrayBuffer> {
    const head = Buffer.concat([Buffer.from([1]), this.#keys.publicKey, Buffer.alloc(8 + 1 + 32)]);
    head.writeBigUInt64BE(counter, 1953);
    head[1961] = typeof kind === 'number' ? kind : kind === 'chunk' ? 0 : 1;
    head.set(target.bytes, 1962);
    const signature = ml_dsa65.sign(head, this.#keys.secretKey, {
      context: bytesOf('autonomi.pointer.head.v1'),
    });
    return Uint8Array.from([...head, ...signature]);
  }
}
