import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { ByteSource } from './byte-source.ts';
import { RouteMap, routeMapNames } from './route-map.ts';
import type { RefusedEntry } from './tarchive-index.ts';

/** A file in an archive. */
export interface Member {
  /** From the archive's root, without a leading slash. */
  path: string;
  /** In bytes; undefined when the archive does not tell. What `open` gives is the authority. */
  size: number | undefined;
  /** Seconds since 1970; 0 when the archive does not tell. */
  modified: number;
  load(signal?: AbortSignal): Promise<ByteSource>;
}

/** What a folder holds: a member, or a folder below it. */
export type FolderEntry =
  | { kind: 'file'; name: string; member: Member }
  | { kind: 'folder'; name: string; path: string };

/** What a path in an archive leads to. */
export type PathMatch =
  | { kind: 'member'; member: Member }
  /** A folder without a default document. `path` is `''` or ends with a slash. */
  | { kind: 'folder'; path: string; entries: readonly FolderEntry[] }
  /** A folder that was asked for without the slash at its end. */
  | { kind: 'redirect'; path: string }
  | { kind: 'missing'; reason: string };

/** What an archive tells besides its files. */
export interface ArchiveDetails {
  /** Gets the routes added, if they cannot be read. */
  refused: RefusedEntry[];
  name?: string | undefined;
}

const defaultDocument = 'index.html';

/** A set of files with paths. */
export class Archive {
  readonly members: ReadonlyMap<string, Member>;
  readonly routes: RouteMap;
  /** Entries that cannot be served, and why. */
  readonly refused: readonly RefusedEntry[];
  /** What its author calls it, if it tells. */
  readonly name: string | undefined;
  readonly #folders: ReadonlyMap<string, readonly FolderEntry[]>;
  /** Paths by their NFC form, made when first needed: names typed on a Mac arrive in NFD. */
  #byNfc: Map<string, Member> | undefined;
  #foldersByNfc: Map<string, readonly FolderEntry[]> | undefined;

  constructor(
    members: Iterable<Member>,
    routes: RouteMap = RouteMap.empty,
    refused: readonly RefusedEntry[] = [],
    name?: string,
  ) {
    this.members = new Map(Array.from(members, (member) => [member.path, member]));
    this.routes = routes;
    this.refused = refused;
    this.name = name;
    this.#folders = foldersOf(this.members.values());
  }

  /** An archive with the routes that it brings along. */
  static async load(
    list: readonly Member[],
    details: ArchiveDetails,
    signal?: AbortSignal,
  ): Promise<Archive> {
    const routes = await readRoutes(list, details.refused, signal);
    return new Archive(list, routes, details.refused, details.name);
  }

  /**
   * @param path from the archive's root, decoded, without a leading slash; `''` is the root.
   */
  find(path: string): PathMatch {
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

  /** What a folder holds. @param path `''` for the root, else with a slash at its end. */
  folder(path: string): readonly FolderEntry[] | undefined {
    const exact = this.#folders.get(path);
    if (exact) return exact;
    this.#foldersByNfc ??= new Map(
      Array.from(this.#folders, ([path, entries]) => [path.normalize('NFC'), entries]),
    );
    return this.#foldersByNfc.get(path.normalize('NFC'));
  }

  /** A member by its exact path, or by one that differs only in Unicode normalisation. */
  member(path: string): Member | undefined {
    const exact = this.members.get(path);
    if (exact) return exact;
    this.#byNfc ??= new Map(
      Array.from(this.members.values(), (member) => [member.path.normalize('NFC'), member]),
    );
    return this.#byNfc.get(path.normalize('NFC'));
  }
}

/** Every folder, by its path with a slash at the end (`''` is the root), with folders first and names in order. */
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

/** The archive's own routes. A damaged file of routes is reported among the refused, and the rest serves. */
async function readRoutes(
  members: readonly Member[],
  refused: RefusedEntry[],
  signal?: AbortSignal,
): Promise<RouteMap> {
  for (const name of routeMapNames) {
    const source = await members.find(({ path }) => path === name)?.load(signal);
    if (!source) continue;
    const bytes = source.size <= limits.routeMapBytes ? await source.read(0, source.size, signal) : undefined;
    const routes = bytes && RouteMap.parse(new TextDecoder().decode(bytes));
    if (routes) return routes;
    refused.push({ path: name, reason: 'its routes cannot be read, so they are not used' });
  }
  return RouteMap.empty;
}
