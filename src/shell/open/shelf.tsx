// Loaded after the first screen, which does not need it.
import '../styles/shelf.css';
import { useState } from 'preact/hooks';
import type { NameBook } from '../../names/name-book.ts';
import type { CatalogueEntry } from '../../server-config.ts';
import type { GatewayConfig, ListedSite } from '../gateway-api.ts';
import { Section } from '../section.tsx';
import { shelfTexts } from '../texts/later.ts';
import type { Resource } from '../use-resource.ts';
import { Catalogue, SiteList } from './catalogue.tsx';
import { ListedNames, Names } from './names.tsx';
import { RecentSites } from './recent-sites.tsx';
import { SampleCard } from './sample-card.tsx';

interface Props {
  sites: Resource<ListedSite[]>;
  names: NameBook;
  config: GatewayConfig;
  active: boolean;
  onEntries: (title: string, entries: readonly CatalogueEntry[]) => void;
}

/**
 * Everything that a user can open: recent sites, names, and the recommendations of the host and of lists. For a first
 * visit, the sample comes first. The order stays while the page is open, also when a site is opened.
 */
export function Shelf({ sites, names, config, active, onEntries }: Props) {
  const { sample, catalogue, lists, sources } = config;
  const [opened] = useState(
    () => new Set(sites.value?.filter(({ lastOpened }) => lastOpened !== null).map(({ address }) => address)),
  );
  const isNewSample = sample && !opened.has(sample.address.toLowerCase());
  const recommended = sample && !isNewSample ? [sample, ...catalogue] : catalogue;
  const recent = <RecentSites sites={sites} />;
  return (
    <>
      {opened.size > 0 && recent}
      {isNewSample && <SampleCard sample={sample} />}
      {opened.size === 0 && recent}
      <Names names={names} />
      {recommended.length > 0 && (
        <Section id="catalogue" title={shelfTexts().ofHost}>
          <Catalogue entries={recommended} />
        </Section>
      )}
      {Object.entries(lists).map(([title, address]) => (
        <SiteList
          key={`${title} ${address}`}
          title={title}
          address={address}
          isOfHost={sources.lists[title] === 'host'}
          denied={config.denied}
          active={active}
          onEntries={onEntries}
        />
      ))}
      {/* Last, so that late names move nothing but the footer. */}
      <ListedNames names={names} lists={Object.keys(config.nameLists)} />
    </>
  );
}
