import { limits } from '../limits.ts';
import type { RandomAccess } from '../util/random-access.ts';
import { indexName, normalisePath, pathTooLong, refusalOfPath } from './member-path.ts';
import { blockBytes, parseTarHeader } from './tar-header.ts';
import {
  type IndexEntry,
  type IndexSignature,
  parseIndex,
  type RefusedEntry,
  readIndex,
} from './tar-index.ts';
import { DamagedTar, type TarMember, tarMembers } from './tar-members.ts';

export interface ListedMember extends TarMember {
  signature?: IndexSignature;
}

/** Unique paths, and the entries that cannot be served. */
export interface TarListing {
  members: ListedMember[];
  refused: RefusedEntry[];
}

/**
 * Lists a tar: by its index if it has a valid one, otherwise by its headers.
 * @param firstRead bytes at the tar's end that are searched for an index first.
 * @param withSignatures as of `parseIndex`. A tar without a valid index has none.
 * @throws AntwayError `TOO_LARGE` for an index with too many entries.
 */
export async function listTar(
  tar: RandomAccess,
  firstRead: number,
  signal?: AbortSignal,
  withSignatures?: boolean,
): Promise<TarListing> {
  return (await listByIndex(tar, firstRead, signal, withSignatures)) ?? listByHeaders(tar, signal);
}

async function listByIndex(
  tar: RandomAccess,
  firstRead: number,
  signal?: AbortSignal,
  withSignatures?: boolean,
): Promise<TarListing | undefined> {
  const index = await readIndex(tar, firstRead, signal);
  if (!index) return undefined;
  const { entries, refused } = parseIndex(index, tar.size, withSignatures);
  const first = entries.values().next().value;
  // If the last member is a tarchive, the tar also ends with an index, but with positions in the inner tarchive.
  if (!first || !(await hasHeader(tar, first, signal))) return undefined;
  return { members: Array.from(entries.values(), (entry) => ({ ...entry, modified: 0 })), refused };
}

async function hasHeader(
  tar: RandomAccess,
  { path, offset, size }: IndexEntry,
  signal?: AbortSignal,
): Promise<boolean> {
  if (offset < blockBytes) return false;
  const header = parseTarHeader(await tar.read(offset - blockBytes, offset, signal));
  if (header?.type !== '0' || header.size !== size) return false;
  // A long or non-ASCII name is in a preceding pax or GNU header, and this header has only an approximation.
  const isPlain = path.length <= 100 && /^[\x20-\x7e]*$/.test(path);
  return !isPlain || normalisePath(header.name) === path;
}

async function listByHeaders(tar: RandomAccess, signal?: AbortSignal): Promise<TarListing> {
  const { members, damage } = await scanTar(tar, limits.archiveEntries, signal);
  const refused: RefusedEntry[] = damage
    ? [{ path: '', reason: `the tar could not be read to its end: ${damage}` }]
    : [];
  const byPath = new Map<string, TarMember>();
  for (const member of members) {
    // Unchecked, a long path would be normalised again for each member that a global header gives it to.
    const isLong = member.path.length > limits.pathCharacters;
    const path = isLong ? member.path.slice(0, limits.pathCharacters) : normalisePath(member.path);
    const reason = isLong ? pathTooLong : refusalOfPath(path);
    if (reason) refused.push({ path, reason });
    else if (path !== indexName) byPath.set(path, { ...member, path });
  }
  return { members: [...byPath.values()], refused };
}

/** `damage` says why the scan ended before the tar's end. */
export interface TarScan {
  members: TarMember[];
  damage?: string;
}

/** @param maxMembers the scan stops after this many and sets `damage`. */
export async function scanTar(tar: RandomAccess, maxMembers: number, signal?: AbortSignal): Promise<TarScan> {
  const members: TarMember[] = [];
  try {
    for await (const member of tarMembers(tar, { signal })) {
      if (members.length === maxMembers) return { members, damage: `it has more than ${maxMembers} files` };
      members.push(member);
    }
    return { members };
  } catch (error) {
    if (!(error instanceof DamagedTar)) throw error;
    return { members, damage: error.message };
  }
}
