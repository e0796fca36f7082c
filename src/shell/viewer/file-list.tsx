import { useEffect, useState } from 'preact/hooks';
import type { PathDetail } from '../../content/path-detail.ts';
import { encodePath } from '../../gateway/http/target.ts';
import { Button } from '../button.tsx';
import { ContentLink } from '../content-link.tsx';
import { formatBytes, formatCount } from '../format.ts';
import { ask } from '../gateway-api.ts';
import { Icon } from '../icons.tsx';
import { siteFiles } from '../site-bridge.ts';
import { viewerTexts } from '../texts/viewer.ts';

/** More entries would make the panel slow. */
const mostEntries = 500;

interface Props {
  /** The encoded path of the content's root. */
  root: string;
  /** Address of a site on its own origin. Null if the gateway's origin has the content. */
  site: string | null;
}

/** The folders and files of a site. Names are texts of a stranger. */
export function FileList({ root, site }: Props) {
  const t = viewerTexts();
  /** Decoded, empty or with a slash at its end. */
  const [folder, setFolder] = useState('');
  const [entries, setEntries] = useState<PathDetail[] | null>(null);
  const [isMissing, setMissing] = useState(false);
  useEffect(() => {
    let isOver = false;
    setEntries(null);
    setMissing(false);
    listOf(root, site, folder).then(
      (entries) => !isOver && setEntries(entries),
      () => !isOver && setMissing(true),
    );
    return () => {
      isOver = true;
    };
  }, [root, site, folder]);
  if (isMissing) return <p class="empty">{t.noFiles}</p>;
  if (!entries) return <p class="empty">{t.opening}</p>;
  const rest = entries.length - mostEntries;
  return (
    <>
      <ul class="file-list">
        {folder !== '' && (
          <li>
            <Button look="link" onClick={() => setFolder(folder.replace(/[^/]*\/$/, ''))}>
              <Icon name="up" size={16} /> {t.upFolder}
            </Button>
          </li>
        )}
        {entries.slice(0, mostEntries).map(({ path, display, size, path_type }) => (
          <li key={path}>
            {path_type === 'DIRECTORY' ? (
              <Button look="link" onClick={() => setFolder(folder + display)}>
                <Icon name="folder" size={16} /> <bdi>{display}</bdi>
              </Button>
            ) : (
              <ContentLink href={`${root}/${encodePath(folder + display)}`}>
                <bdi>{display}</bdi>
              </ContentLink>
            )}
            {path_type === 'FILE' && <span class="note">{formatBytes(size)}</span>}
          </li>
        ))}
      </ul>
      {rest > 0 && <p class="note">{t.moreFiles(formatCount(rest))}</p>}
    </>
  );
}

async function listOf(root: string, site: string | null, folder: string): Promise<PathDetail[]> {
  const encoded = encodePath(folder);
  const list = site ? await siteFiles(site, encoded) : await ask(`${root}/${encoded}?format=json`, {});
  if (!Array.isArray(list)) return [];
  return list.map(({ path, display, modified, size, path_type }) => ({
    path: String(path),
    display: String(display),
    modified: Number(modified),
    size: Number(size),
    path_type: path_type === 'DIRECTORY' ? 'DIRECTORY' : 'FILE',
  }));
}
