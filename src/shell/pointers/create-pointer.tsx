import { useState } from 'preact/hooks';
import type { Publication } from '../../gateway/state/publications.ts';
import type { Lock } from '../../owner/key-store.ts';
import { newSeed } from '../../owner/owner-key.ts';
import { phraseOf } from '../../owner/recovery-phrase.ts';
import type { GatewayConfig } from '../gateway-api.ts';
import type { PaidState } from '../payment/pointer-network.ts';
import { TextField } from '../text-field.tsx';
import { pointerTexts } from '../texts/pointers.ts';
import { ContentChoice, firstContent, targetOf } from './content-choice.tsx';
import { ownedPointers } from './owned.ts';
import { FormProblem, PointerForm } from './pointer-form.tsx';
import { useNewLock, useNewPassphrase } from './use-new-lock.tsx';
import { usePlace } from './use-place.tsx';
import { Words } from './words.tsx';

interface Props {
  config: GatewayConfig | null;
  publications: readonly Publication[];
  /** The address that the pointer is to lead to. By default that of the newest publication. */
  wanted?: string | undefined;
  onCancel: () => void;
  /** @param paid the payment for the first state. */
  onDone: (announcement: string, paid?: PaidState | null) => void;
}

/** Asks for everything, shows the recovery phrase, and creates the pointer once two of its words are typed. */
export function CreatePointer({ config, publications, wanted, onCancel, onDone }: Props) {
  const [content, setContent] = useState(() => firstContent(publications, wanted));
  const [label, setLabel] = useState(() => {
    const chosen = publications.find(({ id }) => id === content.publication);
    return chosen?.title || chosen?.name || '';
  });
  const [isBad, setBad] = useState(false);
  const [key, setKey] = useState<{ seed: Uint8Array; lock: Lock } | null>(null);
  const newLock = useNewLock(useNewPassphrase());
  const where = usePlace(config);
  const t = pointerTexts();

  async function check(signal: AbortSignal) {
    if (!targetOf(content)) {
      setBad(true);
      throw new FormProblem(t.badAddress, 'pointer-address');
    }
    where.chosen();
    const lock = await newLock.make(label, signal);
    setKey({ seed: newSeed(), lock });
  }

  async function create(signal: AbortSignal) {
    const { seed, lock } = key!;
    const run = where.chosen();
    newLock.used();
    const address = await ownedPointers.add(seed, lock, label);
    const unlock = typeof lock === 'string' ? lock : lock.prf;
    const name = label.trim() || address.hex.slice(0, 8);
    await run(name, signal, (peers) => ownedPointers.move(address, unlock, targetOf(content)!, peers));
    onDone(t.created(name), where.paid());
    seed.fill(0);
  }

  if (key) return <Confirm {...{ where, onCancel }} phrase={phraseOf(key.seed)} onSubmit={create} />;
  return (
    <PointerForm
      title={t.createTitle}
      submit={t.next}
      working={t.passkeyAsks}
      onSubmit={check}
      onCancel={onCancel}
    >
      <h3>{t.createTitle}</h3>
      <TextField id="pointer-label" label={t.label} note={t.labelNote} value={label} onInput={setLabel} />
      <ContentChoice
        publications={publications}
        content={content}
        isBad={isBad}
        onChange={(next) => {
          setContent(next);
          setBad(false);
        }}
      />
      {where.fields}
      {newLock.fields}
    </PointerForm>
  );
}

interface ConfirmProps {
  phrase: string;
  where: ReturnType<typeof usePlace>;
  onSubmit: (signal: AbortSignal) => Promise<void>;
  onCancel: () => void;
}

/** Shows the words, and asks for two of them. */
function Confirm({ phrase, where, onSubmit, onCancel }: ConfirmProps) {
  const words = phrase.split(' ');
  const [asked] = useState(() => twoOf(words.length));
  const [typed, setTyped] = useState<readonly string[]>(['', '']);
  const t = pointerTexts();

  async function submit(signal: AbortSignal) {
    const wrong = asked.findIndex((index, i) => typed[i]!.trim().toLowerCase() !== words[index]);
    if (wrong >= 0) throw new FormProblem(t.wrongWords, `pointer-word-${wrong}`);
    await onSubmit(signal);
  }

  return (
    <PointerForm
      key="words"
      title={t.phraseTitle}
      submit={t.createNow}
      working={where.isNetwork ? t.workingInNetwork : t.working}
      question={where.question}
      onSubmit={submit}
      onCancel={onCancel}
    >
      <h3>{t.phraseTitle}</h3>
      <p>{t.phraseNote}</p>
      <Words phrase={phrase} />
      <p class="note">{t.confirmNote}</p>
      <div class="field-pair">
        {asked.map((index, i) => (
          <TextField
            key={index}
            id={`pointer-word-${i}`}
            label={t.confirmWord(index + 1)}
            isMono
            value={typed[i]!}
            onInput={(word) => setTyped(typed.with(i, word))}
          />
        ))}
      </div>
    </PointerForm>
  );
}

/** Two different indices in order. */
function twoOf(count: number): [number, number] {
  const [a, b] = crypto.getRandomValues(new Uint32Array(2));
  const first = a! % count;
  const second = (first + 1 + (b! % (count - 1))) % count;
  return first < second ? [first, second] : [second, first];
}
