import { useState } from 'preact/hooks';
import type { Locks, Unlock } from '../../owner/key-store.ts';
import { confirmPasskey } from '../../owner/passkeys.ts';
import { backupTexts } from '../backup/backup-texts.ts';
import { TextField } from '../text-field.tsx';
import { pointerTexts } from '../texts/pointers.ts';

export type LockKind = keyof ReturnType<typeof pointerTexts>['locks'];

function lockKinds({ hasPassphrase, passkey }: Locks): LockKind[] {
  return [...(passkey ? (['passkey'] as const) : []), ...(hasPassphrase ? (['passphrase'] as const) : [])];
}

/**
 * The fields that unlock a stored key: its passphrase, or a choice between that and its passkey.
 * @param id of the field of the passphrase.
 */
export function useUnlock(locks: Locks, id = 'pointer-passphrase') {
  const kinds = lockKinds(locks);
  const [chosen, choose] = useState(kinds[0]);
  const [passphrase, setPassphrase] = useState('');
  const kind = kinds.find((each) => each === chosen) ?? kinds[0];
  const t = pointerTexts();
  return {
    isByPasskey: kind === 'passkey',
    /**
     * @param only the one way that serves. By default all ways of the key.
     * @param label of the passphrase.
     */
    fields: (only?: LockKind, label = backupTexts().passphrase) => (
      <>
        {only === undefined && kinds.length > 1 && (
          <LockChoice legend={t.unlockBy} kinds={kinds} kind={kind!} onChange={choose} />
        )}
        {(only ?? kind) === 'passkey' ? (
          <p class="note">{t.passkeyAsks}</p>
        ) : (
          <TextField id={id} label={label} type="password" value={passphrase} onInput={setPassphrase} />
        )}
      </>
    ),
    /** @throws as `confirmPasskey`. */
    async unlock(signal: AbortSignal, only = kind): Promise<Unlock> {
      return only === 'passkey' ? confirmPasskey(locks.passkey!, signal) : passphrase;
    },
    /** The typed passphrase. */
    passphrase,
  };
}

interface ChoiceProps {
  legend: string;
  kinds: readonly LockKind[];
  kind: LockKind;
  onChange: (kind: LockKind) => void;
}

export function LockChoice({ legend, kinds, kind, onChange }: ChoiceProps) {
  return (
    <fieldset class="choice">
      <legend>{legend}</legend>
      {kinds.map((each) => (
        <label key={each} class="check">
          <input type="radio" name="lock" checked={each === kind} onChange={() => onChange(each)} />
          <span>{pointerTexts().locks[each]}</span>
        </label>
      ))}
    </fieldset>
  );
}
