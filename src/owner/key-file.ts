import { Address, fromHex, toHex } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { iterations } from './iterations.ts';
import { OwnerKey } from './owner-key.ts';

type Bytes = Uint8Array<ArrayBuffer>;

const leastPassphraseCharacters = 8;
const saltBytes = 16;
const nonceBytes = 12;

/**
 * The file of an owner's key. docs/reference/formats.md has the layout.
 * @throws AntwayError `BAD_CONFIG` if the passphrase has less than 8 characters.
 */
export async function createKeyFile(seed: Uint8Array, passphrase: string): Promise<string> {
  checkPassphrase(passphrase);
  const salt = crypto.getRandomValues(new Uint8Array(saltBytes));
  const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes));
  const { address } = new OwnerKey(seed);
  const head = { address: address.hex, iterations: iterations.made, salt, nonce };
  const key = await wrappingKey(passphrase, head);
  const additionalData = authenticated(head);
  const cipher = { name: 'AES-GCM', iv: nonce, additionalData };
  const wrapped = new Uint8Array(await crypto.subtle.encrypt(cipher, key, Uint8Array.from(seed)));
  const fields = {
    antwayKey: 1,
    address: head.address,
    kdf: 'PBKDF2-HMAC-SHA-256',
    iterations: head.iterations,
    salt: toHex(salt),
    nonce: toHex(nonce),
    seed: toHex(wrapped),
  };
  return `${JSON.stringify(fields, null, 2)}\n`;
}

/** @throws AntwayError `BAD_CONFIG` if the passphrase has less than 8 characters. */
export function checkPassphrase(passphrase: string): void {
  if ([...passphrase].length >= leastPassphraseCharacters) return;
  const message = `The passphrase needs at least ${leastPassphraseCharacters} characters.`;
  throw new AntwayError('BAD_CONFIG', message);
}

/** A key file of which nothing is decrypted. */
export interface KeyFile {
  /** The pointer of the key. Only the passphrase proves that it belongs to the key. */
  address: Address;
  /** @throws AntwayError `REFUSED` if the passphrase is wrong, or if the file was changed. */
  seed(passphrase: string): Promise<Bytes>;
}

/** Parses a key file. @throws AntwayError `BAD_CONFIG` if it is none, `UNSUPPORTED` for a newer version. */
export function parseKeyFile(text: string): KeyFile {
  const fields = fieldsOf(text);
  const head: Head = {
    address: fields.address,
    iterations: fields.iterations,
    salt: fromHex(fields.salt),
    nonce: fromHex(fields.nonce),
  };
  const address = Address.fromHex(fields.address);
  return {
    address,
    async seed(passphrase) {
      const key = await wrappingKey(passphrase, head);
      const cipher = { name: 'AES-GCM', iv: head.nonce, additionalData: authenticated(head) };
      const seed = await crypto.subtle.decrypt(cipher, key, fromHex(fields.seed)).catch((cause) => {
        throw new AntwayError(
          'REFUSED',
          'The passphrase is wrong, or the key file was changed.',
          {},
          { cause },
        );
      });
      return new Uint8Array(seed);
    },
  };
}

interface Head {
  /** In hex. */
  address: string;
  iterations: number;
  salt: Bytes;
  nonce: Bytes;
}

function fieldsOf(text: string) {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notAKeyFile();
  }
  const version = (value as { antwayKey?: unknown } | null)?.antwayKey;
  if (typeof version === 'number' && version > 1) {
    throw new AntwayError('UNSUPPORTED', `This is a key file of version ${version}; version 1 is known.`);
  }
  const hex =
    (bytes: number) =>
    (field: unknown): field is string =>
      typeof field === 'string' && field.length === 2 * bytes && /^[0-9a-f]*$/.test(field);
  const fields = value as Record<'address' | 'salt' | 'nonce' | 'seed', string> & { iterations: number };
  const isValid =
    version === 1 &&
    (value as { kdf?: unknown }).kdf === 'PBKDF2-HMAC-SHA-256' &&
    Number.isInteger(fields.iterations) &&
    fields.iterations >= iterations.least &&
    fields.iterations <= iterations.most &&
    hex(32)(fields.address) &&
    hex(saltBytes)(fields.salt) &&
    hex(nonceBytes)(fields.nonce) &&
    hex(32 + 16)(fields.seed);
  if (!isValid) throw notAKeyFile();
  return fields;
}

function notAKeyFile(): AntwayError {
  return new AntwayError('BAD_CONFIG', 'This is not a key file of Antway.');
}

async function wrappingKey(passphrase: string, { salt, iterations: rounds }: Head): Promise<CryptoKey> {
  const { subtle } = crypto;
  const text = new TextEncoder().encode(passphrase.normalize('NFKC'));
  const password = await subtle.importKey('raw', text, 'PBKDF2', false, ['deriveKey']);
  const derivation = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: rounds };
  const use: KeyUsage[] = ['encrypt', 'decrypt'];
  return subtle.deriveKey(derivation, password, { name: 'AES-GCM', length: 256 }, false, use);
}

/** The address cannot be replaced without the passphrase. */
function authenticated({ address, iterations: rounds }: Head): Bytes {
  return new TextEncoder().encode(`antway key 1 ${address} ${rounds}`);
}
