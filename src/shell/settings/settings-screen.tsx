import { useState } from 'preact/hooks';
import { DeleteEverything } from '../delete-everything.tsx';
import { type GatewayConfig, gateway } from '../gateway-api.ts';
import { MoveSteps } from '../move/move-steps.tsx';
import type { MoveOffer } from '../move/use-library-move.ts';
import { ProblemText } from '../problem-text.tsx';
import { ScreenHeading } from '../screen-heading.tsx';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import { type Resource, useResource } from '../use-resource.ts';
import { DeniedSection, NamesSection } from './address-lists.tsx';
import { Appearance } from './appearance.tsx';
import { DecidedSites } from './decided-sites.tsx';
import { PeersSection } from './peers-section.tsx';
import { StorageSection } from './storage-section.tsx';
import { useSettings } from './use-settings.ts';

interface Props {
  active: boolean;
  config: Resource<GatewayConfig>;
  names: ReadonlyMap<string, string>;
  move: MoveOffer | null;
  /** Called after a change of the language: the page must render everything anew. */
  onLanguage: () => void;
}

/** The user settings, which override the server config. */
export function SettingsScreen({ active, config, names, move, onLanguage }: Props) {
  const decided = useResource(gateway.trust, active);
  const cache = useResource(gateway.cache, active);
  const settings = useSettings(config, active);
  const [resets, setResets] = useState(0);
  const t = texts.settings;
  const trusted = config.value?.isolation === 'subdomain' ? [] : (config.value?.trusted ?? []);

  function afterReset() {
    for (const each of [decided, cache, config, move]) each?.refresh();
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
        {settings && (
          <>
            <PeersSection settings={settings} />
            <StorageSection settings={settings} cache={cache} />
            <NamesSection settings={settings} />
            <DeniedSection settings={settings} />
          </>
        )}
        <DecidedSites decided={decided} trusted={trusted} names={names} />
        {move && (
          <Section id="move" title={texts.move.title}>
            <div class="move-steps">
              <MoveSteps id="move-section" offer={move} onDeleted={afterReset} />
            </div>
          </Section>
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
