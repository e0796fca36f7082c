import type { ListedSite } from '../gateway-api.ts';
import { ProblemText } from '../problem-text.tsx';
import { titleOf } from '../site-title.ts';
import { texts } from '../texts/texts.ts';
import type { SiteFigures } from './use-site-figures.ts';

/** The selected origins: all, the gateway's own origin, or the origin of the site with this address. */
export type OriginSelection = 'all' | 'own' | (string & {});

export function isSiteView(view: OriginSelection): boolean {
  return view !== 'all' && view !== 'own';
}

interface Props {
  view: OriginSelection;
  sites: readonly ListedSite[];
  figures: readonly SiteFigures[];
  /** Whether there are sites that are not followed. */
  hasMore: boolean;
  onChange(view: OriginSelection): void;
}

/** Selects the figures to show, and lists the origins with missing or old figures. */
export function ViewSelect({ view, sites, figures, hasMore, onChange }: Props) {
  const t = texts.live;
  const failed = figures.filter(({ address, error }) => error && (view === 'all' || view === address));
  const titleAt = (address: string) => {
    const site = sites.find((each) => each.address === address);
    return site ? titleOf(site) : address;
  };
  return (
    <section class="card view-select" aria-label={t.view}>
      <label>
        <span class="label">{t.view}</span>
        <select value={view} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
          <option value="all">{t.viewAll}</option>
          <option value="own">{t.viewOwn}</option>
          {sites.map((site) => (
            <option key={site.address} value={site.address}>
              {titleOf(site)}
            </option>
          ))}
        </select>
      </label>
      <p class="note">
        {view === 'all'
          ? hasMore
            ? t.viewAllNoteMore(sites.length)
            : t.viewAllNote
          : view === 'own'
            ? t.viewOwnNote
            : t.viewSiteNote}
      </p>
      <div role="status">
        {failed.map(({ address, error, stats }) => (
          <p key={address} class="note note-problem">
            {(stats ? t.siteOld : t.siteMissing)(titleAt(address))}: <ProblemText problem={error!} />
          </p>
        ))}
      </div>
    </section>
  );
}
