import type { DecidedSite } from '../gateway/trust.ts';
import { formatAge, shortAddress } from './format.ts';
import { gateway } from './gateway-api.ts';
import { Section } from './section.tsx';
import { useAction } from './use-action.ts';
import type { Resource } from './use-resource.ts';

interface Props {
  decided: Resource<DecidedSite[]>;
  /** Name → address of this gateway's bookmarks. */
  names: ReadonlyMap<string, string>;
}

/** What the person answered when sites were opened for the first time. Hidden while there is nothing. */
export function DecidedSites({ decided, names }: Props) {
  const { error, announcement, run } = useAction(decided.refresh);
  const nameOf = new Map([...names].map(([name, address]) => [address, name]));
  // By title, so that a row stays where it is, and keeps the focus, when its decision changes.
  const sites = (decided.value ?? [])
    .map((site) => ({ ...site, title: nameOf.get(site.address) ?? shortAddress(site.address) }))
    .sort((a, b) => a.title.localeCompare(b.title));

  function toggle({ address, decision, title }: TitledSite) {
    const next = decision === 'trusted' ? 'restricted' : 'trusted';
    return run(() => gateway.decide(address, next), `${title}: ${meanings[next].state}.`);
  }

  function revoke({ address, title }: TitledSite) {
    return run(async () => {
      await gateway.revokeDecision(address);
      // The button that had the focus goes with its row, and the heading with the last one.
      document.getElementById(sites.length > 1 ? 'trust-heading' : 'recent-heading')?.focus();
    }, `You will be asked again when you open ${title}.`);
  }

  return (
    <>
      {sites.length > 0 && (
        <Section id="trust" title="Sites you decided about" error={error ?? decided.error}>
          <p class="note">
            All sites share this gateway’s origin. The scripts of a trusted site can read what other sites
            keep in this browser, and the gateway’s own settings.
          </p>
          <ul class="decided-list">
            {sites.map((site) => (
              <DecidedEntry
                key={site.address}
                site={site}
                onToggle={() => toggle(site)}
                onRevoke={() => revoke(site)}
              />
            ))}
          </ul>
        </Section>
      )}
      <p class="visually-hidden" role="status">
        {announcement}
      </p>
    </>
  );
}

type TitledSite = DecidedSite & { title: string };

/** In the words of the question at the first visit. */
const meanings = {
  trusted: { state: 'Trusted', change: 'Open without scripts' },
  restricted: { state: 'Without scripts', change: 'Trust this site' },
} as const;

interface EntryProps {
  site: TitledSite;
  onToggle: () => void;
  onRevoke: () => void;
}

function DecidedEntry({ site: { address, decision, decidedAt, title }, onToggle, onRevoke }: EntryProps) {
  const { state, change } = meanings[decision];
  return (
    <li>
      <span class="decided-title" title={address}>
        {title}
      </span>
      <span class="label">
        {state} · <time dateTime={new Date(decidedAt).toISOString()}>{formatAge(decidedAt, Date.now())}</time>
      </span>
      <span class="decided-actions">
        <button type="button" class="link" aria-label={`${change}: ${title}`} onClick={onToggle}>
          {change}
        </button>
        <button type="button" class="link" aria-label={`Ask me again: ${title}`} onClick={onRevoke}>
          Ask me again
        </button>
      </span>
    </li>
  );
}
