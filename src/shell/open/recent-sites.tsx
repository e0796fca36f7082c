import type { Site } from '../../library/library.ts';
import { formatAge } from '../format.ts';
import { gateway } from '../gateway-api.ts';
import { Icon } from '../icons.tsx';
import { Section } from '../section.tsx';
import { hrefOfSite } from '../site-href.ts';
import { texts } from '../texts/texts.ts';
import { useAction } from '../use-action.ts';
import type { Resource } from '../use-resource.ts';
import { CoverLink } from './cover-link.tsx';
import { shelfTitle } from './shelf-title.ts';

/** The maximum number of sites in the row. The library lists and searches all sites. */
const most = 30;

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
      texts.open.removed(shelfTitle(site)),
    );
  }

  return (
    <Section id="recent" title={texts.open.recent} error={error ?? sites.error}>
      {opened && opened.length > 0 ? (
        <ul class="covers">
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
  const { address, icon, name, lastOpened } = site;
  const title = shelfTitle(site);
  return (
    <li>
      <CoverLink href={hrefOfSite(site)} address={address} title={title} icon={icon}>
        {name && name !== title && `${name} · `}
        <time dateTime={new Date(lastOpened).toISOString()}>{formatAge(lastOpened, Date.now())}</time>
      </CoverLink>
      <button type="button" class="remove" aria-label={texts.open.remove(title)} onClick={onRemove}>
        <Icon name="close" size={14} />
      </button>
    </li>
  );
}

/** Excludes sites that are pinned but were never opened. */
function isOpened(site: Site): site is OpenedSite {
  return site.lastOpened !== null;
}
