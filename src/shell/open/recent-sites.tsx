import type { RecentSite } from '../../gateway/recent.ts';
import type { Site } from '../../library/library.ts';
import { decodePath, formatAge, shortAddress } from '../format.ts';
import { gateway } from '../gateway-api.ts';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import { useAction } from '../use-action.ts';
import type { Resource } from '../use-resource.ts';
import { SiteIcon } from './site-icon.tsx';

interface Props {
  recent: Resource<RecentSite[]>;
  /** What the library knows of them; null as long as it was not asked. */
  sites: readonly Site[] | null;
}

/** The sites that were opened last in this browser. */
export function RecentSites({ recent, sites }: Props) {
  const known = new Map(sites?.map((site) => [site.address, site]));
  const { error, announcement, run } = useAction(recent.refresh);

  function remove(site: RecentSite) {
    return run(
      async () => {
        await gateway.removeRecent(site.path);
        // The button that had the focus goes with its entry.
        document.getElementById('recent-heading')?.focus();
      },
      texts.open.removed(placeOf(site)),
    );
  }

  return (
    <Section id="recent" title={texts.open.recent} error={error ?? recent.error}>
      {recent.value && recent.value.length > 0 ? (
        <ul class="recent-list">
          {recent.value.map((site) => (
            <RecentEntry
              key={site.path}
              site={site}
              known={known.get(site.address)}
              onRemove={() => remove(site)}
            />
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

interface EntryProps {
  site: RecentSite;
  known: Site | undefined;
  onRemove: () => void;
}

function RecentEntry({ site, known, onRemove }: EntryProps) {
  const place = placeOf(site);
  const title = known?.title || place;
  return (
    <li>
      <a href={site.path}>
        <SiteIcon title={title} icon={known?.icon} />
        <span class="recent-text">
          <span class="recent-title">{title}</span>
          <span class="recent-where">
            <span class="address">{title === place ? site.address : place}</span>
            <time dateTime={new Date(site.openedAt).toISOString()}>
              {formatAge(site.openedAt, Date.now())}
            </time>
          </span>
        </span>
      </a>
      <button type="button" class="remove" aria-label={texts.open.remove(place)} onClick={onRemove}>
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
function placeOf({ address, path }: RecentSite): string {
  const place = decodePath(path).replace(/^\/|\/$/g, '');
  return place.replace(address, shortAddress(address));
}
