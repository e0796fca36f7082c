import type { RefusedEntry } from '../archive/tar-index.ts';
import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { ByteSource } from './byte-source.ts';
import { Redirects, redirectsName } from './redirects.ts';
import { RouteMap, routeMapNames } from './route-map.ts';

export interface Member {
  /** From the archive's root, without a leading slash. */
  path: string;
  /** In bytes; undefined if the archive does not say. The size of the loaded source is authoritative. */
  size: number | undefined;
  /** Seconds since 1970; 0 if the archive does not say. */
  modified: number;
  load(signal?: AbortSignal): Promise<ByteSource>;
}

export type FolderEntry =
  | { kind: 'file'; name: string; member: Member }
  | { kind: 'folder'; name: string; path: string };

export type PathMatch =
  /** `status` is 404 for a member that a rule shows in place of a missing one. */
  | { kind: 'member'; member: Member; status?: 404 }
  /** A folder without a default document. `path` is `''` or ends with a slash. */
  | { kind: 'folder'; path: string; entries: readonly FolderEntry[] }
  /** A folder that was requested without the slash at its end, or a rule. `suffix` replaces the query. */
  | { kind: 'redirect'; path: string; status?: 301 | 302; suffix?: string }
  | { kind: 'missing'; reason: string };

export interface ArchiveDetails {
  /** If the routes cannot be read, an entry for them is added here. */
  refused: RefusedEntry[];
  name?: string | undefined;
}

const defaultDocument = 'index.html';

export class Archive {
  readonly members: ReadonlyMap<string, Member>;
  readonly routes: RouteMap;
  readonly #redirects: Redirects;
  readonly refused: readonly RefusedEntry[];
  /** The name that the author gave the archive, if any. */
  readonly name: string | undefined;
  readonly #folders: ReadonlyMap<string, readonly FolderEntry[]>;
  /** Members by the NFC form of their paths, built on first use: names typed on a Mac arrive in NFD. */
  #byNfc: Map<string, Member> | undefined;
  #foldersByNfc: Map<string, readonly FolderEntry[]> | undefined;

  constructor(
    members: Iterable<Member>,
    routes: RouteMap = RouteMap.empty,
    refused: readonly RefusedEntry[] = [],
    name?: string,
    redirects = Redirects.none,
  ) {
    this.members = new Map(Array.from(members, (member) => [member.path, member]));
    this.routes = routes;
    this.#redirects = redirects;
    this.refused = refused;
    this.name = name;
    this.#folders = foldersOf(this.members.values());
  }

  static async load(
    list: readonly Member[],
    details: ArchiveDetails,
    signal?: AbortSignal,
  ): Promise<Archive> {
    const routes = await readRoutes(list, details.refused, signal);
    const redirects = await readRedirects(list, details.refused, signal);
    return new Archive(list, routes, details.refused, details.name, redirects);
  }

  /** @param path from the archive's root, decoded, without a leading slash; `''` is the root. */
  find(path: string): PathMatch {
    const found = this.#find(path);
    const rule = found.kind === 'missing' ? this.#redirects.resolve(path) : undefined;
    if (!rule) return found;
    if (rule.status === 301 || rule.status === 302) {
      return { kind: 'redirect', path: rule.path, status: rule.status, suffix: rule.suffix };
    }
    const shown = this.#find(rule.path);
    if (shown.kind !== 'member') {
      return { kind: 'missing', reason: `its redirect leads to “${rule.path}”, which is not in the archive` };
    }
    return rule.status === 404 ? { ...shown, status: 404 } : shown;
  }

  #find(path: string): PathMatch {
    const route = this.routes.resolve(path);
    if (route !== undefined) {
      const member = this.member(route);
      return member
        ? { kind: 'member', member }
        : { kind: 'missing', reason: `its route leads to “${route}”, which is not in the archive` };
    }
    const member = this.member(path);
    if (member) return { kind: 'member', member };

