import type { Address } from '../../address.ts';
import { AntwayError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { PeerKind } from '../../peer-url.ts';

export interface Dialect {
  path(address: Address): string;
  /** The path of a cheap request, which starts no lookup in a network. */
  ping: string;
  /** Size limit of an answer, in bytes. */
  maxBytes: number;
  /** @throws AntwayError `CORRUPT` if the answer cannot contain a chunk. */
  decode(answer: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>;
}

const raw = (answer: Uint8Array<ArrayBuffer>) => answer;

/** Bytes that a JSON answer may have around its base64. */
const jsonBytes = 64 * 1024;

export const dialects: Record<PeerKind, Dialect> = {
  antway: { path: ({ hex }) => `/chunk/${hex}`, ping: '/-/info', maxBytes: limits.chunkBytes, decode: raw },
  anttp: {
    path: ({ hex }) => `/anttp-0/binary/chunk/${hex}`,
    // Too short for an address, so AntTP refuses it at once.
    ping: '/anttp-0/binary/chunk/0',
    maxBytes: limits.chunkBytes,
    decode: raw,
  },
  antd: {
    path: ({ hex }) => `/v1/chunks/${hex}`,
    ping: '/health',
    maxBytes: Math.ceil(limits.chunkBytes / 3) * 4 + jsonBytes,
    decode: fromJson,
  },
};

/** `{"data": "<base64>"}`. The name of the field differs between versions. */
function fromJson(answer: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  try {
    const json = JSON.parse(new TextDecoder().decode(answer)) as Record<string, unknown> | null;
    const encoded = json?.data ?? json?.content ?? json?.chunk ?? json?.bytes;
    if (typeof encoded !== 'string') throw new TypeError('There is no text under any of the known names.');
    return Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  } catch (cause) {
    throw new AntwayError('CORRUPT', 'The daemon answered with no chunk in JSON.', {}, { cause });
  }
}
