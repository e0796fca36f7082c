import { blake3 } from '@noble/hashes/blake3.js';
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { Address, equalBytes, fromHex } from '../address.ts';
import { type ListedMember, listTar } from '../archive/list-tar.ts';
import { keyName } from '../archive/member-path.ts';
import { limits } from '../limits.ts';
import type { RandomAccess } from '../util/random-access.ts';
import { Archive } from './archive.ts';
import { randomAccessSource, slice } from './byte-source.ts';
import { type NewContentHash, xornameOf } from './content-hash.ts';
import { addressContext } from './pointer.ts';

/** The result of a check of one file. */
export type SignatureCheck =
  /** The key of the pointer `signer` signed exactly these bytes. It did not sign the path or the archive. */
  | { state: 'valid'; signer: Address }
  /** `content`: the bytes are not those that the line names. `signature`: the archive's key did not sign them. */
  | { state: 'invalid'; why: 'content' | 'signature' }
  /** There is a signature, but the archive has no key to check it with. */
  | { state: 'no-key' }
  | { state: 'unsigned' };

const signatureDigits = 2 * 3309;
const keyBytes = 1952;
/** The digits of the key, and a line break of any system. */
const mostKeyFileBytes = 2 * keyBytes + 2;

interface Options {
  /** Bytes at the tar's end that are searched for an index first. */
  firstRead?: number;
  signal?: AbortSignal;
  newHash?: NewContentHash;
}

/**
 * The signatures in the index of a tarchive. docs/reference/formats.md says what they mean. Nothing of an archive that was
 * not checked is given away: a key is known only as the signer of a valid signature.
 */
export class SignedArchive {
  readonly #tar: RandomAccess;
  readonly #members: ReadonlyMap<string, ListedMember>;
  /** The archive as the gateway serves it, with its routes. */
  readonly #served: Archive;
  readonly #key: Uint8Array | undefined;
  readonly #newHash: NewContentHash | undefined;

  private constructor(
    tar: RandomAccess,
    members: ReadonlyMap<string, ListedMember>,
    served: Archive,
    key: Uint8Array | undefined,
    newHash: NewContentHash | undefined,
  ) {
    this.#tar = tar;
    this.#members = members;
    this.#served = served;
    this.#key = key;
    this.#newHash = newHash;
  }

  /**
   * Reads the index and the key of a tar whose bytes were verified.
   * @returns undefined if no file has a signature.
   * @throws AntwayError `TOO_LARGE` for an index with too many entries; the errors of reading.
   */
  static async open(
    tar: RandomAccess,
    { firstRead = limits.indexTailBytes, signal, newHash }: Options = {},
  ): Promise<SignedArchive | undefined> {
    const { members, refused } = await listTar(tar, firstRead, signal, true);
    if (!members.some(({ signature }) => signature)) return undefined;
    const byPath = new Map(members.map((member) => [member.path, member]));
    const key = await readKey(tar, byPath.get(keyName), signal);
    const source = randomAccessSource(tar);
    const served = members.map(({ path, offset, size, modified }) => ({
      path,
      size,
      modified,
      load: async () => slice(source, offset, size),
    }));
    return new SignedArchive(tar, byPath, await Archive.load(served, { refused }, signal), key, newHash);
  }

  /** The paths of all files, those without a signature too. */
  get paths(): Iterable<string> {
    return this.#members.keys();
  }

  /**
   * Finds the file whose bytes a gateway serves for a path. Security: a route can send the path of a signed file to another
   * file.
   * @returns undefined if the gateway serves no file of the archive, or an error page.
   */
  servedAt(path: string): { path: string; size: number } | undefined {
    const found = this.#served.find(path);
    if (found.kind !== 'member' || found.status !== undefined) return undefined;
    return this.#members.get(found.member.path);
  }

  /** Reads all bytes of a file, and checks its signature. @param path in the archive. @throws the errors of reading. */
  async check(path: string, signal?: AbortSignal): Promise<SignatureCheck> {
    const member = this.#members.get(path);
    if (!member?.signature) return { state: 'unsigned' };
    if (!this.#key) return { state: 'no-key' };
    const xorname = fromHex(member.signature.xorname);
    const signature = signatureIn(member.signature.signature);
    if (!signature || !ml_dsa65.verify(signature, xorname, this.#key)) {
      return { state: 'invalid', why: 'signature' };
    }
    const { offset, size } = member;
    const bytes: RandomAccess = {
      size,
      read: (start, end, reading) => this.#tar.read(offset + start, offset + end, reading),
    };
    const found = await xornameOf(bytes, {
      ...(signal && { signal }),
      ...(this.#newHash && { newHash: this.#newHash }),
    });
    if (!equalBytes(found, xorname)) return { state: 'invalid', why: 'content' };
    return { state: 'valid', signer: signerOf(this.#key) };
  }
}

/** The address of a key's pointer stands for the key: it is the hash of the key. */
function signerOf(key: Uint8Array): Address {
  return Address.fromBytes(blake3(key, { context: addressContext }));
}

function signatureIn(text: string): Uint8Array | undefined {
  return text.length === signatureDigits ? fromHex(text) : undefined;
}

/** @returns undefined if the archive has no key, or a file of this name that is none. */
async function readKey(
  tar: RandomAccess,
  member: ListedMember | undefined,
  signal?: AbortSignal,
): Promise<Uint8Array | undefined> {
  if (!member || member.size > mostKeyFileBytes) return undefined;
  const bytes = await tar.read(member.offset, member.offset + member.size, signal);
  const text = new TextDecoder().decode(bytes).replace(/\r?\n$/, '');
  return text.length === 2 * keyBytes && /^[0-9a-f]*$/i.test(text) ? fromHex(text) : undefined;
}
