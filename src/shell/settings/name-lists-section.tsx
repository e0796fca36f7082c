import { encodeNameList } from '../../names/name-list.ts';
import { asName, lookAlike, nameProblem } from '../../names/petname.ts';
import { Button } from '../button.tsx';
import { GatewayApiError, type GatewayConfig, gateway } from '../gateway-api.ts';
import { changeSettings, withName } from '../names/change-names.ts';
import { useNames } from '../names/names-store.ts';
import { mostNameLists, refreshLists } from '../names/refresh-lists.ts';
import { lists, type StoredList } from '../names/stored-lists.ts';
import { useObserved } from '../observable.ts';
import { ProblemText } from '../problem-text.tsx';
import { saveAs } from '../save-as.ts';
import { Section } from '../section.tsx';
import { TextForm } from '../text-form.tsx';
import { nameTexts } from '../texts/names.ts';
import { locale, texts } from '../texts/texts.ts';
import { useAction } from '../use-action.ts';
import { addressIn } from './address-in.ts';
import { ListRow } from './list-row.tsx';

interface Props {
  config: GatewayConfig;
  /** Loads the configuration again. */
  onChange: () => void;
}

/** The lists of names that the user reads, and those that the host chose. */
export function NameListsSection({ config, onChange }: Props) {
  const stored = useObserved(lists, () => lists.state);
  const { error, announcement, clear, run } = useAction(onChange);
  const t = nameTexts().lists;
  const labels = Object.keys(config.nameLists);
  const own = useNames().book.all.filter(({ source }) => source.kind === 'own').length;

  function problemOf(text: string): string | null {
    const label = asName(text);
    const problem = nameProblem(label);
    if (problem) return nameTexts().problems[problem];
    if (labels.includes(label) || lookAlike(label, labels) !== undefined) return t.taken(label);
    return labels.length >= mostNameLists ? t.tooMany(mostNameLists) : null;
  }

  return (
    <Section id="name-lists" title={t.title}>
      <p class="note">{t.note}</p>
      <ul class="setting-list">
        {Object.entries(config.nameLists).map(([label, address]) => (
          <ListRow
            key={label}
            name={label}
            address={address}
            isOwn={config.sources.nameLists[label] === 'user'}
            removeLabel={t.remove(label)}
            onRemove={() => {
              document.getElementById('name-lists-heading')?.focus();
              return run(
                () =>
                  changeSettings((settings) => {
                    const { [label]: _, ...others } = settings.nameLists ?? {};
                    return { ...settings, nameLists: others };
                  }),
                texts.settings.saved,
              );
            }}
          >
            {' '}
            <State of={stored?.get(address)} />
          </ListRow>
        ))}
      </ul>
      <TextForm
        fields={[
          { id: 'new-name-list', label: t.label, isMono: true, problemOf },
          {
            id: 'new-name-list-address',
            label: t.address,
            isMono: true,
            problemOf: (text) => (addressIn(text) ? null : texts.settings.addressBad),
          },
        ]}
        submit={texts.settings.add}
        submitLabel={t.add}
        onProblem={clear}
        onSubmit={(label, address) =>
          run(
            () =>
              changeSettings((settings) => {
                const { hex } = addressIn(address)!;
                const [known, name] = [settings.nameLists ?? {}, asName(label)];
                return { ...settings, nameLists: withName(known, name, hex, t.taken(name)) };
              }),
            texts.settings.saved,
          )
        }
      />
      <p class="note" id="own-list-note">
        {t.ownNote}
      </p>
      <p class="actions">
        {own > 0 && (
          <Button look="quiet" aria-describedby="own-list-note" onClick={() => run(saveList, t.savedOwn)}>
            {t.saveOwn}
          </Button>
        )}
        {labels.length > 0 && (
          <Button
            look="quiet"
            onClick={() =>
              run(() => refreshLists(config.nameLists, new AbortController().signal, true), t.refreshed)
            }
          >
            {t.refresh}
          </Button>
        )}
      </p>
      <p class={error ? 'note note-problem' : 'note'} role="status">
        {error ? <ProblemText problem={error} /> : announcement}
      </p>
    </Section>
  );
}

/** Saves the user's names as the file of a list, which the user can publish. */
async function saveList(): Promise<void> {
  const { names = {} } = await gateway.settings(new AbortController().signal);
  saveAs(new Blob([encodeNameList({ title: '', names })], { type: 'application/json' }), 'names.json');
}

/** The size, the age and the problems of a list. Its title is a text of a stranger. */
function State({ of: list }: { of: StoredList | undefined }) {
  const t = nameTexts().lists;
  if (!list) return <span class="label">{t.unread}</span>;
  const { title, names, left, readAt, problem } = list;
  const count = Object.keys(names).length;
  return (
    <span class="label">
      {title && (
        <>
          <bdi>{title}</bdi>
          {' · '}
        </>
      )}
      {readAt !== null &&
        t.state(
          t.count(count),
          new Date(readAt).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' }),
        )}
      {left > 0 && ` · ${t.left(left)}`}
      {problem && (
        <span class="note-problem">
          {' '}
          {t.problem}: <ProblemText problem={new GatewayApiError(problem.code, problem.message)} />
        </span>
      )}
    </span>
  );
}
