import type { FolderEntry } from './archive.ts';

/** One line of a listing, in the shape of AntTP's `PathDetail`. */
export interface PathDetail {
  path: string;
  display: string;
  /** Seconds since 1970, 0 when unknown. */
  modified: number;
  /** 0 for folders, and if the archive does not say. */
  size: number;
  path_type: 'FILE' | 'DIRECTORY';
}

export function pathDetail(entry: FolderEntry): PathDetail {
  if (entry.kind === 'folder') {
    return { path: entry.path, display: `${entry.name}/`, modified: 0, size: 0, path_type: 'DIRECTORY' };
  }
  const { path, modified, size = 0 } = entry.member;
  return { path, display: entry.name, modified, size, path_type: 'FILE' };
}
