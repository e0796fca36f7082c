import { Button } from '../../button.tsx';
import { formatCount } from '../../format.ts';
import { useHistoryState } from '../../history-state.ts';
import type { HeadingOf } from '../file-reader.tsx';
import { kindOfName } from '../kinds.ts';
import type { FolderFile } from '../read-content.ts';
import { ReaderHeading } from '../reader-heading.tsx';
import { readerTexts } from '../texts/texts.ts';
import { FolderFiles } from './folder-files.tsx';
import { Gallery } from './gallery.tsx';
import { Player } from './player.tsx';

type View = 'list' | 'gallery' | 'player';

/** A folder: its files, its pictures in a gallery, its sounds and films in a player. */
export function FolderReader({ heading, files }: { heading: HeadingOf; files: FolderFile[] }) {
  const t = readerTexts();
  const pictures = files.filter(({ kind, name }) => kind === 'file' && kindOfName(name) === 'picture');
  const media = files.filter(({ kind, name }) => kind === 'file' && kindOfName(name) === 'media');
  const [chosen, choose] = useHistoryState<{ view: View | null }>('folder', { view: null });
  const views: [View, string][] = [['list', t.views.list]];
  if (pictures.length > 0) views.push(['gallery', t.views.gallery(formatCount(pictures.length))]);
  if (media.length > 0) views.push(['player', t.views.player(formatCount(media.length))]);
  const view = views.some(([name]) => name === chosen.view) ? chosen.view! : bestView();

  /** A folder of mostly pictures or mostly media shows them at once. */
  function bestView(): View {
    if (media.length * 2 > files.length) return 'player';
    return pictures.length * 2 > files.length ? 'gallery' : 'list';
  }

  return (
    <>
      <ReaderHeading {...heading} isThere>
        {views.length > 1 && (
          <fieldset class="reader-views" aria-label={t.view}>
            {views.map(([name, label]) => (
              <Button
                key={name}
                look="quiet"
                isSmall
                aria-pressed={name === view}
                onClick={() => choose({ view: name })}
              >
                {label}
              </Button>
            ))}
          </fieldset>
        )}
      </ReaderHeading>
      {files.length === 0 && <p class="empty">{t.emptyFolder}</p>}
      {files.length > 0 && view === 'list' && <FolderFiles files={files} title={heading.title} />}
      {view === 'gallery' && <Gallery pictures={pictures} title={heading.title} />}
      {view === 'player' && <Player items={media} title={heading.title} />}
    </>
  );
}
