import { type Address, toHex } from '../address.ts';
import { unlockProblem } from './unlock-problem.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** A passkey of the gateway's host. It serves one key only. */
export interface Passkey {
  /** The id of the credential. */
  credential: Bytes;
  /** As `AuthenticatorAttestationResponse.getTransports` gives them. */
  transports: string[];
  /** 32 random bytes, for which the authenticator computes its secret. */
  salt: Bytes;
}

/** A passkey that the user has just confirmed. */
export interface ConfirmedPasskey extends Passkey {
  /** The output of the PRF for the salt, as a key of HKDF. No script can export it. */
  prf: CryptoKey;
}

/** A seed that is encrypted with HKDF(PRF output, HMAC(device key, salt)). */
export interface PasskeyWrapping extends Passkey {
  nonce: Bytes;
  /** The seed, encrypted with AES-256-GCM. */
  wrapped: Bytes;
}

/** HMAC-SHA-256 with the device key. */
type Sign = (bytes: Bytes) => Promise<Bytes>;

/** Imports the output of a PRF, and overwrites it with zeros. */
export async function importPrf(output: Bytes): Promise<CryptoKey> {
  try {
    return await crypto.subtle.importKey('raw', output, 'HKDF', false, ['deriveKey']);
  } finally {
    output.fill(0);
  }
}

export async function wrapByPasskey(
  seed: Uint8Array,
  address: Address,
  { prf, credential, transports, salt }: ConfirmedPasskey,
  sign: Sign,
): Promise<PasskeyWrapping> {
  const nonce = crypto.getRandomValues(new Uint8Array(12));
  const head = { credential, transports, salt, nonce };
  const key = await wrappingKey(address, prf, head, sign);
  const cipher = { name: 'AES-GCM', iv: nonce, additionalData: context(address, head) };
  const wrapped = new Uint8Array(await crypto.subtle.encrypt(cipher, key, Uint8Array.from(seed)));
  return { ...head, wrapped };
}

/** @throws AntwayError `REFUSED` if the passkey or the browser is another one, or if the entry was changed. */
export async function unwrapByPasskey(
  wrapping: PasskeyWrapping,
  address: Address,
  prf: CryptoKey,
  sign: Sign,
): Promise<Bytes> {
  const key = await wrappingKey(address, prf, wrapping, sign);
  const cipher = { name: 'AES-GCM', iv: wrapping.nonce, additionalData: context(address, wrapping) };
  try {
    return new Uint8Array(await crypto.subtle.decrypt(cipher, key, wrapping.wrapped));
  } catch (cause) {
    throw unlockProblem('passkey', cause);
  }
}

/** A site can get the output of the PRF, but never the device key. So neither is enough. */
async function wrappingKey(
  address: Address,
  prf: CryptoKey,
  passkey: Passkey,
  sign: Sign,
): Promise<CryptoKey> {
  // No other input of the device key has this prefix: a backup has outputs for salts of passphrases.
  const salt = await sign(
    Uint8Array.from([...new TextEncoder().encode('antway passkey 1 '), ...passkey.salt]),
  );
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt, info: context(address, passkey) };
  const use: KeyUsage[] = ['encrypt', 'decrypt'];
  try {
    return await crypto.subtle.deriveKey(hkdf, prf, { name: 'AES-GCM', length: 256 }, false, use);
  } finally {
    salt.fill(0);
  }
}

/** Binds the wrapping to the pointer, whose address is the hash of its public key, and to the credential. */
function context(address: Address, { credential }: Passkey): Bytes {
  return new TextEncoder().encode(`antway owner key by passkey 1 ${address.hex} ${toHex(credential)}`);
}
