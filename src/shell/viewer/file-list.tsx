import { useEffect, useState } from 'preact/hooks';
import type { PathDetail } from '../../content/path-detail.ts';
import { isAbort } from '../../errors.ts';
import { encodePath } from '../../gateway/http/target.ts';
import { Button } from '../button.tsx';
import { ContentLink } from '../content-link.tsx';
import { formatBytes, formatCount } from '../format.ts';
import { ask } from '../gateway-api.ts';
import { Icon } from '../icons.tsx';
import { siteFiles } from '../origins/site-bridge.ts';
import { partProblem } from '../part-problem.ts';
import { sanitizeName } from '../readers/sanitize-name.ts';
import type { Signatures } from '../signatures/open-signatures.ts';
import { viewerTexts } from '../texts/viewer.ts';

/** More entries would make the panel slow. */
const mostEntries = 500;
/** Files of a folder whose signatures are checked without a click. */
const mostUnasked = 50;

type SignaturePart = typeof import('../signatures/part.ts');

interface Props {
  /** The encoded path of the content's root. */
  root: string;
  /** The address in the URL, which can be a pointer's. */
  address: string;
  /** Whether the site has its own origin, and the gateway's origin does not have the content. */
  isOwnOrigin: boolean;
}

/** The folders and files of a site. Names are texts of a stranger. */
export function FileList({ root, address, isOwnOrigin }: Props) {
  const t = viewerTexts();
  /** Decoded, empty or with a slash at its end. */
  const [folder, setFolder] = useState('');
  const [entries, setEntries] = useState<PathDetail[] | null>(null);
  const [isMissing, setMissing] = useState(false);
  const { part, signatures, text } = useSignatures(address);
  // A pointer may lead elsewhere by the time of the click. The checked files are those of this content.
  const content = signatures?.content;
  const base = content ? `/${content}` : root;
  useEffect(() => {
    let isOver = false;
    setEntries(null);
    setMissing(false);
    listOf(content ?? address, isOwnOrigin && !content, folder).then(
      (entries) => !isOver && setEntries(entries),
      () => !isOver && setMissing(true),
    );
    return () => {
      isOver = true;
    };
  }, [content, address, isOwnOrigin, folder]);
  if (isMissing) return <p class="empty">{t.noFiles}</p>;
  if (!entries) return <p class="empty">{t.opening}</p>;
  const rest = entries.length - mostEntries;
  return (
    <>
      {text && <p class="note">{text}</p>}
      <ul class="file-list">
        {folder !== '' && (
          <li>
            <Button look="link" onClick={() => setFolder(folder.replace(/[^/]*\/$/, ''))}>
              <Icon name="up" size={16} /> {t.upFolder}
            </Button>
          </li>
        )}
        {entries.slice(0, mostEntries).map(({ path, display, size, path_type }, i) => (
          <li key={path}>
            {path_type === 'DIRECTORY' ? (
              <Button look="link" onClick={() => setFolder(folder + display)}>
                <Icon name="folder" size={16} /> <bdi>{sanitizeName(display)}</bdi>
              </Button>
            ) : (
              <div>
                <ContentLink href={`${base}/${encodePath(folder + display)}`}>
                  <bdi>{sanitizeName(display)}</bdi>
                </ContentLink>
                {part && signatures && (
                  <part.FileSignature
                    signatures={signatures}
                    path={folder + display}
                    name={sanitizeName(display)}
                    isUnasked={i < mostUnasked}
                  />
                )}
              </div>
            )}
            {path_type === 'FILE' && <span class="note">{formatBytes(size)}</span>}
          </li>
        ))}
      </ul>
      {rest > 0 && <p class="note">{t.moreFiles(formatCount(rest))}</p>}
    </>
  );
}

interface FoundSignatures {
  part: SignaturePart | null;
  signatures: Signatures | null;
  text: string;
}

const nothing: FoundSignatures = { part: null, signatures: null, text: '' };

/** Loads the part that checks signatures, and the signatures. */
function useSignatures(address: string): FoundSignatures {
  const [found, setFound] = useState(nothing);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    async function open(): Promise<FoundSignatures> {
      let part: SignaturePart;
      try {
        part = await import('../signatures/part.ts');
      } catch (error) {
        return { ...nothing, text: partProblem(error).message };
      }
      const t = part.signatureTexts();
      try {
        const signatures = (await part.openSignatures(address, signal)) ?? null;
        return { part, signatures, text: signatures ? t.note : '' };
      } catch (error) {
        if (!isAbort(error, signal)) console.warn('antway: signatures could not be read', error);
        return { part, signatures: null, text: t.failed };
      }
    }
    setFound(nothing);
    void open().then((found) => !signal.aborted && setFound(found));
    return () => stop.abort();
  }, [address]);
  return found;
}

async function listOf(address: string, isOwnOrigin: boolean, folder: string): Promise<PathDetail[]> {
  const encoded = encodePath(folder);
  const list = isOwnOrigin
    ? await siteFiles(address, encoded)
    : await ask(`/${address}/${encoded}?format=json`, {});
  if (!Array.isArray(list)) return [];
  return list.map(({ path, display, modified, size, path_type }) => ({
    path: String(path),
    display: String(display),
    modified: Number(modified),
    size: Number(size),
    path_type: path_type === 'DIRECTORY' ? 'DIRECTORY' : 'FILE',
  }));
}
