import type { RecentSite } from '../../gateway/recent.ts';
import { decodePath, formatAge, shortAddress } from '../format.ts';
import { gateway } from '../gateway-api.ts';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import { useAction } from '../use-action.ts';
import type { Resource } from '../use-resource.ts';
import { SiteIcon } from './site-icon.tsx';

/** The sites that were opened last in this browser. */
export function RecentSites({ recent }: { recent: Resource<RecentSite[]> }) {
  const { error, announcement, run } = useAction(recent.refresh);

  function remove(site: RecentSite) {
    return run(
      async () => {
        await gateway.removeRecent(site.path);
        // The button that had the focus goes with its entry.
        document.getElementById('recent-heading')?.focus();
      },
      texts.open.removed(titleOf(site)),
    );
  }

  return (
    <Section id="recent" title={texts.open.recent} error={error ?? recent.error}>
      {recent.value && recent.value.length > 0 ? (
        <ul class="recent-list">
          {recent.value.map((site) => (
            <RecentEntry key={site.path} site={site} onRemove={() => remove(site)} />
          ))}
        </ul>
      ) : (
        <NothingOpened isKnown={recent.value !== null} />
      )}
      <p class="visually-hidden" role="status">
        {announcement}
      </p>
    </Section>
  );
}

function RecentEntry({ site, onRemove }: { site: RecentSite; onRemove: () => void }) {
  const title = titleOf(site);
  return (
    <li>
      <a href={site.path}>
        <SiteIcon title={title} />
        <span class="recent-text">
          <span class="recent-title">{title}</span>
          <span class="recent-where">
            <span class="address">{site.address}</span>
            <time dateTime={new Date(site.openedAt).toISOString()}>
              {formatAge(site.openedAt, Date.now())}
            </time>
          </span>
        </span>
      </a>
      <button type="button" class="remove" aria-label={texts.open.remove(title)} onClick={onRemove}>
        <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <path d="M4 4l8 8M12 4l-8 8" />
        </svg>
      </button>
    </li>
  );
}

function NothingOpened({ isKnown }: { isKnown: boolean }) {
  return <p class="empty">{isKnown ? texts.open.nothingOpened : texts.common.notKnownYet}</p>;
}

/** The site's name or address as its URL has it, without the slashes around it and short enough for a line. */
function titleOf({ address, path }: RecentSite): string {
  const place = decodePath(path).replace(/^\/|\/$/g, '');
  return place.replace(address, shortAddress(address));
}
