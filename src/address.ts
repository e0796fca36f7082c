import { AntwayError } from './errors.ts';
import * as s from './schema.ts';

const hexPattern = /^[0-9A-Fa-f]{64}$/;
export const hexAddress = s.pattern(hexPattern, 'it must be an address of 64 hex digits');

const base32Alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/** The 32 bytes under which the network stores a record: the BLAKE3 hash of the record's bytes. */
export class Address {
  #hex: string | undefined;

  private constructor(readonly bytes: Uint8Array<ArrayBuffer>) {}

  /** @throws AntwayError `BAD_ADDRESS` when `text` is not 64 hex digits. Upper case is accepted. */
  static fromHex(text: string): Address {
    if (!hexPattern.test(text)) {
      throw new AntwayError('BAD_ADDRESS', `“${text}” is not a content address: it must be 64 hex digits.`);
    }
    const bytes = new Uint8Array(32);
    for (let i = 0; i < 32; i++) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16);
    return new Address(bytes);
  }

  /** Copies 32 bytes from `bytes`. @throws AntwayError `BAD_ADDRESS` for any other length. */
  static fromBytes(bytes: Uint8Array): Address {
    if (bytes.length !== 32) {
      throw new AntwayError('BAD_ADDRESS', `A content address has 32 bytes, not ${bytes.length}.`);
    }
    return new Address(new Uint8Array(bytes));
  }

  /**
   * The form used as a DNS label in subdomain mode: 52 characters of unpadded lower-case RFC 4648 base32.
   * @throws AntwayError `BAD_ADDRESS` unless `label` is the canonical spelling. Upper case is accepted.
   */
  static fromBase32(label: string): Address {
    const bytes = new Uint8Array(32);
    let bits = 0;
    let value = 0;
    let at = 0;
    for (const character of label.toLowerCase()) {
      const digit = base32Alphabet.indexOf(character);
      if (digit < 0) break;
      value = ((value << 5) | digit) & 0xfff;
      bits += 5;
      if (bits >= 8) {
        bits -= 8;
        bytes[at++] = value >>> bits;
      }
    }
    const address = new Address(bytes);
    if (label.length !== 52 || address.base32 !== label.toLowerCase()) {
      throw new AntwayError('BAD_ADDRESS', `“${label}” is not a content address in base32.`);
    }
    return address;
  }

  static isHex(text: string): boolean {
    return hexPattern.test(text);
  }

  get hex(): string {
    this.#hex ??= toHex(this.bytes);
    return this.#hex;
  }

  get base32(): string {
    let text = '';
    let bits = 0;
    let value = 0;
    for (const byte of this.bytes) {
      value = ((value << 8) | byte) & 0xfff;
      bits += 8;
      while (bits >= 5) {
        bits -= 5;
        text += base32Alphabet[(value >>> bits) & 31];
      }
    }
    return text + base32Alphabet[(value << (5 - bits)) & 31];
  }

  equals(other: Address): boolean {
    return equalBytes(this.bytes, other.bytes);
  }

  toString(): string {
    return this.hex;
  }
}

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += hexOfByte[byte];
  return text;
}

/** A label for an address in hex, where a reader needs to tell a few apart. It proves nothing. */
export function shortAddress(hex: string): string {
  return `${hex.slice(0, 8)}…${hex.slice(-6)}`;
}

/** Whether two byte strings are equal. Not constant time: use it for public values only. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
