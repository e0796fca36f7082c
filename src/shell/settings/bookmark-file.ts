import { Address } from '../../address.ts';
import { nameProblem, skeletonsOf } from '../../names/petname.ts';

/** Export files of fetch>it, as its version 1 writes them. */
const version = 1;
const maxBytes = 1024 * 1024;
const maxBookmarks = 1_000;
const maxNameCharacters = 100;

/** Writes names as a bookmark file of fetch>it. @param now milliseconds since 1970. */
export function bookmarkFileOf(names: Readonly<Record<string, string>>, now: number): Blob {
  const bookmarks = Object.entries(names).map(([label, address]) => ({
    id: crypto.randomUUID(),
    label,
    address,
    addedAt: now,
  }));
  const text = JSON.stringify({ version, exportedAt: now, bookmarks }, null, 2);
  return new Blob([text], { type: 'application/json' });
}

/**
 * Reads a bookmark file of fetch>it.
 * @param names the names that exist, with their addresses. They stay as they are.
 * @returns the new names; undefined if the file is no bookmark file, or larger than 1 MiB. Bookmarks that are invalid,
 *   or whose address has a name, are left out, and so are those after the first 1,000.
 */
export async function namesOfBookmarkFile(
  file: Blob,
  names: Readonly<Record<string, string>>,
): Promise<Record<string, string> | undefined> {
  if (file.size > maxBytes) return undefined;
  let value: { version?: unknown; bookmarks?: unknown } | null;
  try {
    value = JSON.parse(await file.text());
  } catch {
    return undefined;
  }
  if (value?.version !== version || !Array.isArray(value.bookmarks)) return undefined;
  const taken = new Set(Object.keys(names).flatMap(skeletonsOf));
  const addresses = new Set(Object.values(names));
  const added = new Map<string, string>();
  for (const bookmark of value.bookmarks.slice(0, maxBookmarks)) {
    const { label, address } = Object(bookmark);
    if (typeof label !== 'string' || typeof address !== 'string' || !Address.isHex(address)) continue;
    const hex = address.toLowerCase();
    if (addresses.has(hex)) continue;
    const name = freeName(nameOf(label), taken);
    addresses.add(hex);
    for (const skeleton of skeletonsOf(name)) taken.add(skeleton);
    added.set(name, hex);
  }
  return Object.fromEntries(added);
}

/** A name of ASCII letters, digits, dots, dashes and underscores, so that labels in any script become names. */
function nameOf(label: string): string {
  const plain = label
    .slice(0, 10 * maxNameCharacters)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '');
  const name = plain
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '')
    .slice(0, maxNameCharacters - 5)
    .replace(/[._-]+$/, '');
  return nameProblem(name) ? 'bookmark' : name;
}

/** @param taken the skeletons of the names that exist. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let i = 2; skeletonsOf(free).some((each) => taken.has(each)); i++) free = `${name}-${i}`;
  return free;
}
