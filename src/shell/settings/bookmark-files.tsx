import { useRef, useState } from 'preact/hooks';
import { mergeNames } from '../../names/name-changes.ts';
import { Button } from '../button.tsx';
import { changeNames } from '../names/change-names.ts';
import { ProblemText } from '../problem-text.tsx';
import { saveAs } from '../save-as.ts';
import { texts } from '../texts/texts.ts';
import { useAction } from '../use-action.ts';
import { bookmarkFileOf, namesOfBookmarkFile } from './bookmark-file.ts';

interface Props {
  /** The user's names: name → address. */
  own: Readonly<Record<string, string>>;
  /** The names of the host. */
  host: Readonly<Record<string, string>>;
}

/** Takes names from a bookmark file of fetch>it, and writes one. */
export function BookmarkFiles({ own, host }: Props) {
  const { error, announcement, run } = useAction(() => undefined);
  const t = texts.settings;
  const picker = useRef<HTMLInputElement>(null);
  const [isBad, setIsBad] = useState(false);

  async function take(file: File | undefined) {
    if (!file) return;
    const added = await namesOfBookmarkFile(file, own);
    setIsBad(!added);
    if (!added) return;
    const count = Object.keys(added).length;
    // The user's names stay, also those of another tab.
    await run(() => changeNames((names) => mergeNames(names, added).names), t.bookmarksAdded(count));
  }

  return (
    <>
      <p class="note" id="bookmark-files-note" aria-live="polite">
        {isBad ? t.bookmarksBad : error ? <ProblemText problem={error} /> : announcement || t.bookmarkFiles}
      </p>
      <p class="actions">
        <Button look="quiet" aria-describedby="bookmark-files-note" onClick={() => picker.current?.click()}>
          {t.importBookmarks}
        </Button>
        <Button
          look="quiet"
          aria-describedby="bookmark-files-note"
          onClick={() => saveAs(bookmarkFileOf({ ...host, ...own }, Date.now()), 'fetchit-bookmarks.json')}
        >
          {t.exportBookmarks}
        </Button>
      </p>
      <input
        ref={picker}
        type="file"
        accept=".json,application/json"
        hidden
        onChange={({ currentTarget }) => {
          void take(currentTarget.files?.[0]);
          // Otherwise, choosing the same file again causes no change event.
          currentTarget.value = '';
        }}
      />
    </>
  );
}
