import type { Address } from '../address.ts';
import { iterations } from './iterations.ts';
import { unlockProblem } from './unlock-problem.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** A seed that is encrypted with HKDF(PBKDF2(passphrase) ‖ device secret). */
export interface PassphraseWrapping {
  iterations: number;
  salt: Bytes;
  nonce: Bytes;
  /** The seed, encrypted with AES-256-GCM. */
  wrapped: Bytes;
  /**
   * For a key of another profile: that profile's device secret for this salt, XOR one that only this profile can make.
   */
  mask?: Bytes;
  /** For a key of another profile: true once the seed gave the key of its pointer. */
  isProven?: true;
}

/** @param deviceSecret gives the bytes that this profile adds for a salt. */
export async function wrapByPassphrase(
  seed: Uint8Array,
  address: Address,
  passphrase: string,
  deviceSecret: (salt: Bytes) => Promise<Bytes>,
): Promise<PassphraseWrapping> {
  const salt = crypto.getRandomValues(new Uint8Array(16));
  const nonce = crypto.getRandomValues(new Uint8Array(12));
  const head = { iterations: iterations.made, salt, nonce };
  const key = await wrappingKey(address, passphrase, head, await deviceSecret(salt));
  const cipher = { name: 'AES-GCM', iv: nonce };
  const wrapped = new Uint8Array(await crypto.subtle.encrypt(cipher, key, Uint8Array.from(seed)));
  return { ...head, wrapped };
}

/** @throws AntwayError `REFUSED` if the passphrase is wrong, or if the entry is of another browser. */
export async function unwrapByPassphrase(
  wrapping: PassphraseWrapping,
  address: Address,
  passphrase: string,
  deviceSecret: Bytes,
): Promise<Bytes> {
  const key = await wrappingKey(address, passphrase, wrapping, deviceSecret);
  const cipher = { name: 'AES-GCM', iv: wrapping.nonce };
  try {
    return new Uint8Array(await crypto.subtle.decrypt(cipher, key, wrapping.wrapped));
  } catch (cause) {
    throw unlockProblem('passphrase', cause);
  }
}

async function wrappingKey(
  address: Address,
  passphrase: string,
  { salt, iterations: rounds }: Pick<PassphraseWrapping, 'salt' | 'iterations'>,
  deviceSecret: Bytes,
): Promise<CryptoKey> {
  const { subtle } = crypto;
  const text = new TextEncoder().encode(passphrase.normalize('NFKC'));
  const password = await subtle.importKey('raw', text, 'PBKDF2', false, ['deriveBits']);
  const derivation = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: rounds };
  const stretched = new Uint8Array(await subtle.deriveBits(derivation, password, 256));
  const both = Uint8Array.from([...stretched, ...deviceSecret]);
  const master = await subtle.importKey('raw', both, 'HKDF', false, ['deriveKey']);
  for (const bytes of [text, stretched, both]) bytes.fill(0);
  const info = new TextEncoder().encode(`antway owner key 1 ${address.hex}`);
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info };
  const use: KeyUsage[] = ['encrypt', 'decrypt'];
  return subtle.deriveKey(hkdf, master, { name: 'AES-GCM', length: 256 }, false, use);
}
