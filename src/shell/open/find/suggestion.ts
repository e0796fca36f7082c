import type { Screen } from '../../route.ts';

/**
 * The kind of a suggestion. The list shows it beside the title, because strangers choose the titles of sites, entries of
 * catalogues and files.
 *
 * - `address`, `private`: the typed text itself is an address or a link with a key.
 * - `name`: a name of the user or of this gateway. `listedName`: a name of a list.
 */
export type SuggestionKind =
  | 'address'
  | 'private'
  | 'name'
  | 'listedName'
  | 'action'
  | 'site'
  | 'catalogue'
  | 'file';

export type Action = Exclude<Screen, 'open'> | 'openFile' | 'pin';

export interface Suggestion {
  kind: SuggestionKind;
  title: string;
  /** Shown beside the title, and searched. */
  detail: string;
  /** 64 hex digits. Searched from the start, and not shown. */
  address?: string;
  /** A content path of this gateway, or an action. The typed text has neither. */
  path?: string;
  action?: Action;
}

interface Indexed {
  suggestion: Suggestion;
  title: string;
  detail: string;
}

export type SuggestionIndex = readonly Indexed[];

/** Prepares suggestions for `rankSuggestions`, so that typing does not fold thousands of titles again. */
export function indexSuggestions(suggestions: readonly Suggestion[]): SuggestionIndex {
  return suggestions.map((suggestion) => ({
    suggestion,
    title: fold(suggestion.title),
    detail: fold(suggestion.detail),
  }));
}

const kinds: readonly SuggestionKind[] = [
  'private',
  'address',
  'action',
  'name',
  'site',
  'listedName',
  'catalogue',
  'file',
];

/** How many places of a title are compared with the starts of its words. */
const mostPlaces = 10;

/** How well a term matches, the best first. */
const tiers = { start: 0, word: 1, inside: 2, detail: 3 } as const;

/**
 * Finds the suggestions that contain every word of a query, best first.
 *
 * A title that starts with the query comes before one with a word that starts with it, and that before one that
 * contains it. Actions and names of this gateway come before titles of strangers if a word of theirs starts with the
 * query: a site cannot take the place of “Settings” by its title. Equal matches stay in the given order.
 *
 * A file needs a word of the query in its own name, because the title of its site is in the details of all its files.
 *
 * @param query any text. An empty query returns the first suggestions.
 */
export function rankSuggestions(index: SuggestionIndex, query: string, most = 8): Suggestion[] {
  const terms = fold(query).split(/\s+/).filter(Boolean);
  const whole = terms.join(' ');
  const found = [];
  for (const [place, entry] of index.entries()) {
    const { suggestion, title } = entry;
    const matches = terms.map((term) => tierOf(term, entry));
    if (matches.includes(undefined)) continue;
    // Every file of a site has the site's title in its details.
    if (suggestion.kind === 'file' && terms.length > 0 && !matches.some((tier) => tier !== tiers.detail))
      continue;
    const worst = Math.max(0, ...(matches as number[]));
    const isOwn = suggestion.kind === 'action' || suggestion.kind === 'name';
    const keys = [
      isOwn && worst <= tiers.word ? 0 : 1,
      title === whole ? -1 : worst,
      (matches as number[]).reduce((sum, tier) => sum + tier, 0),
      terms.length > 0 ? kinds.indexOf(suggestion.kind) : 0,
      place,
    ];
    found.push({ suggestion, keys });
  }
  if (terms.length > 0) found.sort((a, b) => compare(a.keys, b.keys));
  return found.slice(0, most).map(({ suggestion }) => suggestion);
}

function tierOf(term: string, { title, detail, suggestion }: Indexed): number | undefined {
  if (title.startsWith(term)) return tiers.start;
  let at = title.indexOf(term);
  // A stranger's title can repeat a letter a thousand times.
  for (let i = 0; at >= 0 && i < mostPlaces; i++, at = title.indexOf(term, at + 1)) {
    if (!/[\p{L}\p{N}]$/u.test(title.slice(Math.max(0, at - 2), at))) return tiers.word;
  }
  if (title.includes(term)) return tiers.inside;
  const isAddress = term.length >= 4 && suggestion.address?.startsWith(term);
  return isAddress || detail.includes(term) ? tiers.detail : undefined;
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((key, i) => key !== b[i]);
  return at < 0 ? 0 : a[at]! - b[at]!;
}

/** Removes differences of case, accents and width. */
function fold(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}
