import { useLazy } from '../use-lazy.ts';
import type { SearchResultsProps } from './search-results.tsx';

const load = () => import('./search-results.tsx');

/** The results of a full-text search. The search is loaded with the first query. */
export function SearchSection(props: SearchResultsProps) {
  const Results = useLazy<SearchResultsProps>(load);
  return Results && <Results {...props} />;
}
