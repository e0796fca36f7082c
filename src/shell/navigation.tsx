import { Icon } from './icons.tsx';
import { type Screen, screens } from './route.ts';
import { ScreenLink } from './screen-link.tsx';
import { texts } from './texts/texts.ts';

/** The links between screens: a row below the header, and on phones a bar at the bottom, within reach of the thumb. */
export function Navigation({ current }: { current: Screen | null }) {
  return (
    <nav class="navigation" aria-label={texts.nav.label}>
      <ul>
        {screens.map((screen) => (
          <li key={screen}>
            <ScreenLink to={screen} isCurrent={screen === current}>
              <Icon name={screen} />
              <span>{texts.nav[screen]}</span>
            </ScreenLink>
          </li>
        ))}
      </ul>
    </nav>
  );
}
