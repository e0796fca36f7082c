import type { Archive, FolderEntry } from '../../content/archive.ts';
import { replaceDisruptive } from '../../util/sanitize-text.ts';
import { encodePath } from '../http/target.ts';
import { type Html, html } from './page.ts';
import type { PageTexts } from './texts/texts.ts';

/** The place in a site where a file is missing. */
export interface MissingFrom {
  /** The path that the site does not have, for display: cut, without characters that change the text around it. */
  path: string;
  /** The encoded URL path of the site, without a slash at its end. */
  root: string;
  /** The deepest folder of the path that exists, with a slash at its end. Empty for the site itself. */
  folder: string;
  entries: readonly FolderEntry[];
}

/** Most entries on an error page. */
const listedEntries = 200;

export function missingFrom(archive: Archive, missing: string, root: string): MissingFrom {
  const path = replaceDisruptive(missing.slice(0, 200), '');
  const parts = missing.split('/').slice(0, -1);
  for (; parts.length > 0; parts.pop()) {
    const folder = `${parts.join('/')}/`;
    const entries = archive.folder(folder);
    if (entries) return { path, root, folder, entries };
  }
  return { path, root, folder: '', entries: archive.folder('') ?? [] };
}

/** A folded list of the files that are there. */
export function filesOf({ root, folder, entries }: MissingFrom, texts: PageTexts): Html {
  if (entries.length === 0) return html``;
  const items = entries.slice(0, listedEntries).map((entry) => {
    const isFolder = entry.kind === 'folder';
    const path = isFolder ? entry.path : entry.member.path;
    return html`<li><a href="${root}/${encodePath(path)}"><bdi>${isFolder ? `${entry.name}/` : entry.name}</bdi></a></li>
`;
  });
  const more = entries.length - items.length;
  return html`<details><summary>${texts.filesOf(folder)}</summary>
<ul class="files">
${items}${more > 0 ? html`<li>${texts.andMore(more)}</li>` : ''}</ul>
</details>`;
}
