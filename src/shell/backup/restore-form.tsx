import { useRef, useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import { texts } from '../texts/texts.ts';
import { backupSession } from './backup-session.ts';
import { backupTexts } from './backup-texts.ts';
import { PassphraseFields } from './passphrase-fields.tsx';

/** Asks for a backup and its passphrase. */
export function RestoreForm({ onCancel }: { onCancel: () => void }) {
  const [passphrase, setPassphrase] = useState('');
  const [problem, setProblem] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const t = backupTexts();
  const former = backupSession.file;
  const [name, setName] = useState(former?.name);

  function open() {
    const file = input.current?.files?.[0] ?? former;
    setProblem(file ? '' : t.noFile);
    if (file) void backupSession.open(file, passphrase);
    else input.current?.focus();
  }

  return (
    <form
      class="backup-form"
      noValidate
      aria-label={t.restoreTitle}
      onSubmit={(event) => {
        event.preventDefault();
        open();
      }}
    >
      {/* The browser's own control has its own language, and does not know the file of the last attempt. */}
      <label class="field backup-file">
        <span class="field-label">{t.file}</span>
        <input
          ref={input}
          type="file"
          class="visually-hidden"
          onChange={({ currentTarget }) => {
            setName(currentTarget.files?.[0]?.name ?? former?.name);
            setProblem('');
          }}
        />
        <span class="backup-choices">
          <span class="button button-quiet">{t.chooseFile}</span>
          {name !== undefined && <bdi class="note">{t.chosen(name)}</bdi>}
        </span>
      </label>
      <PassphraseFields value={passphrase} onInput={setPassphrase} />
      <p class="note note-problem" role="alert">
        {problem}
      </p>
      <p class="actions">
        <Button type="submit">{t.open}</Button>
        <Button look="quiet" onClick={onCancel}>
          {texts.common.cancel}
        </Button>
      </p>
    </form>
  );
}
