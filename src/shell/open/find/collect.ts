import { type NameBook, type NameMeaning, written } from '../../../names/name-book.ts';
import type { CatalogueEntry } from '../../../server-config.ts';
import type { FilesOfSite, GatewayConfig, ListedSite } from '../../gateway-api.ts';
import { sanitizeLine } from '../../sanitize-line.ts';
import { findTexts, shelfTexts } from '../../texts/later.ts';
import type { AddressInput } from '../address-input.ts';
import { shelfTitle } from '../shelf-title.ts';
import type { Action, Suggestion } from './suggestion.ts';

/** Everything that the input finds. All of it is on this device before the user types. */
export interface FindSource {
  sites: readonly ListedSite[];
  names: NameBook;
  config: GatewayConfig | null;
  /** The lists that the start page has loaded: title → entries. */
  lists: ReadonlyMap<string, readonly CatalogueEntry[]>;
  files: readonly FilesOfSite[];
}

const actions: readonly Action[] = ['publish', 'library', 'pin', 'live', 'settings', 'openFile'];

/** How many sites an empty input suggests, before the actions. */
const recentSites = 3;

/** Lists all suggestions: recent sites first, files last. Sites of the catalogue that are in the library come once. */
export function collectSuggestions({ sites, names, config, lists, files }: FindSource): Suggestion[] {
  const texts = findTexts();
  const known = sites.map(ofSite);
  const addresses = new Set(sites.map(({ address }) => address));
  const titles = new Map(sites.map((site) => [site.address, shelfTitle(site)]));
  const host = [...(config?.sample ? [config.sample] : []), ...(config?.catalogue ?? [])];
  const sources = [[shelfTexts().ofHost, host] as const, ...lists];
  return [
    ...known.slice(0, recentSites),
    ...actions.map((action) => ({
      kind: 'action' as const,
      title: texts.actions[action],
      detail: texts.actionWords[action],
      action,
    })),
    ...names.all.map((meaning) => ofName(meaning, names)),
    ...known.slice(recentSites),
    ...sources.flatMap(([source, entries]) =>
      entries
        .filter(({ address }) => !addresses.has(address.toLowerCase()))
        .map((entry) => ofEntry(entry, source)),
    ),
    ...files.flatMap(({ address, path, files }) => {
      const site = titles.get(address) ?? '';
      return files.map((file) => ofFile(file, path, site));
    }),
  ];
}

function ofSite(site: ListedSite): Suggestion {
  const { address, path, name } = site;
  return { kind: 'site', title: shelfTitle(site), detail: name ?? '', address, path };
}

/** The owner of a list chose its names, so they do not come before the user's sites. */
function ofName(meaning: NameMeaning, names: NameBook): Suggestion {
  const { name, source, address } = meaning;
  const others = names.conflictsOf(meaning);
  return {
    kind: source.kind === 'list' ? 'listedName' : 'name',
    title: written(meaning),
    detail: others.length > 0 ? findTexts().conflict(others.map(written).join(', ')) : '',
    address,
    path: `/${source.kind === 'host' ? name : address}/`,
  };
}

function ofEntry({ title, address, description = '' }: CatalogueEntry, source: string): Suggestion {
  const detail = [source, description].filter(Boolean).join(' · ');
  const hex = address.toLowerCase();
  return {
    kind: 'catalogue',
    title: sanitizeLine(title),
    detail: sanitizeLine(detail),
    address: hex,
    path: `/${hex}/`,
  };
}

/** @param root the site's path, with a slash at its end. */
function ofFile(file: string, root: string, site: string): Suggestion {
  const slash = file.lastIndexOf('/') + 1;
  const folder = file.slice(0, slash);
  return {
    kind: 'file',
    title: sanitizeLine(file.slice(slash)),
    detail: sanitizeLine([site, folder].filter(Boolean).join(' · ')),
    path: root + file.split('/').map(encodeURIComponent).join('/'),
  };
}

/** The typed text itself as a suggestion, with all digits of an address, and the actions for an address. */
export function suggestionsOfText(text: string, parsed: AddressInput): Suggestion[] {
  if (text.trim() === '') return [];
  if ('manifestLink' in parsed) return [{ kind: 'private', title: findTexts().privateTitle, detail: '' }];
  if (!('path' in parsed)) return [];
  const [, first = '', rest = ''] = /^\/([^/?#]*)(.*)$/.exec(parsed.path) ?? [];
  if (!/^[0-9a-f]{64}$/.test(first)) return [{ kind: 'name', title: first, detail: rest }];
  return [
    { kind: 'address', title: first, detail: rest },
    { kind: 'action', title: findTexts().pinAddress, detail: '', action: 'pin', address: first },
  ];
}
