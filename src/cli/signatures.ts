import { createHash } from 'node:crypto';
import { type Address, shortAddress } from '../address.ts';
import type { ByteSource } from '../content/byte-source.ts';
import type { NewContentHash } from '../content/content-hash.ts';
import { type SignatureCheck, SignedArchive } from '../content/signed-archive.ts';
import { AntwayError } from '../errors.ts';
import { plural } from './format.ts';
import type { Output } from './output.ts';

/** Some twenty times as fast as the one in JavaScript. */
export const nativeHash: NewContentHash = () => createHash('sha3-256');

/** @returns undefined if the content is no tarchive with signatures. @throws as `SignedArchive.open`. */
export async function signedArchiveIn(
  { tar }: { tar?: ByteSource },
  signal: AbortSignal,
): Promise<SignedArchive | undefined> {
  return tar && SignedArchive.open(tar, { signal, newHash: nativeHash });
}

type Names = ReadonlyMap<string, Address>;

/** A signature for the list of files. Only a valid one names a key. */
export function signatureText(check: SignatureCheck, names: Names): string {
  switch (check.state) {
    case 'valid': {
      const name = nameOf(check.signer, names);
      return `valid ${shortAddress(check.signer.hex)}${name ? ` ${name}` : ''}`;
    }
    case 'invalid':
      return 'INVALID';
    case 'no-key':
      return 'no key';
    case 'unsigned':
      return 'unsigned';
  }
}

export function signatureJson(check: SignatureCheck, names: Names): object {
  if (check.state === 'invalid') return { state: 'invalid', why: check.why };
  if (check.state !== 'valid') return { state: check.state };
  return { state: 'valid', signer: check.signer.hex, name: nameOf(check.signer, names) ?? null };
}

/** The name that the user’s configuration gives to a key’s pointer. Names of hosts and lists do not count here. */
function nameOf(signer: Address, names: Names): string | undefined {
  for (const [name, address] of names) if (address.equals(signer)) return `~${name}`;
  return undefined;
}

/** The signatures of all files of an archive. */
export interface SignatureSummary {
  /** Of the valid signatures. Null if there is none. */
  signer: string | null;
  name: string | null;
  valid: number;
  /** Paths. */
  invalid: string[];
  /** Files with a signature that cannot be checked, because the archive has no key. */
  noKey: number;
  unsigned: number;
}

/** Checks all signatures. @throws the errors of reading. */
export async function checkSignatures(
  archive: SignedArchive,
  names: Names,
  signal: AbortSignal,
): Promise<SignatureSummary> {
  const summary: SignatureSummary = {
    signer: null,
    name: null,
    valid: 0,
    invalid: [],
    noKey: 0,
    unsigned: 0,
  };
  for (const path of archive.paths) {
    const check = await archive.check(path, signal);
    if (check.state === 'invalid') summary.invalid.push(path);
    else if (check.state === 'no-key') summary.noKey++;
    else if (check.state === 'unsigned') summary.unsigned++;
    else {
      summary.valid++;
      summary.signer = check.signer.hex;
      summary.name = nameOf(check.signer, names) ?? null;
    }
  }
  return summary;
}

export function printSignatures(summary: SignatureSummary, output: Output): void {
  const { signer, name, valid, invalid, noKey, unsigned } = summary;
  const key = name ? `${signer} ${name}` : signer;
  if (signer) output.line(`signatures  ${plural(valid, 'file')} signed by ${key}`);
  for (const path of invalid) output.line(`signatures  INVALID: ${path}`);
  if (noKey > 0) output.line(`signatures  ${plural(noKey, 'file')} not checked: the archive has no key`);
  if (unsigned > 0) output.line(`signatures  ${plural(unsigned, 'file')} not signed`);
}

/** @throws AntwayError `CORRUPT` if a signature is not valid. */
export function requireValid({ invalid }: SignatureSummary): void {
  if (invalid.length === 0) return;
  throw new AntwayError('CORRUPT', `${plural(invalid.length, 'signature')} cannot be right.`, {
    path: invalid[0]!,
  });
}
