export const blockBytes = 512;

/** The fields of one tar header (ustar, GNU, v7). `tarMembers` applies pax and GNU long names. */
export interface TarHeader {
  name: string;
  size: number;
  /** Type flag character; `'0'` for files (also written `'\0'` or `'7'`). */
  type: string;
  /** Seconds since 1970. */
  modified: number;
}

/** Whether a file begins with a tar header. @param start its first 512 bytes. */
export function isTar(start: Uint8Array): boolean {
  return parseTarHeader(start) !== undefined;
}

/** @returns undefined if the block's checksum does not match: an all-zero block, or no header at all. */
export function parseTarHeader(block: Uint8Array): TarHeader | undefined {
  if (block.length < blockBytes || !hasChecksum(block)) return undefined;
  const size = readNumber(block, 124, 12);
  if (size === undefined) return undefined;
  const flag = String.fromCharCode(block[156]!);
  const isUstar = readText(block, 257, 5) === 'ustar';
  // GNU headers store other fields in place of the ustar prefix. Their magic is "ustar " with a blank.
  const prefix = isUstar && block[262] === 0 ? readText(block, 345, 155) : '';
  const name = readText(block, 0, 100);
  return {
    name: prefix ? `${prefix}/${name}` : name,
    size,
    type: flag === '\0' || flag === '7' ? '0' : flag,
    modified: readNumber(block, 136, 12) ?? 0,
  };
}

/** Reads a text field, which ends at its first NUL or at its length. */
export function readText(block: Uint8Array, offset: number, length: number): string {
  const field = block.subarray(offset, offset + length);
  const end = field.indexOf(0);
  return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end));
}

export function paddedToBlock(bytes: number): number {
  return Math.ceil(bytes / blockBytes) * blockBytes;
}

/** Returns the checksum of a header: the sum of its bytes, with the checksum field counted as blanks. */
export function checksumOf(block: Uint8Array): number {
  let sum = 8 * 0x20;
  for (let i = 0; i < blockBytes; i++) if (i < 148 || i >= 156) sum += block[i]!;
  return sum;
}

function hasChecksum(block: Uint8Array): boolean {
  const sum = checksumOf(block);
  return readNumber(block, 148, 8) === sum && sum > 8 * 0x20;
}

/** Reads octal text, or GNU's base-256 if the first bit is set. */
function readNumber(block: Uint8Array, offset: number, length: number): number | undefined {
  if (block[offset]! & 0x80) {
    let value = block[offset]! & 0x7f;
    for (let i = offset + 1; i < offset + length; i++) value = value * 256 + block[i]!;
    return Number.isSafeInteger(value) ? value : undefined;
  }
  const text = readText(block, offset, length).trim();
  return /^[0-7]*$/.test(text) ? Number.parseInt(text || '0', 8) : undefined;
}
