import { createDecipheriv, pbkdf2Sync, scryptSync, timingSafeEqual } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import * as v from 'valibot';
import { AntwayError } from '../errors.ts';
import * as s from '../schema.ts';

const hex = s.pattern(/^([0-9a-fA-F]{2})+$/, 'it must be hex digits');
const keyBytes = 32;
/** Of scrypt. Wallets use 256 MiB at most. */
const maxMemoryBytes = 1024 ** 3;

const base = {
  cipher: v.literal('aes-128-ctr'),
  ciphertext: hex,
  cipherparams: s.object({ iv: hex }),
  mac: hex,
};

const schema = s.object({
  version: v.literal(3),
  crypto: v.variant('kdf', [
    v.object({
      ...base,
      kdf: v.literal('scrypt'),
      kdfparams: v.object({
        n: v.pipe(v.number(), v.integer(), v.minValue(2), v.maxValue(2 ** 20)),
        r: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(64)),
        p: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(64)),
        dklen: v.literal(keyBytes),
        salt: hex,
      }),
    }),
    v.object({
      ...base,
      kdf: v.literal('pbkdf2'),
      kdfparams: v.object({
        c: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10_000_000)),
        prf: v.literal('hmac-sha256'),
        dklen: v.literal(keyBytes),
        salt: hex,
      }),
    }),
  ]),
});

/**
 * Decrypts a key file of an Ethereum wallet: the Web3 Secret Storage Definition, version 3.
 * @returns the 32 bytes of the key.
 * @throws AntwayError `BAD_CONFIG` for another file, `REFUSED` for a wrong passphrase.
 */
export function openKeystore(text: string, passphrase: string): Uint8Array {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AntwayError('BAD_CONFIG', 'The keystore file is no JSON.', {}, { cause });
  }
  const { crypto } = s.parse(schema, value, 'BAD_CONFIG', 'the keystore file');
  const derived = derive(crypto, passphrase);
  const ciphertext = Buffer.from(crypto.ciphertext, 'hex');
  const mac = keccak_256(Buffer.concat([derived.subarray(16), ciphertext]));
  const expected = Buffer.from(crypto.mac, 'hex');
  if (expected.length !== mac.length || !timingSafeEqual(mac, expected)) {
    throw new AntwayError('REFUSED', 'This is not the passphrase of the keystore file.');
  }
  const iv = Buffer.from(crypto.cipherparams.iv, 'hex');
  if (ciphertext.length !== keyBytes || iv.length !== 16) {
    throw new AntwayError('BAD_CONFIG', 'The keystore file has no key of 32 bytes.');
  }
  const decipher = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), iv);
  return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
}

function derive(crypto: v.InferOutput<typeof schema>['crypto'], passphrase: string): Buffer {
  const salt = Buffer.from(crypto.kdfparams.salt, 'hex');
  if (crypto.kdf === 'pbkdf2') {
    return pbkdf2Sync(passphrase, salt, crypto.kdfparams.c, keyBytes, 'sha256');
  }
  const { n, r, p } = crypto.kdfparams;
  if (128 * n * r > maxMemoryBytes) {
    throw new AntwayError('BAD_CONFIG', 'The keystore file needs more than 1 GiB of memory.');
  }
  return scryptSync(passphrase, salt, keyBytes, { N: n, r, p, maxmem: 2 * maxMemoryBytes });
}
