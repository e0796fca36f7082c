import { useRef, useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import { saveAs } from '../save-as.ts';
import { texts } from '../texts/texts.ts';
import { bookmarkFileOf, namesOfBookmarkFile } from './bookmark-file.ts';
import type { SettingsState } from './use-settings.ts';

/** Takes names from a bookmark file of fetch>it, and writes one. */
export function BookmarkFiles({ settings: { own, config, change } }: { settings: SettingsState }) {
  const t = texts.settings;
  const picker = useRef<HTMLInputElement>(null);
  const [isBad, setIsBad] = useState(false);

  async function take(file: File | undefined) {
    if (!file) return;
    const added = await namesOfBookmarkFile(file, config.names);
    setIsBad(!added);
    if (!added) return;
    const count = Object.keys(added).length;
    await change({ names: { ...own.names, ...added } }, t.bookmarksAdded(count));
  }

  return (
    <>
      <p class="note" id="bookmark-files-note" aria-live="polite">
        {isBad ? t.bookmarksBad : t.bookmarkFiles}
      </p>
      <p class="actions">
        <Button look="quiet" aria-describedby="bookmark-files-note" onClick={() => picker.current?.click()}>
          {t.importBookmarks}
        </Button>
        <Button
          look="quiet"
          aria-describedby="bookmark-files-note"
          onClick={() => saveAs(bookmarkFileOf(config.names, Date.now()), 'fetchit-bookmarks.json')}
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
