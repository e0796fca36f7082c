import { blake3 } from '@noble/hashes/blake3.js';
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { Address } from '../address.ts';
import { addressContext, signatureContext } from '../content/pointer.ts';
import { AntwayError } from '../errors.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** The length of a seed, in bytes. The key pair is derived from it (FIPS 204, `ML-DSA.KeyGen_internal`). */
export const seedBytes = 32;

/** A new seed, from the random generator of the platform. */
export function newSeed(): Bytes {
  return crypto.getRandomValues(new Uint8Array(seedBytes));
}

/** The ML-DSA-65 key of a pointer's owner. No method gives the secret key away. */
export class OwnerKey {
  /** The address of the owner's pointer: the hash of the public key. One key has one pointer. */
  readonly address: Address;
  readonly publicKey: Bytes;
  readonly #secretKey: Uint8Array;

  /** @throws AntwayError `BAD_CONFIG` unless the seed has 32 bytes. */
  constructor(seed: Uint8Array) {
    if (seed.length !== seedBytes) {
      throw new AntwayError('BAD_CONFIG', `An owner’s key has ${seedBytes} bytes, not ${seed.length}.`);
    }
    const { publicKey, secretKey } = ml_dsa65.keygen(Uint8Array.from(seed));
    this.publicKey = Uint8Array.from(publicKey);
    this.#secretKey = secretKey;
    this.address = Address.fromBytes(blake3(publicKey, { context: addressContext }));
  }

  /** Signs a pointer's head. @returns 3,309 bytes. They differ each time, because the signature is randomised. */
  sign(head: Uint8Array): Uint8Array {
    return ml_dsa65.sign(head, this.#secretKey, { context: signatureContext });
  }

  /**
   * Signs the hash of a file's bytes, for an index of a tarchive. The variant of FIPS 204 without random bytes gives the
   * same signature each time, so that unchanged files keep their addresses. The context is empty, as AntTP has it.
   * @returns 3,309 bytes.
   */
  signContent(xorname: Uint8Array): Uint8Array {
    return ml_dsa65.sign(xorname, this.#secretKey, { extraEntropy: false });
  }
}
