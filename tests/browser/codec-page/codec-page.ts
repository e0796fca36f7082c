/** The codec as a browser runs it, for `codec.test.ts` to call. */

import sodiumWasmUrl from 'virtual:libsodium.wasm?url';
import decoderWasmUrl from 'brotli-dec-wasm/web/bg.wasm?url';
import brotliWasm from 'brotli-wasm';
import { type Address, equalBytes, toHex } from '../../../src/address.ts';
import type { AeadName } from '../../../src/self-encryption/aead.ts';
import { Codec } from '../../../src/self-encryption/codec.ts';
import { type DataMap, decodeDataMap } from '../../../src/self-encryption/data-map.ts';
import { encryptFile, readInnerMap, unshrink } from '../../../src/self-encryption/file.ts';
import { bufferAccess } from '../../../src/util/random-access.ts';

export interface EncryptedInPage {
  aead: AeadName;
  address: string;
  record: string;
  /** In the order in which they were made, the record last. */
  chunks: { address: string; len: number }[];
  /** Whether decrypting them gives the input again. */
  decryptsToInput: boolean;
}

export interface CodecPage {
  /** Encrypts what the host serves at `url`, and decrypts it again. */
  encrypt(aead: AeadName, url: string): Promise<EncryptedInPage>;
  /** Decrypts an address from chunks that the host has, and compares with what it serves at `url`. */
  decrypt(aead: AeadName, address: string, url: string): Promise<{ aead: AeadName; isInput: boolean }>;
}

function codecWith(aead: AeadName): Codec {
  return new Codec({
    aead,
    brotliDecoderWasm: () => fetch(decoderWasmUrl),
    sodiumWasm: () => fetch(sodiumWasmUrl),
    brotliEncoder: async () => {
      const { compress } = await brotliWasm;
      return (bytes) => onceFor(bytes, () => compress(bytes, { quality: 6 }));
    },
  });
}

/** The compressed parts of an input, by their position: the same for every cipher. */
const compressedParts = new WeakMap<ArrayBufferLike, Map<number, Uint8Array>>();

function onceFor({ buffer, byteOffset }: Uint8Array, compress: () => Uint8Array): Uint8Array {
  const parts = compressedParts.get(buffer) ?? new Map<number, Uint8Array>();
  compressedParts.set(buffer, parts);
  const compressed = parts.get(byteOffset) ?? compress();
  parts.set(byteOffset, compressed);
  return compressed;
}

/** The input that was asked for last. */
let last: { url: string; bytes: Uint8Array } | undefined;

async function inputAt(url: string): Promise<Uint8Array> {
  if (last?.url !== url) last = { url, bytes: await bytesAt(url) };
  return last.bytes;
}

const codecPage: CodecPage = {
  async encrypt(name, url) {
    const codec = codecWith(name);
    const input = await inputAt(url);
    const encrypted = new Map<string, Uint8Array>();
    const chunks: EncryptedInPage['chunks'] = [];
    const file = await encryptFile(codec, bufferAccess(input), {
      emit: async ({ address, bytes }) => {
        encrypted.set(address.hex, bytes);
        chunks.push({ address: address.hex, len: bytes.length });
      },
    });
    const decrypted = await openAll(codec, file.map, async (address) => encrypted.get(address.hex)!);
    return {
      aead: (await codec.aead()).name,
      address: file.address.hex,
      record: toHex(file.record),
      chunks,
      decryptsToInput: equalBytes(decrypted, input),
    };
  },

  async decrypt(name, address, url) {
    const codec = codecWith(name);
    const map = decodeDataMap(await bytesAt(`/chunk/${address}`))!;
    const decrypted = await openAll(codec, map, (chunk) => bytesAt(`/chunk/${chunk.hex}`));
    return { aead: (await codec.aead()).name, isInput: equalBytes(decrypted, await inputAt(url)) };
  },
};

async function openAll(
  codec: Codec,
  map: DataMap,
  chunk: (address: Address) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const decryptChunk = async (of: DataMap, i: number) => codec.decrypt(of, i, await chunk(of.address(i)));
  const root = await unshrink(map, (nested) => readInnerMap(nested, decryptChunk));
  const plain = new Uint8Array(root.size);
  for (let i = 0; i < root.count; i++) plain.set(await decryptChunk(root, i), root.offsets[i]!);
  return plain;
}

async function bytesAt(url: string): Promise<Uint8Array> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

Object.assign(globalThis, { codecPage });
