import type { Site } from '../../library/library.ts';
import { ContentLink } from '../content-link.tsx';
import { formatAge } from '../format.ts';
import { gateway } from '../gateway-api.ts';
import { Icon } from '../icons.tsx';
import { Section } from '../section.tsx';
import { placeOf, titleOf } from '../site-title.ts';
import { texts } from '../texts/texts.ts';
import { useAction } from '../use-action.ts';
import type { Resource } from '../use-resource.ts';
import { SiteIcon } from './site-icon.tsx';

/** The maximum number of sites in the list. The library lists and searches all sites. */
const most = 50;

type OpenedSite = Site & { lastOpened: number };

export function RecentSites({ sites }: { sites: Resource<Site[]> }) {
  const opened = sites.value?.filter(isOpened).slice(0, most);
  const { error, announcement, run } = useAction(sites.refresh);

  function remove(site: Site) {
    return run(
      async () => {
        await gateway.forgetVisit(site.address);
        // The focused button disappears with its entry.
        document.getElementById('recent-heading')?.focus();
      },
      texts.open.removed(titleOf(site)),
    );
  }

  return (
    <Section id="recent" title={texts.open.recent} error={error ?? sites.error}>
      {opened && opened.length > 0 ? (
        <ul class="recent-list">
          {opened.map((site) => (
            <RecentEntry key={site.address} site={site} onRemove={() => remove(site)} />
          ))}
        </ul>
      ) : (
        <p class="empty">{opened ? texts.open.nothingOpened : texts.common.notKnownYet}</p>
      )}
      <p class="visually-hidden" role="status">
        {announcement}
      </p>
    </Section>
  );
}

function RecentEntry({ site, onRemove }: { site: OpenedSite; onRemove: () => void }) {
  const title = titleOf(site);
  const place = placeOf(site);
  return (
    <li>
      <ContentLink href={site.path}>
        <SiteIcon title={title} icon={site.icon} />
        <span class="recent-text">
          <span class="recent-title">{title}</span>
          <span class="recent-where">
            <span class="address">{title === place ? site.address : place}</span>
            <time dateTime={new Date(site.lastOpened).toISOString()}>
              {formatAge(site.lastOpened, Date.now())}
            </time>
          </span>
        </span>
      </ContentLink>
      <button type="button" class="remove" aria-label={texts.open.remove(title)} onClick={onRemove}>
        <Icon name="close" size={16} />
      </button>
    </li>
  );
}

/** Excludes sites that are pinned but were never opened. */
function isOpened(site: Site): site is OpenedSite {
  return site.lastOpened !== null;
}
