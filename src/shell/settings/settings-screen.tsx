import { gateway } from '../gateway-api.ts';
import { ScreenHeading } from '../screen-heading.tsx';
import { texts } from '../texts/texts.ts';
import { useResource } from '../use-resource.ts';
import { Appearance } from './appearance.tsx';
import { DecidedSites } from './decided-sites.tsx';

interface Props {
  active: boolean;
  /** Name → address of this gateway's bookmarks. */
  names: ReadonlyMap<string, string>;
  /** Called when the language was changed: everything is to be rendered anew. */
  onLanguage: () => void;
}

export function SettingsScreen({ active, names, onLanguage }: Props) {
  const decided = useResource(gateway.trust, active);
  return (
    <>
      <ScreenHeading title={texts.settings.title} intro={texts.settings.intro} />
      <div class="stack">
        <Appearance onLanguage={onLanguage} />
        <DecidedSites decided={decided} names={names} />
      </div>
    </>
  );
}
