import { Address, equalBytes } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Blake3 } from '../self-encryption/blake3.ts';

/** A record whose bytes match its address. Only the static functions construct one. */
export class VerifiedChunk {
  private constructor(
    readonly address: Address,
    /** A buffer of exactly the chunk's size. */
    readonly bytes: Uint8Array<ArrayBuffer>,
  ) {}

  /** The record that consists of these bytes. @throws AntwayError `CORRUPT` if the bytes exceed the size limit. */
  static of(bytes: Uint8Array<ArrayBuffer>, blake3: Blake3): VerifiedChunk {
    const address = Address.fromBytes(blake3(bytes));
    refuseTooLong(address, bytes);
    return new VerifiedChunk(address, bytes);
  }

  /** @throws AntwayError `CORRUPT` if the bytes exceed the size limit or hash to another address. */
  static verify(address: Address, received: Uint8Array<ArrayBuffer>, blake3: Blake3): VerifiedChunk {
    refuseTooLong(address, received);
    return VerifiedChunk.#compared(address, received, blake3(received));
  }

  /** As `verify`, but yields to other tasks of the thread. */
  static async verifyInTurns(
    address: Address,
    received: Uint8Array<ArrayBuffer>,
    hash: (bytes: Uint8Array) => Promise<Uint8Array>,
  ): Promise<VerifiedChunk> {
    refuseTooLong(address, received);
    return VerifiedChunk.#compared(address, received, await hash(received));
  }

  static #compared(address: Address, received: Uint8Array<ArrayBuffer>, hash: Uint8Array): VerifiedChunk {
    if (!equalBytes(hash, address.bytes)) {
      throw new AntwayError(
        'CORRUPT',
        `The bytes hash to ${Address.fromBytes(hash)}, not to the address asked for.`,
        {
          address: address.hex,
        },
      );
    }
    return new VerifiedChunk(address, received);
  }
}

function refuseTooLong(address: Address, received: Uint8Array): void {
  if (received.length > limits.chunkBytes) {
    throw new AntwayError(
      'CORRUPT',
      `A chunk has at most ${limits.chunkBytes} bytes, this one ${received.length}.`,
      {
        address: address.hex,
      },
    );
  }
}
