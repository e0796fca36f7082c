import { Button } from '../button.tsx';
import { Icon } from '../icons.tsx';
import { SiteIcon } from '../open/site-icon.tsx';
import { ScreenLink } from '../screen-link.tsx';
import { texts } from '../texts/texts.ts';
import { viewerTexts } from '../texts/viewer.ts';
import type { ShownView } from './use-view.ts';
import { verificationOf } from './verification.ts';

export type Panel = 'details' | 'files' | 'share';

interface Props {
  /** Text of a stranger. */
  title: string;
  /** The name or the short address of the site. */
  place: string;
  icon: string | null;
  view: ShownView | null;
  /** Whether a message of the shell takes the place of the frame, and says what the content is. */
  isCovered: boolean;
  path: string;
  /** Null if the library does not know the site yet. */
  isPinned: boolean | null;
  panel: Panel | null;
  onPanel: (panel: Panel | null) => void;
  onPin: () => void;
}

/** The bar above the frame. Content cannot draw over it, and cannot change it except by its title. */
export function SiteBar({
  title,
  place,
  icon,
  view,
  isCovered,
  path,
  isPinned,
  panel,
  onPanel,
  onPin,
}: Props) {
  const t = viewerTexts();
  const verification = view ? verificationOf(view) : 'opening';
  const pinLabel = isPinned ? t.unpin : t.pin;
  const toggle = (name: Panel) => ({
    'aria-expanded': panel === name,
    onClick: () => onPanel(panel === name ? null : name),
  });
  return (
    <header class="site-bar">
      <ScreenLink to="open" class="icon-button">
        <Icon name="home" />
        <span class="visually-hidden">{t.home}</span>
      </ScreenLink>
      <SiteIcon title={title} icon={icon} />
      <div class="site-bar-text">
        <h1 tabIndex={-1}>
          <bdi>{title}</bdi>
        </h1>
        {title !== place && <p class="address">{place}</p>}
      </div>
      {!isCovered && (
        <button type="button" class={`site-state site-state-${verification}`} {...toggle('details')}>
          {verification !== 'opening' && (
            <Icon name={verification === 'verified' ? 'shield' : 'warning'} size={16} />
          )}
          <span>{t.states[verification]}</span>
        </button>
      )}
      <div class="site-bar-actions">
        <Button
          look="icon"
          title={pinLabel}
          aria-label={pinLabel}
          aria-pressed={isPinned === true}
          disabled={isPinned === null}
          onClick={onPin}
        >
          <Icon name="pin" />
        </Button>
        <Button look="icon" title={t.files} aria-label={t.files} {...toggle('files')}>
          <Icon name="folder" />
        </Button>
        <Button look="icon" title={texts.common.share} aria-label={texts.common.share} {...toggle('share')}>
          <Icon name="share" />
        </Button>
        <a class="icon-button" href={path} target="_blank" rel="noopener" title={t.openTab}>
          <Icon name="tab" />
          <span class="visually-hidden">{t.openTab}</span>
        </a>
      </div>
    </header>
  );
}
