import { useEffect, useState } from 'preact/hooks';
import { encodePath } from '../../gateway/http/target.ts';
import { ContentLink } from '../content-link.tsx';
import { formatCount } from '../format.ts';
import { asGatewayApiError, type GatewayApiError, type ListedSite } from '../gateway-api.ts';
import { ProblemText } from '../problem-text.tsx';
import { sanitizeLine } from '../sanitize-line.ts';
import { titleOf } from '../site-title.ts';
import { searchTexts } from '../texts/search.ts';
import { isSearched, SiteSearch } from './site-search.ts';
import type { FoundDocument } from './text-index.ts';

export interface SearchResultsProps {
  query: string;
  sites: readonly ListedSite[] | null;
}

const leastCharacters = 2;
/** How long the user must not type before the search starts, in milliseconds. */
const restMs = 250;

/** One index for the page. It is made by the first search, and then follows the pins. */
let search: SiteSearch | undefined;

function useSearch(query: string, sites: readonly ListedSite[] | null) {
  const [found, setFound] = useState<readonly FoundDocument[] | null>(null);
  const [isFull, setFull] = useState(false);
  const [error, setError] = useState<GatewayApiError | null>(null);
  const pinned = sites?.filter(isSearched) ?? [];
  const key = pinned.map(({ address }) => address).join();
  const isAsked = query.length >= leastCharacters && (pinned.length > 0 || search !== undefined);
  useEffect(() => {
    setError(null);
    setFound(null);
    if (!isAsked) return;
    let isOver = false;
    const timer = setTimeout(async () => {
      try {
        search ??= new SiteSearch();
        const isNowFull = await search.synchronise(pinned);
        if (isOver) return;
        const result = await search.search(query);
        if (isOver) return;
        setFull(isNowFull);
        setFound(result);
      } catch (caught) {
        search = undefined;
        if (!isOver) setError(asGatewayApiError(caught));
      }
    }, restMs);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [query, key, isAsked]);
  return { isAsked: isAsked && pinned.length > 0, found, isFull, error };
}

/** The pages of pinned sites whose text contains the words of the query. */
export default function SearchResults({ query, sites }: SearchResultsProps) {
  const { isAsked, found, isFull, error } = useSearch(query.trim(), sites);
  if (!isAsked) return null;
  const t = searchTexts();
  const bySite = new Map(sites?.map((site) => [site.address, site]));
  return (
    <section class="card search-results" aria-labelledby="search-heading">
      <h2 id="search-heading">{t.title}</h2>
      <p class="note">{t.note}</p>
      <p class={error ? 'note note-problem' : 'note'} role="status">
        {error ? (
          <ProblemText problem={error} />
        ) : !found ? (
          t.reading
        ) : found.length === 0 ? (
          t.none
        ) : (
          t.count(found.length, formatCount(found.length))
        )}
        {isFull && ` ${t.full}`}
      </p>
      <ul>
        {found?.map(({ site, path, title, snippet: [before, match, after] }) => {
          const listed = bySite.get(site);
          return (
            listed && (
              <li key={`${site}/${path}`} class="found">
                <ContentLink class="site-title" href={pathOf(listed, path)}>
                  <bdi>{sanitizeLine(title || path) || titleOf(listed)}</bdi>
                </ContentLink>
                {titleOf(listed) !== title && (
                  <p class="note">
                    <bdi>{titleOf(listed)}</bdi>
                  </p>
                )}
                <p class="found-text" dir="auto">
                  {before}
                  <mark>{match}</mark>
                  {after}
                </p>
              </li>
            )
          );
        })}
      </ul>
    </section>
  );
}

/** @param path of the document in the site. Empty for a single file. */
function pathOf({ path: root }: ListedSite, path: string): string {
  if (path === '') return root;
  const slash = root.endsWith('/') ? '' : '/';
  return root + slash + encodePath(path.replace(/(^|\/)index\.html$/, '$1'));
}
