import { useState } from 'preact/hooks';
import type { OwnedPointer } from '../../owner/owned-pointers.ts';
import { createPasskey, forgetPasskey } from '../../owner/passkeys.ts';
import { pointerTexts } from '../texts/pointers.ts';
import { ownedPointers } from './owned.ts';
import { PointerForm } from './pointer-form.tsx';
import { nameOf, passkeyName } from './pointer-name.ts';
import { useHasPasskeys, useNewPassphrase } from './use-new-lock.tsx';
import { type LockKind, useUnlock } from './use-unlock.tsx';

type Change = keyof ReturnType<typeof pointerTexts>['changes'];

/** The way that has to unlock the key before a change, if only one serves. */
const unlockedBy: Partial<Record<Change, LockKind>> = {
  addPasskey: 'passphrase',
  addPassphrase: 'passkey',
  removePasskey: 'passphrase',
  removePassphrase: 'passkey',
};

interface Props {
  pointer: OwnedPointer;
  onCancel: () => void;
  onDone: (announcement: string) => void;
}

/** Changes what unlocks a stored key: its passphrase, its passkey or both. */
export function UnlockWays({ pointer, onCancel, onDone }: Props) {
  const { address, label, hasPassphrase, passkey } = pointer;
  const hasThem = useHasPasskeys();
  const changes: Change[] = passkey
    ? hasPassphrase
      ? ['changePassphrase', 'removePasskey', 'removePassphrase']
      : ['addPassphrase']
    : ['changePassphrase', ...(hasThem ? (['addPasskey'] as const) : [])];
  const [chosen, choose] = useState<Change | null>(null);
  const change = chosen ?? changes[0]!;
  const { fields, unlock } = useUnlock(pointer);
  const fresh = useNewPassphrase();
  const t = pointerTexts();
  const only = unlockedBy[change];

  async function save(signal: AbortSignal) {
    if (change === 'addPasskey') {
      const key = await unlock(signal, only);
      const make = () => createPasskey(passkeyName(label), signal);
      await ownedPointers.addLock(address, key, make, signal);
    } else if (change === 'removePasskey' || change === 'removePassphrase') {
      await ownedPointers.removeLock(address, await unlock(signal, only), signal);
      if (change === 'removePasskey') await forgetPasskey(passkey!);
    } else {
      const next = fresh.checked();
      await ownedPointers.addLock(address, await unlock(signal, only), async () => next, signal);
    }
    onDone(t.unlockChanged(nameOf(pointer)));
  }

  return (
    <PointerForm
      title={`${t.actions.unlock} ${nameOf(pointer)}`}
      submit={t.doIt.unlock}
      working={t.unlocking}
      onSubmit={save}
      onCancel={onCancel}
    >
      <p>{t.unlockedBy[passkey && hasPassphrase ? 'both' : passkey ? 'passkey' : 'passphrase']}</p>
      <fieldset class="choice">
        <legend>{t.questions.unlock}</legend>
        {changes.map((each) => (
          <label key={each} class="check">
            <input type="radio" name="change" checked={each === change} onChange={() => choose(each)} />
            <span>{t.changes[each]}</span>
          </label>
        ))}
      </fieldset>
      {(change === 'addPasskey' || change === 'removePassphrase') && <p class="note">{t.passkeyNote}</p>}
      {fields(only, change === 'changePassphrase' ? t.presentPassphrase : undefined)}
      {(change === 'addPassphrase' || change === 'changePassphrase') && (
        <>
          <p class="note">{t.newPassphrase}</p>
          {fresh.fields()}
        </>
      )}
    </PointerForm>
  );
}
