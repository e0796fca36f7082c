import { useEffect, useRef, useState } from 'preact/hooks';
import { shortAddress } from '../../address.ts';
import type { DecidedSite, Decision } from '../../gateway/state/trust.ts';
import { Button } from '../button.tsx';
import { formatAge } from '../format.ts';
import { gateway } from '../gateway-api.ts';
import { useSiteIsolation } from '../origins/use-site-isolation.ts';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import { useAction } from '../use-action.ts';
import { useArmed } from '../use-armed.ts';
import type { Resource } from '../use-resource.ts';

interface Props {
  decided: Resource<DecidedSite[]>;
  /** Addresses that the host trusts. */
  trusted: readonly string[];
  /** Whether this origin shows no sites at all. */
  isElsewhere: boolean;
  /** Name → address. */
  names: ReadonlyMap<string, string>;
  /** Address → title of the sites in the library. */
  titles: ReadonlyMap<string, string>;
}

/** The user's decisions on sites, and the host's decisions where the user has made none. */
export function DecidedSites({ decided, trusted, isElsewhere, names, titles }: Props) {
  const { error, announcement, run } = useAction(decided.refresh);
  const { value: isolation } = useSiteIsolation(decided.value !== null && !isElsewhere);
  const isOwn = isElsewhere || isolation === 'own';
  const t = texts.settings.ownScripts;
  const nameOf = new Map([...names].map(([name, address]) => [address, name]));
  const own = new Set(decided.value?.map(({ address }) => address));
  const ofHost = decided.value ? trusted.filter((address) => !own.has(address)) : [];
  // Sort by title, so that a row stays in place and keeps the focus when its decision changes.
  const sites = [
    ...(decided.value ?? []),
    ...ofHost.map((address) => ({ address, decision: 'trusted' as const, decidedAt: null })),
  ]
    .map((site) => ({
      ...site,
      title: nameOf.get(site.address) ?? titles.get(site.address) ?? shortAddress(site.address),
    }))
    .sort((a, b) => a.title.localeCompare(b.title));

  function toggle({ address, decision, title }: TitledSite) {
    const next = decision === 'trusted' ? 'restricted' : 'trusted';
    return run(() => gateway.decide(address, next), `${title}: ${texts.settings.decisions[next].state}.`);
  }

  function revoke({ address, title }: TitledSite) {
    return run(
      async () => {
        await gateway.revokeDecision(address);
        // The focused button disappears: with its row, or because the user cannot revoke the host's decision.
        document.getElementById('trust-heading')?.focus();
      },
      (trusted.includes(address) ? texts.settings.asHost : isOwn ? t.willRun : texts.settings.willAsk)(title),
    );
  }

  return (
    <Section id="trust" title={texts.settings.trusted} error={error ?? decided.error}>
      {isOwn && <p class="note">{sites.length > 0 ? t.note : t.none}</p>}
      {!isOwn && isolation === 'shared' && (
        <p class="note">{sites.length > 0 ? texts.settings.trustedNote : texts.settings.trustedNone}</p>
      )}
      {sites.length > 0 && (
        <ul class="decided-list">
          {sites.map((site) => (
            <DecidedEntry
              key={site.address}
              site={site}
              isTrustedByHost={trusted.includes(site.address)}
              isOwn={isOwn}
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

/** `decidedAt` is null for a decision of the host. */
interface TitledSite {
  address: string;
  decision: Decision;
  decidedAt: number | null;
  title: string;
}

interface EntryProps {
  site: TitledSite & Pick<DecidedSite, 'content' | 'allVersions'>;
  isTrustedByHost: boolean;
  /** Whether the site runs its scripts on an origin of its own. They need no trust there. */
  isOwn: boolean;
  onToggle: () => void;
  onRevoke: () => void;
}

function DecidedEntry({ site, isTrustedByHost, isOwn, onToggle, onRevoke }: EntryProps) {
  const { address, decision, decidedAt, title } = site;
  const { state, change } = texts.settings.decisions[decision];
  const t = texts.settings.ownScripts;
  // Without a decision the scripts run. Trust would also hold on this origin, if sites come to share it.
  const isAllowing = isOwn && decision === 'restricted';
  const withoutHost = isAllowing ? t.allow : isOwn ? t.remove : texts.settings.askAgain;
  const revoke = isTrustedByHost ? texts.settings.useHosts : withoutHost;
  const [isAsking, setIsAsking] = useState(false);
  const isArmed = useArmed(isAsking);
  const toggleButton = useRef<HTMLButtonElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const versions = site.allVersions
    ? texts.settings.allVersions
    : site.content && site.content !== address
      ? texts.settings.oneVersion
      : null;
  // Focus the safest choice.
  useEffect(() => {
    if (isAsking) cancel.current?.focus();
  }, [isAsking]);

  function end() {
    setIsAsking(false);
    toggleButton.current?.focus();
  }
  return (
    <li>
      <span class="decided-title" title={address}>
        <bdi>{title}</bdi>
      </span>
      <span class="label">
        {state} · {versions && `${versions} · `}
        {decidedAt === null ? (
          texts.settings.ofHost
        ) : (
          <time dateTime={new Date(decidedAt).toISOString()}>{formatAge(decidedAt, Date.now())}</time>
        )}
      </span>
      <span class="decided-actions">
        {!isAllowing && (
          <Button
            look="link"
            ref={toggleButton}
            aria-label={`${change}: ${title}`}
            onClick={decision === 'trusted' ? onToggle : () => setIsAsking(true)}
          >
            {change}
          </Button>
        )}
        {decidedAt !== null && (
          <Button look="link" aria-label={`${revoke}: ${title}`} onClick={onRevoke}>
            {revoke}
          </Button>
        )}
      </span>
      {isAsking && !isAllowing && (
        <div role="alertdialog" aria-labelledby={`trust-${address}`} class="question">
          <p id={`trust-${address}`}>{texts.settings.confirmTrust(title)}</p>
          <p class="actions">
            <Button
              look="danger"
              aria-disabled={!isArmed}
              onClick={() => {
                if (!isArmed) return;
                onToggle();
                end();
              }}
            >
              {texts.settings.trustNow}
            </Button>
            <Button look="quiet" ref={cancel} onClick={end}>
              {texts.common.cancel}
            </Button>
          </p>
        </div>
      )}
    </li>
  );
}
