import { lazyComponent } from '../lazy-component.tsx';

/** The results of a full-text search. The search is loaded with the first query. */
export const SearchSection = lazyComponent(() => import('./search-results.tsx'));
