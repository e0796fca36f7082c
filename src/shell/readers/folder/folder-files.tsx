import { ContentLink } from '../../content-link.tsx';
import { formatBytes } from '../../format.ts';
import { Icon } from '../../icons.tsx';
import { opensInReader } from '../kinds.ts';
import { contentHref, readerHref } from '../location.ts';
import type { FolderFile } from '../read-content.ts';
import { sanitizeName } from '../sanitize-name.ts';
import { useBounded } from '../show-more.tsx';
import { readerTexts } from '../texts/texts.ts';

const filesPerStep = 500;

/** Folders and files. A file opens in its reader, or by itself if there is none. */
export function FolderFiles({ files, title }: { files: FolderFile[]; title: string }) {
  const t = readerTexts();
  const { shown, more } = useBounded(files.length, filesPerStep);
  return (
    <div class="card reader-files">
      <ul aria-label={t.list.label(sanitizeName(title))}>
        {files.slice(0, shown).map((file) => (
          <li key={file.location.path}>
            <FileLink file={file} />
          </li>
        ))}
      </ul>
      {more}
    </div>
  );
}

function FileLink({ file: { kind, name, location, size } }: { file: FolderFile }) {
  const t = readerTexts();
  const isFolder = kind === 'folder';
  const content = (
    <>
      <Icon name={isFolder ? 'folder' : 'file'} />
      <bdi class="file-name">{sanitizeName(name)}</bdi>
      <span class="note">{isFolder ? t.list.folder : formatBytes(size)}</span>
    </>
  );
  if (isFolder || opensInReader(name))
    return (
      <a class="reader-file" href={readerHref(location)}>
        {content}
      </a>
    );
  return (
    <ContentLink class="reader-file" href={contentHref(location)}>
      {content}
    </ContentLink>
  );
}
