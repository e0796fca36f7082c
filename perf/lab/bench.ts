import { limits } from '../../src/limits.ts';
import { loadAead } from '../../src/self-encryption/aead.ts';
import { loadBrotliDecoder } from '../../src/self-encryption/brotli.ts';
import { Codec, type CodecPlatform } from '../../src/self-encryption/codec.ts';
import type { DataMap } from '../../src/self-encryption/data-map.ts';
import { type Encrypter, type EncryptWorkers, withEncrypter } from '../../src/self-encryption/encrypter.ts';
import { encryptFile, readInnerMap, unshrink } from '../../src/self-encryption/file.ts';
import { takeStored } from '../../src/self-encryption/stored.ts';
import { xorPad } from '../../src/self-encryption/xor.ts';
import { bufferAccess } from '../../src/util/random-access.ts';

/** The timed stages of self-encryption: all, or one. */
export const stages = [
  'encrypt',
  'decrypt',
  'blake3',
  'xor',
  'aead-encrypt',
  'aead-decrypt',
  'brotli-encode',
  'brotli-decode',
] as const;
export type Stage = (typeof stages)[number];

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Does one stage to all of `content`, in parts of the size of chunks and one after the other. The time does not
 * include the preparation of its input (compressed, encrypted bytes). Runs in a browser as in Node.
 * @param workers for the stage `encrypt`, as publishing uses them. Their start is included.
 * @returns the milliseconds.
 */
export async function timeStage(
  stage: Stage,
  content: Bytes,
  platform: CodecPlatform,
  workers?: EncryptWorkers,
): Promise<number> {
  const work = await prepare(stage, content, platform, workers);
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

/** Compressed parts, by content and position. Compression takes most of the time and always gives the same bytes. */
const compressedBefore = new WeakMap<ArrayBuffer, Map<string, Bytes>>();

/** A platform whose encoder remembers, for stages that only start from what is compressed. */
function remembering(platform: CodecPlatform): CodecPlatform {
  return {
    ...platform,
    async brotliEncoder() {
      const encode = await platform.brotliEncoder!();
      return (bytes) => {
        const content = bytes.buffer as ArrayBuffer;
        const known = compressedBefore.get(content) ?? new Map<string, Bytes>();
        compressedBefore.set(content, known);
        const key = `${bytes.byteOffset} ${bytes.length}`;
        const compressed = known.get(key) ?? (encode(bytes) as Bytes);
        known.set(key, compressed);
        return compressed;
      };
    },
  };
}

async function prepare(
  stage: Stage,
  content: Bytes,
  platform: CodecPlatform,
  workers: EncryptWorkers | undefined,
): Promise<() => Promise<void>> {
  const codec = new Codec(platform);
  const parts = partsOf(content);
  switch (stage) {
    case 'encrypt': {
      const encrypt = (encrypter: Encrypter, bytes: Bytes) =>
        encryptFile(encrypter, bufferAccess(bytes), { emit: async () => {} });
      if (workers) {
        return async () =>
          void (await withEncrypter(codec, content.length, workers, (pool) => encrypt(pool, content)));
      }
      await encrypt(codec, content.subarray(0, 3)); // loads its WebAssembly
      return async () => void (await encrypt(codec, content));
    }
    case 'decrypt': {
      const codec = new Codec(remembering(platform));
      const encrypted = new Map<string, Bytes>();
      const { map } = await encryptFile(codec, bufferAccess(content), {
        emit: async ({ address, bytes }) => void encrypted.set(address.hex, bytes),
      });
      const decrypt = (of: DataMap, i: number) => codec.decrypt(of, i, encrypted.get(of.address(i).hex)!);
      const root = await unshrink(map, (nested) => readInnerMap(nested, decrypt));
      await decrypt(root, 0);
      return async () => {
        for (let i = 0; i < root.count; i++) await decrypt(root, i);
      };
    }
    case 'blake3': {
      const blake3 = await codec.blake3();
      return async () => parts.forEach((part) => void blake3(part));
    }
    case 'xor': {
      const pad = new Uint8Array(52).fill(7);
      const target = new Uint8Array(limits.plaintextChunkBytes);
      return async () => parts.forEach((part) => void xorPad(part, pad, target));
    }
    case 'aead-encrypt':
    case 'aead-decrypt': {
      const aead = await loadAead(platform.aead, platform.sodiumWasm);
      const keys = { pad: new Uint8Array(52), key: new Uint8Array(32), nonce: new Uint8Array(12) };
      const encrypted: Bytes[] = [];
      if (stage === 'aead-decrypt') for (const part of parts) encrypted.push(await aead.encrypt(keys, part));
      return async () => {
        if (stage === 'aead-decrypt') for (const part of encrypted) await aead.decrypt(keys, part);
        else for (const part of parts) await aead.encrypt(keys, part);
      };
    }
    case 'brotli-encode': {
      const encode = await platform.brotliEncoder!();
      return async () => parts.forEach((part) => void encode(part));
    }
    case 'brotli-decode': {
      const encode = await remembering(platform).brotliEncoder!();
      const decode = await loadBrotliDecoder(await platform.brotliDecoderWasm());
      const compressed = parts.map((part) => encode(part).slice());
      return async () => {
        for (const [i, each] of compressed.entries()) {
          const { length } = parts[i]!;
          if (!takeStored(each, length)) decode(each, length);
        }
      };
    }
  }
}

function partsOf(content: Bytes): Bytes[] {
  const parts: Bytes[] = [];
  for (let at = 0; at < content.length; at += limits.plaintextChunkBytes) {
    parts.push(content.subarray(at, at + limits.plaintextChunkBytes));
  }
  return parts;
}
