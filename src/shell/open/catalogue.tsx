import { useEffect, useMemo } from 'preact/hooks';
import { parseSiteList } from '../../catalogue.ts';
import type { CatalogueEntry } from '../../server-config.ts';
import { gateway } from '../gateway-api.ts';
import { ProblemText } from '../problem-text.tsx';
import { sanitizeLine } from '../sanitize-line.ts';
import { Section } from '../section.tsx';
import { shelfTexts } from '../texts/later.ts';
import { useResource } from '../use-resource.ts';
import { CoverLink, WaitingCovers } from './cover-link.tsx';

/** Sites that the host or the author of a list recommends, in the given order. */
export function Catalogue({ entries }: { entries: readonly CatalogueEntry[] }) {
  return (
    <ul class="covers">
      {entries.map((entry) => {
        const { address, icon, cover } = picturesOf(entry);
        return (
          <li key={`${address} ${entry.title}`}>
            <CoverLink
              href={`/${address}/`}
              address={address}
              title={sanitizeLine(entry.title)}
              icon={icon}
              picture={cover}
            >
              {entry.description && <bdi>{sanitizeLine(entry.description)}</bdi>}
            </CoverLink>
          </li>
        );
      })}
    </ul>
  );
}

/** The URLs of an entry's pictures on this origin. The schema of entries keeps them below the address. */
export function picturesOf({ address, icon, cover }: CatalogueEntry) {
  const hex = address.toLowerCase();
  return { address: hex, icon: icon && `/${hex}/${icon}`, cover: cover && `/${hex}/${cover}` };
}

interface ListProps {
  /** From the configuration, so that a list cannot name itself. */
  title: string;
  address: string;
  isOfHost: boolean;
  /** Addresses that are never opened, 64 hex digits. */
  denied: readonly string[];
  active: boolean;
  onEntries: (title: string, entries: readonly CatalogueEntry[]) => void;
}

/** A list of sites behind an address. Its row has the same height before and after it is loaded. */
export function SiteList({ title, address, isOfHost, denied, active, onEntries }: ListProps) {
  const load = useMemo(
    () => async (signal: AbortSignal) => parseSiteList(await gateway.list(address, signal)),
    [address],
  );
  const { value: listed, error } = useResource(load, active);
  const value = useMemo(
    () => listed?.filter((entry) => !denied.includes(entry.address.toLowerCase())),
    [listed, denied],
  );
  useEffect(() => {
    if (value) onEntries(title, value);
  }, [value, title]);
  const note = error ? (
    <>
      {shelfTexts().notListed} <ProblemText problem={error} />
    </>
  ) : (
    value?.length === 0 && shelfTexts().emptyList
  );
  return (
    <Section id={`list list-${address}`} headingId={`list-${address}-heading`} title={title}>
      <p class="note">{isOfHost ? shelfTexts().listOfHost : shelfTexts().list}</p>
      {value && value.length > 0 ? (
        <Catalogue entries={value} />
      ) : (
        <WaitingCovers>{note && <p class={error ? 'note note-problem' : 'note'}>{note}</p>}</WaitingCovers>
      )}
    </Section>
  );
}
