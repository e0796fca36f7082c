import { encodePax } from './pax.ts';
import { blockBytes, checksumOf, paddedToBlock } from './tar-header.ts';

/** Largest size that fits into the eleven octal digits of a header. */
const mostOctal = 8 ** 11 - 1;

const encoder = new TextEncoder();

/**
 * Returns the blocks before a file's data: its ustar header, preceded by a pax header if name or size do not fit.
 * Compatibility: the addresses of published archives depend on every byte.
 * @param comment adds a pax header with this comment in any case.
 */
export function encodeHeader(name: string, size: number, comment?: string): Uint8Array<ArrayBuffer> {
  const pax = encodePax({
    ...(splitName(name) ? {} : { path: name }),
    ...(comment === undefined ? {} : { comment }),
    ...(size > mostOctal ? { size: String(size) } : {}),
  });
  if (pax.length === 0) return encodeBlock(name, size, '0');
  const bytes = new Uint8Array(blockBytes + paddedToBlock(pax.length) + blockBytes);
  const paxName = new TextDecoder().decode(encoder.encode(`PaxHeader/${name}`).subarray(0, 100));
  bytes.set(encodeBlock(paxName, pax.length, 'x'));
  bytes.set(pax, blockBytes);
  bytes.set(encodeBlock(name, size, '0'), bytes.length - blockBytes);
  return bytes;
}

/** A name that does not fit is cut. */
function encodeBlock(name: string, size: number, type: '0' | 'x'): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(blockBytes);
  const put = (text: string, offset: number, length: number) =>
    encoder.encodeInto(text, block.subarray(offset, offset + length));
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
  const [prefix, base] = splitName(name) ?? ['', name];
  put(base, 0, 100);
  put(octal(0o644, 7), 100, 7);
  put(octal(0, 7), 108, 7);
  put(octal(0, 7), 116, 7);
  put(octal(size, 11), 124, 11);
  put(octal(0, 11), 136, 11);
  put(type, 156, 1);
  put('ustar\x0000', 257, 8);
  put(prefix, 345, 155);
  put(`${octal(checksumOf(block), 6)}\0 `, 148, 8);
  return block;
}

/** @returns undefined if the name does not fit into prefix and name. */
function splitName(name: string): [prefix: string, name: string] | undefined {
  const fits = (text: string, bytes: number) => encoder.encode(text).length <= bytes;
  if (fits(name, 100)) return ['', name];
  if (!fits(name, 256)) return undefined;
  for (let slash = name.lastIndexOf('/'); slash > 0; slash = name.lastIndexOf('/', slash - 1)) {
    const [prefix, base] = [name.slice(0, slash), name.slice(slash + 1)];
    if (fits(prefix, 155) && fits(base, 100)) return [prefix, base];
  }
  return undefined;
}
