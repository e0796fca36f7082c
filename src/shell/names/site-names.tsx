import './names.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type NameMeaning, written } from '../../names/name-book.ts';
import { asName } from '../../names/petname.ts';
import { Button } from '../button.tsx';
import { ContentLink } from '../content-link.tsx';
import { ProblemText } from '../problem-text.tsx';
import { TextField } from '../text-field.tsx';
import { nameTexts } from '../texts/names.ts';
import { texts } from '../texts/texts.ts';
import { useAction } from '../use-action.ts';
import { changeNames, withName } from './change-names.ts';
import { textOfNameProblem } from './name-problem.ts';
import { useNames } from './names-store.ts';

interface Props {
  /** 64 hex digits in lower case. */
  address: string;
  /** The title of the content, for the labels of the buttons. */
  title: string;
  /** Whether the names are links to the content. */
  isLinked?: boolean;
}

/** The user's names for an address: give one, rename it, remove it. Nothing else in the app sets a name. */
export default function SiteNames({ address, title, isLinked = false }: Props) {
  const { book } = useNames();
  /** The name that is renamed. Null for a new name. Undefined if no form is open. */
  const [edited, setEdited] = useState<string | null | undefined>(undefined);
  const start = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(false);
  const { error, announcement, clear, run } = useAction(() => undefined);
  const t = nameTexts();
  const meanings = book.namesOf(address);
  const own = meanings.filter(({ source }) => source.kind === 'own');
  const others = meanings.filter(({ source }) => source.kind !== 'own');
  const isOpen = edited !== undefined;

  // The focus returns from the form, whose fields disappear.
  useEffect(() => {
    if (wasOpen.current && !isOpen) start.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);

  function edit(name: string | null) {
    clear();
    setEdited(name);
  }

  async function save(name: string) {
    await run(
      () =>
        changeNames((names) => {
          if (edited) delete names[edited];
          return withName(names, name, address, t.taken(`~${name}`));
        }),
      t.saved(`~${name}`),
    );
    setEdited(undefined);
  }

  function remove({ name }: NameMeaning) {
    start.current?.focus();
    return run(
      () =>
        changeNames((names) => {
          delete names[name];
          return names;
        }),
      t.removed(`~${name}`),
    );
  }

  return (
    <div class="site-names">
      {own.length > 0 && (
        <ul aria-label={t.yourName}>
          {own.map((meaning) => (
            <li key={meaning.name}>
              {isLinked ? (
                <ContentLink class="site-name" href={`/${address}/`}>
                  <bdi>{written(meaning)}</bdi>
                </ContentLink>
              ) : (
                <bdi class="site-name">{written(meaning)}</bdi>
              )}
              <Button
                look="link"
                aria-label={texts.library.actionOn(t.rename, written(meaning))}
                onClick={() => edit(meaning.name)}
              >
                {t.rename}
              </Button>
              <Button
                look="link"
                aria-label={texts.library.actionOn(t.remove, written(meaning))}
                onClick={() => remove(meaning)}
              >
                {t.remove}
              </Button>
              <Conflicts of={meaning} />
            </li>
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <p class="note">
          <bdi>{t.otherNames(others.map(written).join(', '))}</bdi>
        </p>
      )}
      {isOpen ? (
        <NameForm
          key={edited ?? ''}
          address={address}
          before={edited ?? null}
          onSave={save}
          onCancel={() => setEdited(undefined)}
        />
      ) : (
        <Button
          look="quiet"
          isSmall
          ref={start}
          aria-label={texts.library.actionOn(t.give, title)}
          onClick={() => edit(null)}
        >
          {t.give}
        </Button>
      )}
      <p class={error ? 'note note-problem' : 'note'} role="status">
        {error ? <ProblemText problem={error} /> : announcement}
      </p>
    </div>
  );
}

/** The names that a user could confuse with this one. */
function Conflicts({ of: meaning }: { of: NameMeaning }) {
  const others = useNames().book.conflictsOf(meaning);
  if (others.length === 0) return null;
  return (
    <span class="note note-problem">
      <bdi>{nameTexts().conflict(others.map(written).join(', '))}</bdi>
    </span>
  );
}

interface FormProps {
  address: string;
  /** The name that is renamed. */
  before: string | null;
  onSave: (name: string) => Promise<void>;
  onCancel: () => void;
}

function NameForm({ address, before, onSave, onCancel }: FormProps) {
  const { book } = useNames();
  const [text, setText] = useState(before ?? '');
  const [problem, setProblem] = useState<string | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const t = nameTexts();
  const id = `name-of-${address}`;
  const name = asName(text.replace(/^\s*~/, ''));
  useEffect(() => form.current?.querySelector('input')?.focus(), []);

  function save() {
    const others = book.all.filter(({ source, name }) => source.kind === 'own' && name !== before);
    const names = Object.fromEntries(others.map(({ name, address }) => [name, address]));
    const found = textOfNameProblem(text, names, address);
    setProblem(found);
    if (found) form.current?.querySelector('input')?.focus();
    else void onSave(name);
  }

  return (
    <form
      ref={form}
      class="name-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <TextField
        id={id}
        label={t.name}
        value={text}
        isBad={problem !== null}
        note={t.note(`~${name || t.name}`)}
        onInput={(next) => {
          setText(next);
          setProblem(null);
        }}
      />
      <p class="note note-problem" role="alert">
        {problem}
      </p>
      <p class="actions">
        <Button type="submit" isSmall>
          {t.save}
        </Button>
        <Button look="quiet" isSmall onClick={onCancel}>
          {texts.common.cancel}
        </Button>
      </p>
    </form>
  );
}
