import { useState } from 'preact/hooks';
import { isAbort } from '../../errors.ts';
import type { Lock } from '../../owner/key-store.ts';
import { seedOfKeyFile } from '../../owner/owned-pointers.ts';
import { seedOfPhrase } from '../../owner/recovery-phrase.ts';
import type { GatewayConfig } from '../gateway-api.ts';
import { TextField } from '../text-field.tsx';
import { pointerTexts } from '../texts/pointers.ts';
import { ownedPointers } from './owned.ts';
import { FormProblem, PointerForm } from './pointer-form.tsx';
import { useNewLock, useNewPassphrase } from './use-new-lock.tsx';
import { usePlace } from './use-place.tsx';

interface Props {
  config: GatewayConfig | null;
  onCancel: () => void;
  onDone: (announcement: string) => void;
}

/** The most bytes of a key file. It has some 400. */
const mostFileBytes = 10_000;

/** Stores the key of a key file or of a recovery phrase, and asks the chosen place for the state of its pointer. */
export function BringPointer({ config, onCancel, onDone }: Props) {
  const [way, setWay] = useState<'file' | 'phrase'>('file');
  const [label, setLabel] = useState('');
  const [file, setFile] = useState<File | null>(null);
  const [phrase, setPhrase] = useState('');
  const passphrase = useNewPassphrase();
  const newLock = useNewLock(passphrase);
  const where = usePlace(config);
  const t = pointerTexts();

  async function bring(signal: AbortSignal) {
    const [seed, lock] = way === 'phrase' ? await fromWords(signal) : await fromFile();
    newLock.used();
    const address = await ownedPointers.add(seed, lock, label);
    seed.fill(0);
    const name = label.trim() || address.hex.slice(0, 8);
    // The key is here already, so a wrong place is no reason to stay at the form.
    try {
      await where.chosen()(name, signal, (peers) => ownedPointers.refresh(address, peers));
      onDone(t.brought(name));
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      onDone(t.notAsked(name));
    }
  }

  async function fromWords(signal: AbortSignal): Promise<[seed: Uint8Array, lock: Lock]> {
    const seed = seedOfPhrase(phrase);
    return [seed, await newLock.make(label, signal)];
  }

  async function fromFile(): Promise<[seed: Uint8Array, lock: Lock]> {
    if (!file) throw new FormProblem(t.noFile, 'pointer-file');
    const text = await file.slice(0, mostFileBytes).text();
    return [await seedOfKeyFile(text, passphrase.typed), passphrase.typed];
  }

  return (
    <PointerForm
      title={t.bringTitle}
      submit={t.bringNow}
      working={t.unlocking}
      onSubmit={bring}
      onCancel={onCancel}
    >
      <h3>{t.bringTitle}</h3>
      <fieldset class="choice">
        <legend>{t.way}</legend>
        {(['file', 'phrase'] as const).map((value) => (
          <label key={value} class="check">
            <input type="radio" name="way" checked={way === value} onChange={() => setWay(value)} />
            <span>{t.ways[value]}</span>
          </label>
        ))}
      </fieldset>
      <TextField id="pointer-label" label={t.label} note={t.labelNote} value={label} onInput={setLabel} />
      {way === 'file' ? (
        <label class="field">
          <span class="field-label">{t.keyFile}</span>
          <input
            id="pointer-file"
            class="input"
            type="file"
            onChange={({ currentTarget }) => setFile(currentTarget.files?.[0] ?? null)}
          />
          <span class="note">{t.keyFilePassphrase}</span>
        </label>
      ) : (
        <label class="field">
          <span class="field-label">{t.phrase}</span>
          <textarea
            id="pointer-phrase"
            class="input input-mono"
            rows={4}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            value={phrase}
            onInput={({ currentTarget }) => setPhrase(currentTarget.value)}
          />
        </label>
      )}
      {where.fields}
      {way === 'phrase' ? newLock.fields : passphrase.fields(false)}
    </PointerForm>
  );
}
