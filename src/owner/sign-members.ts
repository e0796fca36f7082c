import { toHex } from '../address.ts';
import type { TarEntry } from '../archive/create-tar.ts';
import { keyName } from '../archive/member-path.ts';
import { type NewContentHash, xornameOf } from '../content/content-hash.ts';
import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import { bufferAccess } from '../util/random-access.ts';
import type { OwnerKey } from './owner-key.ts';

/** The least bytes of an index for each signature: its digits, those of the xorname, and two blanks. */
const signatureBytes = 2 * 3309 + 64 + 2;

interface Options {
  signal?: AbortSignal;
  newHash?: NewContentHash;
  /** Called before each file, with the number of signed files. */
  progress?: (signed: number, all: number) => void;
}

/**
 * Signs the files of an archive with an owner's key, and adds the file `archive.tar.key` with the public key. A file of
 * that name is replaced. Reads every file once. The same files and key give the same archive.
 * @throws AntwayError `TOO_LARGE` for more signatures than an index holds; the errors of reading.
 */
export async function signMembers(
  entries: readonly TarEntry[],
  key: OwnerKey,
  { signal, newHash, progress }: Options = {},
): Promise<TarEntry[]> {
  if (entries.length === 0) return [];
  const keyFile = bufferAccess(new TextEncoder().encode(`${toHex(key.publicKey)}\n`));
  const all = [...entries.filter(({ path }) => path !== keyName), { path: keyName, source: keyFile }];
  const most = Math.floor(limits.indexBytes / signatureBytes);
  if (all.length > most) {
    const message = `An archive holds at most ${most} signed files; these are ${all.length}.`;
    throw new AntwayError('TOO_LARGE', message);
  }
  const signed: TarEntry[] = [];
  for (const { path, source } of all) {
    progress?.(signed.length, all.length);
    const xorname = await xornameOf(source, { ...(signal && { signal }), ...(newHash && { newHash }) });
    const signature = { xorname: toHex(xorname), signature: toHex(key.signContent(xorname)) };
    signed.push({ path, source, signature });
  }
  return signed;
}
