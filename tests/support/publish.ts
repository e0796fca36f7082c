import { createCipheriv } from 'node:crypto';
import { nodePlatform } from '../../src/cli/platform.ts';
import { limits } from '../../src/limits.ts';
import { Codec } from '../../src/self-encryption/codec.ts';
import { encryptFile } from '../../src/self-encryption/file.ts';
import { bufferAccess, type RandomAccess } from '../../src/util/random-access.ts';

/** Where chunks are stored: a peer, or a folder. */
export interface ChunkSink {
  put(address: string, bytes: Uint8Array): Promise<void>;
}

export const codec = new Codec({
  ...nodePlatform,
  brotliEncoder: async () => {
    const encode = await nodePlatform.brotliEncoder!();
    const known = new WeakMap<Uint8Array, Uint8Array>();
    return (bytes) => {
      const compressed = known.get(bytes) ?? encode(bytes);
      known.set(bytes, compressed);
      return compressed;
    };
  },
});

/** Chunks on their way to the peers at one time. */
const uploads = 4;

/** Encrypts a file and stores its chunks at the peers. @returns its address. */
export async function publish(content: Uint8Array | RandomAccess, ...peers: ChunkSink[]): Promise<string> {
  const source = content instanceof Uint8Array ? bufferAccess(content) : content;
  const underWay: Promise<unknown>[] = [];
  const { address } = await encryptFile(codec, source, {
    emit: async ({ address, bytes }) => {
      if (underWay.length === uploads) await underWay.shift();
      underWay.push(Promise.all(peers.map((peer) => peer.put(address.hex, bytes))));
    },
  });
  await Promise.all(underWay);
  return address.hex;
}

/**
 * A large file that is quickly encrypted: a few incompressible parts again and again, so that they are compressed
 * only once. Every chunk is another all the same, because its keys depend on its position.
 */
export class RepeatingFile implements RandomAccess {
  static readonly #parts = [1, 2, 3].map((seed) => noise(seed, limits.plaintextChunkBytes));

  /** @param size at least three parts. */
  constructor(readonly size: number) {}

  async read(start: number, end: number): Promise<Uint8Array> {
    const { plaintextChunkBytes } = limits;
    const parts = RepeatingFile.#parts;
    const part = parts[(start / plaintextChunkBytes) % parts.length];
    if (!part || end - start > part.length) throw new Error(`${start}–${end} is not a part of the file`);
    return end - start === part.length ? part : part.subarray(0, end - start);
  }

  /** The file's bytes, part by part. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < this.size; at += limits.plaintextChunkBytes) {
      yield await this.read(at, Math.min(at + limits.plaintextChunkBytes, this.size));
    }
  }
}

/** Incompressible bytes, the same for the same seed. */
export function noise(seed: number, size: number): Buffer {
  return createCipheriv('aes-128-ctr', Buffer.alloc(16, seed), Buffer.alloc(16)).update(Buffer.alloc(size));
}
