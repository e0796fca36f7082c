import type { Archive, FolderEntry } from '../content/archive.ts';
import { pathDetail } from '../content/path-detail.ts';
import { type Html, html, page } from './page.ts';
import { encodePath } from './target.ts';

/** A folder's contents as JSON: a list of `PathDetail`. */
export function listingJson(entries: readonly FolderEntry[]): string {
  return JSON.stringify(entries.map(pathDetail));
}

/**
 * A folder's contents as a page of plain links.
 * @param path of the folder in the archive: `''` or with a slash at its end.
 * @param title what the archive is called in its URL.
 */
export function listingPage(
  archive: Archive,
  path: string,
  entries: readonly FolderEntry[],
  title: string,
): string {
  const files = entries.filter((entry) => entry.kind === 'file').length;
  const folders = entries.length - files;
  const rows = entries.map((entry) => row(entry, path));
  const up =
    path === ''
      ? ''
      : html`<tr><td><a href="../">../ <span class="quiet">(up)</span></a></td><td class="number">–</td></tr>
`;
  const heading = path === '' ? title : path;
  return page(
    `${heading} – Antway`,
    html`<h1>Contents of ${heading}</h1>
<p class="quiet">${count(folders, 'folder')}, ${count(files, 'file')}. <a href="?format=json">As JSON</a>, <a href="?format=tar">as a tar</a></p>
<table>
<thead><tr><th scope="col">Name</th><th scope="col" class="number">Size</th></tr></thead>
<tbody>
${up}${rows}</tbody>
</table>
${path === '' && archive.refused.length > 0 ? refusedSection(archive) : ''}`,
  );
}

/** Refused entries that a listing names; the rest are counted. */
const namedRefusals = 100;

function refusedSection({ refused }: Archive): Html {
  const items = refused.slice(0, namedRefusals).map(
    ({ path, reason }) => html`<li>${path ? html`<code>${path}</code>: ` : ''}${reason}</li>
`,
  );
  const more = refused.length - items.length;
  return html`<h2>Not served</h2>
<p class="quiet">${count(refused.length, 'entry', 'entries')} of this archive cannot be served:</p>
<ul class="quiet">
${items}${more > 0 ? html`<li>and ${more} more</li>` : ''}</ul>`;
}

function row(entry: FolderEntry, folder: string): Html {
  const display = entry.kind === 'folder' ? `${entry.name}/` : entry.name;
  // Relative to the folder, so that it holds under an address and under a name; `./` keeps a colon in a name
  // from being read as a scheme.
  const path = (entry.kind === 'folder' ? entry.path : entry.member.path).slice(folder.length);
  const bytes = entry.kind === 'folder' ? undefined : entry.member.size;
  const size = bytes === undefined ? '–' : formatBytes(bytes);
  return html`<tr><td><a href="./${encodePath(path)}">${display}</a></td><td class="number">${size}</td></tr>
`;
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}

function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), units.length);
  return `${(bytes / 1000 ** power).toFixed(1)} ${units[power - 1]}`;
}
