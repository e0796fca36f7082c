import { useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import { TextField } from '../text-field.tsx';
import { backupTexts } from './backup-texts.ts';
import { leastCharacters, mostCharacters, strengthOf, suggestPassphrase } from './passphrase.ts';

interface Props {
  value: string;
  /** The second input; undefined for an existing passphrase, which is asked once. */
  repeated?: string;
  onInput(value: string, repeated: string): void;
}

/** Why a new passphrase cannot be used, and the id of the field to change. */
export function passphraseProblem(
  value: string,
  repeated: string,
): { text: string; field: string } | undefined {
  const t = backupTexts();
  if ([...value].length < leastCharacters) return { text: t.strength.short, field: 'backup-passphrase' };
  return value === repeated ? undefined : { text: t.differ, field: 'backup-repeated' };
}

/** One or two fields for a passphrase, which can be shown. */
export function PassphraseFields({ value, repeated, onInput }: Props) {
  const [isShown, setShown] = useState(false);
  const [said, setSaid] = useState('');
  const t = backupTexts();
  const isNew = repeated !== undefined;
  const type = isShown ? 'text' : 'password';
  const cut = (text: string) => text.slice(0, mostCharacters);

  function suggest() {
    const suggestion = suggestPassphrase();
    setShown(true);
    setSaid(t.suggested);
    onInput(suggestion, suggestion);
  }

  return (
    <>
      <TextField
        id="backup-passphrase"
        label={t.passphrase}
        type={type}
        isMono={isShown}
        value={value}
        describedBy="backup-strength"
        onInput={(text) => {
          setSaid('');
          onInput(cut(text), repeated ?? '');
        }}
      />
      {isNew && (
        <>
          <p id="backup-strength" class={`backup-strength strength-${strengthOf(value)}`} role="status">
            {said || (value && t.strength[strengthOf(value)])}
          </p>
          <TextField
            id="backup-repeated"
            label={t.again}
            type={type}
            isMono={isShown}
            value={repeated}
            isBad={repeated !== '' && repeated !== value}
            onInput={(text) => onInput(value, cut(text))}
          />
        </>
      )}
      <p class="backup-choices">
        <label class="check">
          <input
            type="checkbox"
            checked={isShown}
            onChange={({ currentTarget }) => setShown(currentTarget.checked)}
          />{' '}
          {t.show}
        </label>
        {isNew && (
          <Button look="link" onClick={suggest}>
            {t.suggest}
          </Button>
        )}
      </p>
    </>
  );
}
