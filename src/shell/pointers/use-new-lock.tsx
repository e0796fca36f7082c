import { useEffect, useRef, useState } from 'preact/hooks';
import type { Lock } from '../../owner/key-store.ts';
import { createPasskey, forgetPasskey, hasPasskeys } from '../../owner/passkeys.ts';
import { PassphraseFields, passphraseProblem } from '../backup/passphrase-fields.tsx';
import { pointerTexts } from '../texts/pointers.ts';
import { useResource } from '../use-resource.ts';
import { FormProblem } from './pointer-form.tsx';
import { passkeyName } from './pointer-name.ts';
import { LockChoice, type LockKind } from './use-unlock.tsx';

/** The fields for a new passphrase. */
export function useNewPassphrase() {
  const [passphrase, setPassphrase] = useState('');
  const [repeated, setRepeated] = useState('');
  return {
    /** The unchecked text. */
    typed: passphrase,
    /** @param isNew whether it is typed twice. */
    fields: (isNew = true) => (
      <PassphraseFields
        value={passphrase}
        {...(isNew ? { repeated } : {})}
        onInput={(value, again) => {
          setPassphrase(value);
          setRepeated(again);
        }}
      />
    ),
    /** @throws FormProblem if it cannot be used. */
    checked(): string {
      const wrong = passphraseProblem(passphrase, repeated);
      if (wrong) throw new FormProblem(wrong.text, wrong.field);
      return passphrase;
    },
  };
}

/** Whether the app may offer passkeys. */
export function useHasPasskeys(): boolean {
  return useResource(hasPasskeys, true).value === true;
}

/** The fields for what unlocks a new key: a passphrase, or a passkey if the browser has them. */
export function useNewLock(passphrase: ReturnType<typeof useNewPassphrase>) {
  const hasThem = useHasPasskeys();
  const [kind, setKind] = useState<LockKind>('passphrase');
  const unused = useRef<Lock | null>(null);
  const t = pointerTexts();

  function forget() {
    if (unused.current && typeof unused.current !== 'string') void forgetPasskey(unused.current);
    unused.current = null;
  }
  // A passkey that no key uses would only confuse the user.
  useEffect(() => forget, []);

  return {
    fields: (
      <>
        {hasThem && (
          <LockChoice legend={t.unlockBy} kinds={['passphrase', 'passkey']} kind={kind} onChange={setKind} />
        )}
        <p class="note">{kind === 'passkey' ? t.passkeyNote : t.passphraseNote}</p>
        {kind === 'passphrase' && passphrase.fields()}
      </>
    ),
    /**
     * Checks the passphrase, or lets the user make a passkey.
     * @param label the user's name for the address.
     * @throws FormProblem; as `createPasskey`.
     */
    async make(label: string, signal: AbortSignal): Promise<Lock> {
      forget();
      const made =
        kind === 'passkey' ? await createPasskey(passkeyName(label), signal) : passphrase.checked();
      unused.current = made;
      return made;
    },
    /** Called before a key is stored with the lock: the key may need it even if the form is closed or fails. */
    used() {
      unused.current = null;
    },
  };
}
