import type { Archive, FolderEntry } from '../../content/archive.ts';
import { pathDetail } from '../../content/path-detail.ts';
import type { Language } from '../../languages.ts';
import { byteFormat } from '../../util/byte-format.ts';
import { encodePath } from '../http/target.ts';
import { type Html, html, page, reportLink, shellTarget } from './page.ts';
import type { Reader } from './reader.ts';
import type { PageTexts } from './texts/texts.ts';

/** A list of `PathDetail`. */
export function listingJson(entries: readonly FolderEntry[]): string {
  return JSON.stringify(entries.map(pathDetail));
}

/**
 * @param path `''`, or the path of a folder with a slash at its end.
 * @param title name of the archive in its URL.
 * @param reportUrl where the user can report the site to the host.
 * @param appUrl where the app shows the folder: with its readers of documents, pictures and sounds.
 */
export function listingPage(
  archive: Archive,
  path: string,
  entries: readonly FolderEntry[],
  title: string,
  reader: Reader,
  reportUrl?: string,
  appUrl?: string,
): string {
  const { texts } = reader;
  const files = entries.filter((entry) => entry.kind === 'file').length;
  const folders = entries.length - files;
  const numbers = numbersIn(texts.language);
  const rows = entries.map((entry) => row(entry, path, numbers));
  const up =
    path === ''
      ? ''
      : html`<tr><td><a href="../">../ <span class="quiet">${texts.up}</span></a></td><td class="number">–</td></tr>
`;
  const heading = texts.contentsOf(path === '' ? title : path);
  const counts = `${texts.folders(folders, numbers.count(folders))}, ${texts.files(files, numbers.count(files))}`;
  return page(
    reader,
    path === '' ? title : path,
    html`<h1>${heading}</h1>
<p class="quiet">${counts}. <a href="?format=json">${texts.asJson}</a>, <a href="?format=tar">${texts.asTar}</a>${appUrl ? html`, <a href="${appUrl}"${shellTarget(reader)}>${texts.inApp}</a>` : ''}</p>
<table>
<thead><tr><th scope="col">${texts.name}</th><th scope="col" class="number">${texts.size}</th></tr></thead>
<tbody>
${up}${rows}</tbody>
</table>
${path === '' && archive.refused.length > 0 ? refusedSection(archive, texts, numbers) : ''}
${reportUrl ? reportLink(reportUrl, texts) : ''}`,
  );
}

/** A listing counts further refused entries, but does not name them. */
const namedRefusals = 100;

function refusedSection({ refused }: Archive, texts: PageTexts, numbers: Numbers): Html {
  const items = refused.slice(0, namedRefusals).map(
    ({
      path,
      reason,
    }) => html`<li>${path ? html`<code>${path}</code>: ` : ''}<span lang="en">${reason}</span></li>
`,
  );
  const more = refused.length - items.length;
  return html`<h2>${texts.notServed}</h2>
<p class="quiet">${texts.refused(refused.length, numbers.count(refused.length))}</p>
<ul class="quiet">
${items}${more > 0 ? html`<li>${texts.andMore(more)}</li>` : ''}</ul>`;
}

function row(entry: FolderEntry, folder: string, { bytes }: Numbers): Html {
  const display = entry.kind === 'folder' ? `${entry.name}/` : entry.name;
  // Relative to the folder, so that the path works under an address and under a name. Without `./`, a browser would
  // read a colon in a name as the end of a scheme.
  const path = (entry.kind === 'folder' ? entry.path : entry.member.path).slice(folder.length);
  const size = entry.kind === 'folder' ? undefined : entry.member.size;
  return html`<tr><td><a href="./${encodePath(path)}">${display}</a></td><td class="number">${size === undefined ? '–' : bytes(size)}</td></tr>
`;
}

interface Numbers {
  count(number: number): string;
  bytes(number: number): string;
}

/** Each page creates its formats once, because creating a format costs more than using it. */
function numbersIn(language: Language): Numbers {
  const whole = new Intl.NumberFormat(language);
  return { count: (number) => whole.format(number), bytes: byteFormat(language, 'one') };
}
