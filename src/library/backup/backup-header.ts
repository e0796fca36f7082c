import { iterations } from '../../owner/iterations.ts';
import { backupProblem } from './backup-problem.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** The length of the header, in bytes. `docs/reference/formats.md` has the layout. */
export const headerBytes = 64;
const signedBytes = 32;
const magic = new TextEncoder().encode('antwaybk');
const version = 1;
/** PBKDF2 with HMAC-SHA-256. */
const pbkdf2 = 1;
const recordBits = 20;
/** The plaintext of every record except for the last, in bytes. */
export const recordBytes: number = 2 ** recordBits;
const saltBytes = 16;

/** The keys of one backup, derived from its passphrase and its salt. */
export interface BackupKeys {
  /** HMAC-SHA-256, for the header. */
  header: CryptoKey;
  /** AES-256-GCM, for the records. */
  records: CryptoKey;
}

/** Makes the header of a new backup, with a new salt. */
export async function createHeader(passphrase: string): Promise<{ header: Bytes; keys: BackupKeys }> {
  const header = new Uint8Array(headerBytes);
  const view = new DataView(header.buffer);
  header.set(magic);
  view.setUint16(8, version, true);
  view.setUint8(10, pbkdf2);
  view.setUint8(11, recordBits);
  view.setUint32(12, iterations.made, true);
  crypto.getRandomValues(header.subarray(16, 16 + saltBytes));
  const keys = await deriveKeys(passphrase, header);
  header.set(
    new Uint8Array(await crypto.subtle.sign('HMAC', keys.header, header.subarray(0, signedBytes))),
    signedBytes,
  );
  return { header, keys };
}

/**
 * Checks a header, and derives the keys. The bounds are checked before the derivation, because a stranger may have made
 * the file.
 * @param header up to `headerBytes` bytes from the beginning of the file.
 * @throws AntwayError with a `fault`: `foreign`, `newer`, `limits`, `truncated`, `passphrase`.
 */
export async function openHeader(header: Bytes, passphrase: string): Promise<BackupKeys> {
  checkHeader(header);
  const keys = await deriveKeys(passphrase, header);
  const mac = header.subarray(signedBytes, headerBytes);
  const isRight = await crypto.subtle.verify('HMAC', keys.header, mac, header.subarray(0, signedBytes));
  if (!isRight) throw backupProblem('passphrase');
  return keys;
}

/** The checks of `openHeader` that need no passphrase. @throws as `openHeader`. */
function checkHeader(header: Bytes): void {
  if (header.length < magic.length || magic.some((byte, i) => header[i] !== byte))
    throw backupProblem('foreign');
  if (header.length < headerBytes) throw backupProblem('truncated');
  const view = new DataView(header.buffer, header.byteOffset, headerBytes);
  if (view.getUint16(8, true) !== version) throw backupProblem('newer');
  if (view.getUint8(10) !== pbkdf2 || view.getUint8(11) !== recordBits) throw backupProblem('newer');
  const rounds = view.getUint32(12, true);
  if (rounds < iterations.least || rounds > iterations.most) throw backupProblem('limits');
}

async function deriveKeys(passphrase: string, header: Bytes): Promise<BackupKeys> {
  const { subtle } = crypto;
  const text = new TextEncoder().encode(passphrase.normalize('NFKC'));
  const rounds = new DataView(header.buffer, header.byteOffset, headerBytes).getUint32(12, true);
  const password = await subtle.importKey('raw', text, 'PBKDF2', false, ['deriveBits']);
  const salt = header.slice(16, 16 + saltBytes);
  const secret = await subtle.deriveBits(
    { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: rounds },
    password,
    256,
  );
  const master = await subtle.importKey('raw', secret, 'HKDF', false, ['deriveKey']);
  const hkdf = (info: string) => ({
    ...{ name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array() },
    info: new TextEncoder().encode(info),
  });
  const [headerKey, records] = await Promise.all([
    subtle.deriveKey(
      hkdf('antway backup 1 header'),
      master,
      { name: 'HMAC', hash: 'SHA-256', length: 256 },
      false,
      ['sign', 'verify'],
    ),
    subtle.deriveKey(hkdf('antway backup 1 records'), master, { name: 'AES-GCM', length: 256 }, false, [
      'encrypt',
      'decrypt',
    ]),
  ]);
  return { header: headerKey, records };
}
