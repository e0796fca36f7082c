import type { DecidedSite } from '../../gateway/trust.ts';
import { formatAge, shortAddress } from '../format.ts';
import { gateway } from '../gateway-api.ts';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import { useAction } from '../use-action.ts';
import type { Resource } from '../use-resource.ts';

interface Props {
  decided: Resource<DecidedSite[]>;
  /** Name → address of this gateway's bookmarks. */
  names: ReadonlyMap<string, string>;
}

/** What the person answered when sites were opened for the first time. */
export function DecidedSites({ decided, names }: Props) {
  const { error, announcement, run } = useAction(decided.refresh);
  const nameOf = new Map([...names].map(([name, address]) => [address, name]));
  // By title, so that a row stays where it is, and keeps the focus, when its decision changes.
  const sites = (decided.value ?? [])
    .map((site) => ({ ...site, title: nameOf.get(site.address) ?? shortAddress(site.address) }))
    .sort((a, b) => a.title.localeCompare(b.title));

  function toggle({ address, decision, title }: TitledSite) {
    const next = decision === 'trusted' ? 'restricted' : 'trusted';
    return run(() => gateway.decide(address, next), `${title}: ${texts.settings.decisions[next].state}.`);
  }

  function revoke({ address, title }: TitledSite) {
    return run(async () => {
      await gateway.revokeDecision(address);
      // The button that had the focus goes with its row.
      document.getElementById('trust-heading')?.focus();
    }, texts.settings.willAsk(title));
  }

  return (
    <Section id="trust" title={texts.settings.trusted} error={error ?? decided.error}>
      <p class="note">{sites.length > 0 ? texts.settings.trustedNote : texts.settings.trustedNone}</p>
      {sites.length > 0 && (
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
      )}
      <p class="visually-hidden" role="status">
        {announcement}
      </p>
    </Section>
  );
}

type TitledSite = DecidedSite & { title: string };

interface EntryProps {
  site: TitledSite;
  onToggle: () => void;
  onRevoke: () => void;
}

function DecidedEntry({ site: { address, decision, decidedAt, title }, onToggle, onRevoke }: EntryProps) {
  const { state, change } = texts.settings.decisions[decision];
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
        <button
          type="button"
          class="link"
          aria-label={`${texts.settings.askAgain}: ${title}`}
          onClick={onRevoke}
        >
          {texts.settings.askAgain}
        </button>
      </span>
    </li>
  );
}
