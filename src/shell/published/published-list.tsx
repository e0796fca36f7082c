import './published.css';
import { useEffect, useMemo } from 'preact/hooks';
import { type Publication, publications } from '../../gateway/state/publications.ts';
import { formatCount } from '../format.ts';
import type { GatewayConfig } from '../gateway-api.ts';
import { ProblemText } from '../problem-text.tsx';
import { publishSession, usePublishState } from '../publish/publish-session.ts';
import { goTo } from '../route.ts';
import { Section } from '../section.tsx';
import { publishedTexts } from '../texts/published.ts';
import { useAction } from '../use-action.ts';
import { useResource } from '../use-resource.ts';
import { PublishedRow, titleOfPublication } from './published-row.tsx';

export interface PublishedListProps {
  config: GatewayConfig | null;
  /** Only publications whose title contains each of its words are shown. */
  query?: string;
}

const list = () => publications.list();

/** Everything that the user published from this browser, with what can be done with it. */
export default function PublishedList({ config, query = '' }: PublishedListProps) {
  const all = useResource(list, true);
  const { error, announcement, say, run } = useAction(all.refresh);
  const { step } = usePublishState();
  const isDone = step === 'done';
  useEffect(() => {
    if (isDone) all.refresh();
  }, [isDone]);
  const t = publishedTexts();
  const byId = useMemo(() => new Map(all.value?.map((each) => [each.id, each])), [all.value]);
  const newer = useMemo(
    () => new Map(all.value?.map((each) => [each.replaces, each] as const).reverse()),
    [all.value],
  );
  const words = query.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const shown = all.value?.filter((each) => {
    const text = `${titleOfPublication(each)} ${each.name} ${each.id}`.toLocaleLowerCase();
    return words.every((word) => text.includes(word));
  });

  function update(publication: Publication) {
    // The publish screen asks before it loses the only link to private content.
    if (!publishSession.isUnsafeToLeave) publishSession.restart(publication);
    goTo('publish');
    const heading = document.getElementById('pick-heading');
    heading?.focus();
    heading?.scrollIntoView({ block: 'center' });
  }

  function remove(publication: Publication) {
    const title = titleOfPublication(publication);
    run(async () => {
      await publications.remove(publication);
      // The focused button disappears with its row.
      document.getElementById('published-list-heading')?.focus();
    }, t.removed(title));
  }

  return (
    <Section id="published-list" title={t.title}>
      <p class="note">{t.note}</p>
      <p class={error ? 'note note-problem' : 'note published-status'} role="status">
        {error ? <ProblemText problem={error} /> : announcement}
      </p>
      {all.error && (
        <p class="note note-problem" role="alert">
          {t.blocked}: <ProblemText problem={all.error} />
        </p>
      )}
      {shown && shown.length > 0 && (
        <ul aria-label={`${t.title}: ${formatCount(shown.length)}`}>
          {shown.map((each) => (
            <PublishedRow
              key={each.id}
              publication={each}
              previous={each.replaces === null ? null : (byId.get(each.replaces) ?? 'removed')}
              newer={newer.get(each.id) ?? null}
              peers={config?.peers ?? []}
              say={say}
              onUpdate={() => update(each)}
              onRemove={() => remove(each)}
            />
          ))}
        </ul>
      )}
      {shown?.length === 0 && !all.error && (
        <p class="empty">{words.length > 0 ? t.noMatch(query) : t.empty}</p>
      )}
    </Section>
  );
}
