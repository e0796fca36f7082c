import { readFileSync } from 'node:fs';
import { blake3 } from '@noble/hashes/blake3.js';

const folder = new URL('../fixtures/self-encryption/', import.meta.url);

/** A case of `tests/fixtures/self-encryption/index.json`, as the network's own crate recorded it. */
export interface Vector {
  name: string;
  size: number;
  encrypt_error?: string;
  kind: 'xof' | 'text';
  address: string;
  child: number | null;
  root_len: number;
  /** Whether the chunks are in `chunks/`. */
  stored: boolean;
}

interface VectorDetail {
  data_map: { msgpack_hex: string; bincode_hex: string };
  encrypted_chunks: { address: string; len: number }[];
  input: { blake3: string };
  child_levels: { plain_bincode_hex: string }[];
}

export const vectors: Vector[] = readJson<{ cases: Vector[] }>('index.json').cases;

export function vectorDetail(name: string): VectorDetail {
  return readJson<VectorDetail>(`${name}.json`);
}

export function storedChunk(hex: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(new URL(`chunks/${hex}`, folder)));
}

type InputRule = Pick<Vector, 'name' | 'kind' | 'size'>;

const inputs = new Map<string, Uint8Array>();

/** The input of a case, made by the rule in `index.json`. */
export function vectorInput(vector: InputRule): Uint8Array {
  const input = inputs.get(vector.name) ?? makeInput(vector);
  inputs.set(vector.name, input);
  return input;
}

function makeInput({ name, kind, size }: InputRule): Uint8Array {
  if (kind === 'xof') {
    return blake3
      .create()
      .update(new TextEncoder().encode(`devnet-vector:${name}`))
      .xof(size);
  }
  let text = '';
  for (let i = 0; text.length < size; i++) {
    text += `Line ${i}: the quick brown fox jumps over the lazy dog.\n`;
  }
  return new TextEncoder().encode(text.slice(0, size));
}

export function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(hex, 'hex'));
}

function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as T;
}
