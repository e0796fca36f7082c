import { type SignatureCheck, SignedArchive } from '../../content/signed-archive.ts';
import { ownedPointers } from '../pointers/owned.ts';
import { tarAt } from './gateway-tar.ts';

/** The signatures of one archive, and the keys of the user. */
export interface Signatures {
  /** The address of the archive, 64 hex digits: for a pointer, its target. Another version has other signatures. */
  content: string;
  /** The size of the file that opens at a path. Undefined if no file of the archive opens there. */
  sizeAt(path: string): number | undefined;
  /** Checks the file that opens at a path. One file at a time is read. */
  check(path: string, signal: AbortSignal): Promise<SignatureCheck>;
  /** The label of each key that is proven to be the user's, by the address of its pointer. */
  owned: ReadonlyMap<string, string>;
}

/**
 * Reads the signatures of an archive.
 * @param address of the content or a pointer, 64 hex digits. @returns undefined if no file is signed.
 * @throws as `tarAt` and `SignedArchive.open`.
 */
export async function openSignatures(address: string, signal: AbortSignal): Promise<Signatures | undefined> {
  const tar = await tarAt(address, signal);
  const archive = tar && (await SignedArchive.open(tar, { signal }));
  if (!archive) return undefined;
  let last: Promise<unknown> = Promise.resolve();
  return {
    content: tar.content,
    owned: await ownedKeys(),
    sizeAt: (path) => archive.servedAt(path)?.size,
    async check(path, signal) {
      const served = archive.servedAt(path);
      if (!served) return { state: 'unsigned' };
      const check = () => {
        signal.throwIfAborted();
        return archive.check(served.path, signal);
      };
      const checked = last.then(check, check);
      last = checked;
      return checked;
    },
  };
}

/** Browsers can block databases. Then no key counts as the user's. */
async function ownedKeys(): Promise<ReadonlyMap<string, string>> {
  try {
    return await ownedPointers.provenLabels();
  } catch (error) {
    console.warn('antway: your keys cannot be read', error);
    return new Map();
  }
}
