import { useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import { formatBytes } from '../format.ts';
import { gateway } from '../gateway-api.ts';
import { texts } from '../texts/texts.ts';
import { useResource } from '../use-resource.ts';
import { backupSession } from './backup-session.ts';
import { backupTexts } from './backup-texts.ts';
import { PassphraseFields, passphraseProblem } from './passphrase-fields.tsx';

/** Asks for the passphrase of a new backup, and what it contains. */
export function CreateForm({ onCancel }: { onCancel: () => void }) {
  const [passphrase, setPassphrase] = useState('');
  const [repeated, setRepeated] = useState('');
  const [withContents, setWithContents] = useState(false);
  const [problem, setProblem] = useState('');
  const sites = useResource(gateway.storedSites, true);
  const t = backupTexts();
  const pinnedBytes = (sites.value ?? [])
    .filter(({ pin }) => pin)
    .reduce((sum, { bytes }) => sum + bytes.stored, 0);

  function create() {
    const found = passphraseProblem(passphrase, repeated);
    setProblem(found?.text ?? '');
    if (found) document.getElementById(found.field)?.focus();
    else void backupSession.create(passphrase, withContents);
  }

  return (
    <form
      class="backup-form"
      noValidate
      aria-label={t.createTitle}
      onSubmit={(event) => {
        event.preventDefault();
        create();
      }}
    >
      <p class="note">{t.passphraseNote}</p>
      <PassphraseFields
        value={passphrase}
        repeated={repeated}
        onInput={(value, again) => {
          setPassphrase(value);
          setRepeated(again);
          setProblem('');
        }}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={withContents}
          aria-describedby="backup-contents-note"
          onChange={({ currentTarget }) => setWithContents(currentTarget.checked)}
        />{' '}
        {t.withContents}
      </label>
      <p id="backup-contents-note" class="note">
        {t.withContentsNote(formatBytes(pinnedBytes))}
      </p>
      <p class="note note-problem" role="alert">
        {problem}
      </p>
      <p class="actions">
        <Button type="submit">{t.save}</Button>
        <Button look="quiet" onClick={onCancel}>
          {texts.common.cancel}
        </Button>
      </p>
    </form>
  );
}
