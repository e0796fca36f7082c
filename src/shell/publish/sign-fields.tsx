import { useEffect, useState } from 'preact/hooks';
import type { OwnedPointer } from '../../owner/owned-pointers.ts';
import { GatewayApiError } from '../gateway-api.ts';
import { ownedPointers } from '../pointers/owned.ts';
import { nameOf } from '../pointers/pointer-name.ts';
import { useUnlock } from '../pointers/use-unlock.tsx';
import { ProblemText } from '../problem-text.tsx';
import { signatureTexts } from '../texts/signatures.ts';
import { useResource } from '../use-resource.ts';
import { usePublishState } from './publish-session.ts';

/** Gives the seed of the chosen key, or null if nothing is to be signed. @throws AntwayError as `OwnedPointers.seed`. */
export type UnlockSigner = () => Promise<Uint8Array | null>;

/** The key stays while the user visits other screens. The wish to sign does not: it counts only while the user sees it. */
const last = { address: '' };

const list = () => ownedPointers.list();

/** Lets the user choose a key of a lasting address that signs the files. */
export default function SignFields({ onChange }: { onChange: (unlock: UnlockSigner) => void }) {
  const owned = useResource(list, true);
  const [isWanted, setWanted] = useState(false);
  const [key, setKey] = useState(last.address);
  const { step } = usePublishState();
  const keys = owned.value ?? [];
  const chosen = keys.find(({ address }) => address.hex === key) ?? keys[0];
  const t = signatureTexts();
  // The user may have created a key on the same screen.
  useEffect(owned.refresh, [step, isWanted]);
  useEffect(() => {
    // Never publish without the signatures that the user wants.
    const missing = new GatewayApiError('NOT_FOUND', t.noKeys, { isTranslated: true });
    if (!isWanted) onChange(async () => null);
    else if (!chosen) onChange(() => Promise.reject(missing));
  }, [isWanted, chosen?.address.hex]);
  return (
    <fieldset class="choice">
      <label class="check">
        <input
          id="sign"
          type="checkbox"
          checked={isWanted}
          onChange={({ currentTarget }) => setWanted(currentTarget.checked)}
        />
        <span>
          <strong>{t.sign}</strong>
          <span class="note check-note">{t.signNote}</span>
        </span>
      </label>
      {owned.error && (
        <p class="note note-problem">
          <ProblemText problem={owned.error} />
        </p>
      )}
      {isWanted && owned.value?.length === 0 && <p class="note">{t.noKeys}</p>}
      {isWanted && chosen && (
        <>
          <label class="field">
            <span class="field-label">{t.withKey}</span>
            <select
              id="sign-key"
              class="input"
              value={chosen.address.hex}
              onChange={({ currentTarget: { value } }) => {
                last.address = value;
                setKey(value);
              }}
            >
              {keys.map((pointer) => (
                <option key={pointer.address.hex} value={pointer.address.hex}>
                  {nameOf(pointer)}
                </option>
              ))}
            </select>
          </label>
          <UnlockFields key={chosen.address.hex} pointer={chosen} onChange={onChange} />
        </>
      )}
    </fieldset>
  );
}

function UnlockFields({
  pointer,
  onChange,
}: {
  pointer: OwnedPointer;
  onChange: (unlock: UnlockSigner) => void;
}) {
  const { fields, unlock, isByPasskey, passphrase } = useUnlock(pointer, 'sign-passphrase');
  useEffect(
    () =>
      onChange(async () => {
        const key = await unlock(new AbortController().signal);
        return ownedPointers.seed(pointer.address, key);
      }),
    [isByPasskey, passphrase],
  );
  return fields(undefined, signatureTexts().passphrase);
}
