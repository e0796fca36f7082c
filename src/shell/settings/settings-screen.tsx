import { useMemo, useState } from 'preact/hooks';
import { type NameBook, written } from '../../names/name-book.ts';
import { BackupSection } from '../backup/backup-section.tsx';
import { DeleteEverything } from '../delete-everything.tsx';
import { type GatewayConfig, gateway } from '../gateway-api.ts';
import { lazyComponent } from '../lazy-component.tsx';
import { MoveSteps } from '../move/move-steps.tsx';
import type { MoveOffer } from '../move/use-library-move.ts';
import { ProblemText } from '../problem-text.tsx';
import { ScreenHeading } from '../screen-heading.tsx';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import { type Resource, useResource } from '../use-resource.ts';
import { useSites } from '../use-sites.ts';
import { Appearance } from './appearance.tsx';
import { DecidedSites } from './decided-sites.tsx';
import { DeniedSection } from './denied-section.tsx';
import { ListsSection } from './lists-section.tsx';
import { NodesSection } from './nodes-section.tsx';
import { PeersSection, TransportSection } from './peers-section.tsx';
import { StorageSection } from './storage-section.tsx';
import { useSettings } from './use-settings.ts';

const NamesPart = lazyComponent(() => import('./names-part.tsx'));

interface Props {
  active: boolean;
  config: Resource<GatewayConfig>;
  names: NameBook;
  move: MoveOffer | null;
  /** The peer that a link suggests. */
  suggestion: { text: string } | undefined;
  /** Called after a change of the language: the page must render everything anew. */
  onLanguage: () => void;
}

/** The user settings, which override the server config. */
export function SettingsScreen({ active, config, names, move, suggestion, onLanguage }: Props) {
  const decided = useResource(gateway.trust, active);
  const cache = useResource(gateway.cache, active);
  const settings = useSettings(config, active);
  const sites = useSites(active);
  const titles = useMemo(
    () => new Map(sites.value?.flatMap(({ address, title }) => (title ? [[address, title] as const] : []))),
    [sites.value],
  );
  const [resets, setResets] = useState(0);
  const t = texts.settings;
  const isElsewhere = config.value?.isolation === 'subdomain';
  const trusted = isElsewhere ? [] : (config.value?.trusted ?? []);

  function afterReset() {
    for (const each of [decided, cache, config, settings, move]) each?.refresh();
    onLanguage();
    setResets(resets + 1);
    document.querySelector<HTMLElement>('main h1')?.focus();
  }

  return (
    <>
      <ScreenHeading title={t.title} intro={t.intro} />
      <p class={settings?.error ? 'note note-problem' : 'visually-hidden'} role="status">
        {settings?.error ? (
          <ProblemText problem={settings.error} />
        ) : resets > 0 ? (
          t.resetDone
        ) : (
          settings?.announcement
        )}
      </p>
      <div class="stack">
        <Appearance key={resets} onLanguage={onLanguage} />
        {settings ? (
          <>
            <PeersSection settings={settings} suggestion={suggestion} />
            <NodesSection settings={settings} />
            <StorageSection settings={settings} cache={cache} />
            <ListsSection settings={settings} />
            <NamesPart names={names} titles={titles} config={settings.config} onChange={config.refresh} />
          </>
        ) : (
          <div class="settings-waiting" />
        )}
        <DecidedSites
          decided={decided}
          trusted={trusted}
          isElsewhere={isElsewhere}
          names={titlesOf(names)}
          titles={titles}
        />
        {move && (
          <Section id="move" title={texts.move.title}>
            <div class="move-steps">
              <MoveSteps id="move-section" offer={move} onDeleted={afterReset} />
            </div>
          </Section>
        )}
        <BackupSection key={`backup ${resets}`} />
        {settings && (
          <details class="expert">
            <summary>{t.expert}</summary>
            <div class="stack">
              <TransportSection settings={settings} />
              <DeniedSection settings={settings} titles={titles} />
              <Section id="self-test" title={t.selfTest}>
                <p class="note">{t.selfTestNote}</p>
                <p>
                  <a href="/-/self-test">{t.selfTest}</a>
                </p>
              </Section>
            </div>
          </details>
        )}
        <Section id="reset" title={t.reset}>
          <p class="note">{t.resetNote}</p>
          <div class="actions">
            <DeleteEverything
              id="reset"
              label={t.resetButton}
              question={t.resetConfirm}
              onDeleted={afterReset}
            />
          </div>
        </Section>
      </div>
    </>
  );
}

/** The names of the user and the host, which the list of decisions shows. A list's names are texts of a stranger. */
function titlesOf(names: NameBook): ReadonlyMap<string, string> {
  const trusted = names.all.filter(({ source }) => source.kind !== 'list');
  return new Map(trusted.toReversed().map((meaning) => [written(meaning), meaning.address]));
}