    const folder = path === '' || path.endsWith('/') ? path : `${path}/`;
    const entries = this.folder(folder);
    if (!entries) {
      const refusal = this.refused.find((entry) => entry.path === path);
      return {
        kind: 'missing',
        reason: refusal ? `it was refused: ${refusal.reason}` : 'it is not in the archive',
      };
    }
    if (folder !== path) return { kind: 'redirect', path: folder };
    const index = this.member(folder + defaultDocument);
    return index ? { kind: 'member', member: index } : { kind: 'folder', path: folder, entries };
  }

  /** @param path `''` for the root, otherwise with a slash at its end. */
  folder(path: string): readonly FolderEntry[] | undefined {
    const exact = this.#folders.get(path);
    if (exact) return exact;
    this.#foldersByNfc ??= new Map(
      Array.from(this.#folders, ([path, entries]) => [path.normalize('NFC'), entries]),
    );
    return this.#foldersByNfc.get(path.normalize('NFC'));
  }

  /** Finds also a path that differs only in Unicode normalisation. */
  member(path: string): Member | undefined {
    const exact = this.members.get(path);
    if (exact) return exact;
    this.#byNfc ??= new Map(
      Array.from(this.members.values(), (member) => [member.path.normalize('NFC'), member]),
    );
    return this.#byNfc.get(path.normalize('NFC'));
  }
}

/** By path with a slash at the end (`''` is the root). Sorted: folders first, then by name. */
function foldersOf(members: Iterable<Member>): Map<string, FolderEntry[]> {
  const folders = new Map<string, FolderEntry[]>([['', []]]);
  const folder = (path: string): FolderEntry[] => {
    const known = folders.get(path);
    if (known) return known;
    if (folders.size === limits.archiveFolders) {
      throw new AntwayError('TOO_LARGE', `The archive has more than ${limits.archiveFolders} folders.`);
    }
    const { parent, name } = split(path.slice(0, -1));
    const entries: FolderEntry[] = [];
    folders.set(path, entries);
    folder(parent).push({ kind: 'folder', name, path });
    return entries;
  };
  for (const member of members) {
    const { parent, name } = split(member.path);
    folder(parent).push({ kind: 'file', name, member });
  }
  const order = new Intl.Collator('en', { numeric: true }).compare;
  for (const entries of folders.values()) {
    entries.sort((a, b) => (a.kind === b.kind ? order(a.name, b.name) : a.kind === 'folder' ? -1 : 1));
  }
  return folders;
}

function split(path: string): { parent: string; name: string } {
  const slash = path.lastIndexOf('/') + 1;
  return { parent: path.slice(0, slash), name: path.slice(slash) };
}

/** Adds a damaged route file to the refused entries; the archive is served without it. */
async function readRoutes(
  members: readonly Member[],
  refused: RefusedEntry[],
  signal?: AbortSignal,
): Promise<RouteMap> {
  for (const name of routeMapNames) {
    const member = members.find(({ path }) => path === name);
    if (!member) continue;
    const { text } = await readText(member, limits.routeMapBytes, signal);
    const routes = text === undefined ? undefined : RouteMap.parse(text);
    if (routes) return routes;
    refused.push({ path: name, reason: 'its routes cannot be read, so they are not used' });
  }
  return RouteMap.empty;
}

/** Adds an entry for rules that are not used; the archive is served without them. */
async function readRedirects(
  members: readonly Member[],
  refused: RefusedEntry[],
  signal?: AbortSignal,
): Promise<Redirects> {
  const member = members.find(({ path }) => path === redirectsName);
  if (!member) return Redirects.none;
  const { text, problem } = await readText(member, limits.redirectsBytes, signal);
  const redirects = text === undefined ? Redirects.none : Redirects.parse(text);
  const reason = problem ? `${problem}, so it is not used` : 'some of its rules cannot be used';
  if (problem || redirects.isPartial) refused.push({ path: redirectsName, reason });
  return redirects;
}

const unreadable = new Set(['CORRUPT', 'UNSUPPORTED', 'TOO_LARGE']);

/** @throws AntwayError for data that could not be fetched. An unreadable member has a `problem`. */
async function readText(
  member: Member,
  most: number,
  signal?: AbortSignal,
): Promise<{ text?: string; problem?: string }> {
  try {
    const source = await member.load(signal);
    if (source.size > most) return { problem: 'it is too large' };
    return { text: new TextDecoder().decode(await source.read(0, source.size, signal)) };
  } catch (error) {
    // An error with an address is that of a chunk, which another peer may have.
    const isOfMember =
      error instanceof AntwayError && unreadable.has(error.code) && error.details.address === undefined;
    if (isOfMember) return { problem: 'it cannot be read' };
    throw error;
  }
}
