import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NameBook } from '../../src/names/name-book.ts';
import { collectSuggestions } from '../../src/shell/open/find/collect.ts';
import {
  indexSuggestions,
  rankSuggestions,
  type Suggestion,
  type SuggestionKind,
} from '../../src/shell/open/find/suggestion.ts';
import { sanitizeLine } from '../../src/shell/sanitize-line.ts';

const hex = 'ab'.repeat(32);
const other = 'cd'.repeat(32);

const one = (kind: SuggestionKind, title: string, detail = '', address?: string): Suggestion => ({
  kind,
  title,
  detail,
  ...(address && { address }),
});

/** The titles that a query finds, best first. */
const ranked = (suggestions: readonly Suggestion[], query: string, most?: number) =>
  rankSuggestions(indexSuggestions(suggestions), query, most).map(({ title }) => title);

describe('the ranking of suggestions', () => {
  it('prefers the start of a title to the start of a word, and that to the middle of a word and the details', () => {
    const all = [
      one('site', 'Notes', 'about the tide'),
      one('site', 'Riptide'),
      one('site', 'Low tide'),
      one('site', 'Tide tables'),
      one('site', 'Tide'),
    ];
    expect(ranked(all, 'tide')).toEqual(['Tide', 'Tide tables', 'Low tide', 'Riptide', 'Notes']);
  });

  it('needs every word of the query, in any order', () => {
    const all = [one('file', 'shore.svg', 'Low Tide · img'), one('file', 'shore.txt', 'High Tide')];
    expect(ranked(all, 'low shore')).toEqual(['shore.svg']);
    expect(ranked(all, '  SHORE   low ')).toEqual(['shore.svg']);
    expect(ranked(all, 'shore missing')).toEqual([]);
  });

  it('ignores case, accents and width', () => {
    const all = [one('site', 'Über die Straße'), one('site', 'ＦＵＬＬ width')];
    expect(ranked(all, 'uber')).toEqual(['Über die Straße']);
    expect(ranked(all, 'ÜBER')).toEqual(['Über die Straße']);
    expect(ranked(all, 'full')).toEqual(['ＦＵＬＬ width']);
  });

  it('finds an address by its first digits, but not by two of them', () => {
    const all = [one('site', 'Low Tide', '', hex), one('site', 'Field notes', '', other)];
    expect(ranked(all, hex.slice(0, 4))).toEqual(['Low Tide']);
    expect(ranked(all, hex)).toEqual(['Low Tide']);
    expect(ranked(all, 'ab')).toEqual([]);
  });

  it('keeps the order of equal matches, and sites before recommendations and files', () => {
    const all = [
      one('file', 'tide a'),
      one('catalogue', 'tide b'),
      one('site', 'tide c'),
      one('site', 'tide d'),
    ];
    expect(ranked(all, 'tide')).toEqual(['tide c', 'tide d', 'tide b', 'tide a']);
  });

  it.each([
    ['settings', 'Settings', 'Change settings'],
    ['pub', 'Pub', 'Publish a folder'],
    ['publish a folder', 'Publish a folder', 'Publish a folder'],
    ['docs', 'Docs', 'docs'],
  ])('lets no title of a stranger come before an own entry (%s)', (query, title, own) => {
    const all = [
      one('site', title, query),
      one('catalogue', title, query),
      one('file', title, query),
      one('action', 'Change settings'),
      one('action', 'Publish a folder'),
      one('name', 'docs'),
    ];
    const [first] = rankSuggestions(indexSuggestions(all), query);
    expect(first?.title).toBe(own);
    expect(['action', 'name']).toContain(first?.kind);
  });

  it('gives the first suggestions for an empty query', () => {
    const all = ['c', 'a', 'b'].map((title) => one('site', title));
    expect(ranked(all, ' ', 2)).toEqual(['c', 'a']);
  });

  it('for any titles and any query gives at most the wanted number, each once and containing each word', () => {
    const title = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('tide', 'low tide', '\u202e', '<b>', ''),
    );
    const kind = fc.constantFrom<SuggestionKind>('action', 'name', 'site', 'catalogue', 'file');
    fc.assert(
      fc.property(
        fc.array(fc.record({ kind, title, detail: title }), { maxLength: 20 }),
        fc.oneof(fc.constantFrom('t', 'tide', 'lo ti', '.*', '(', '\\'), fc.string()),
        fc.integer({ min: 1, max: 8 }),
        (all, query, most) => {
          const found = rankSuggestions(indexSuggestions(all), query, most);
          expect(found.length).toBeLessThanOrEqual(most);
          expect(new Set(found).size).toBe(found.length);
          const folded = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
          for (const { title, detail } of found) {
            for (const term of folded(query).split(/\s+/).filter(Boolean)) {
              expect(folded(title).includes(term) || folded(detail).includes(term)).toBe(true);
            }
          }
        },
      ),
    );
  });

  it('ranks ten thousand long titles within a frame or two', () => {
    const all = Array.from({ length: 10_000 }, (_, i) =>
      one('file', `${'a'.repeat(90)} ${i}`, 'a'.repeat(90)),
    );
    const index = indexSuggestions(all);
    const start = performance.now();
    rankSuggestions(index, 'a a a 9999');
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});

describe('the list of suggestions', () => {
  const site = {
    ...{
      address: hex,
      path: `/${hex}/`,
      name: null,
      title: 'Low\u202e Tide\n',
      icon: null,
      kind: 'archive' as const,
    },
    ...{ lastOpened: 1, offline: true, pin: null, isManifest: false },
    ...{ bytes: { stored: 1, total: 1 }, chunks: { stored: 1, total: 1 } },
    ...{ hasOwnOrigin: false, isWithoutScripts: false, persisted: null },
  };
  const source = {
    sites: [site],
    names: new NameBook({
      own: { docs: hex, home: hex },
      host: { docs: other },
      lists: new Map([['club', { blog: other }]]),
    }),
    config: null,
    lists: new Map([
      [
        'Community',
        [
          { title: 'Field notes', address: other.toUpperCase() },
          { title: 'X', address: hex },
        ],
      ],
    ]),
    files: [{ address: hex, path: `/${hex}/`, files: ['img/50% #1?.svg', 'a\u202eb.txt'] }],
  };

  it('contains every site once, names, actions, lists with their source, and files with their site', () => {
    const found = collectSuggestions(source).filter(({ kind }) => kind !== 'action');
    expect(found).toEqual([
      { kind: 'site', title: 'Low  Tide', detail: '', address: hex, path: `/${hex}/` },
      {
        ...{ kind: 'name', title: '~docs', detail: 'Means another address than docs' },
        ...{ address: hex, path: `/${hex}/` },
      },
      { kind: 'name', title: '~home', detail: '', address: hex, path: `/${hex}/` },
      {
        ...{ kind: 'name', title: 'docs', detail: 'Means another address than ~docs' },
        ...{ address: other, path: '/docs/' },
      },
      { kind: 'listedName', title: 'blog@club', detail: '', address: other, path: `/${other}/` },
      { kind: 'catalogue', title: 'Field notes', detail: 'Community', address: other, path: `/${other}/` },
      {
        kind: 'file',
        title: '50% #1?.svg',
        detail: 'Low  Tide · img/',
        path: `/${hex}/img/50%25%20%231%3F.svg`,
      },
      { kind: 'file', title: 'a b.txt', detail: 'Low  Tide', path: `/${hex}/a%E2%80%AEb.txt` },
    ]);
  });

  it('describes a site without a title by its kind, and not by hex digits', () => {
    const [first] = collectSuggestions({ ...source, sites: [{ ...site, title: null }], files: [] });
    expect(first?.title).toBe('Site without a title');
  });
});

it('a plain line has no control characters and none that change the direction', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(sanitizeLine(text)).not.toMatch(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/u);
      expect(sanitizeLine(sanitizeLine(text))).toBe(sanitizeLine(text));
    }),
  );
  expect(sanitizeLine(' <b>Low</b>\tTide ')).toBe('<b>Low</b> Tide');
});
