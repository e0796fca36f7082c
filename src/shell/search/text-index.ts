import MiniSearch from 'minisearch';
import type { DocumentText } from './text-of.ts';

/** The limits of the index, which is in memory only. Text is counted in UTF-16 units. */
export const indexLimits = { documents: 5_000, text: 16 * 1024 * 1024 };

export interface FoundDocument {
  /** The site's address. */
  site: string;
  path: string;
  /** The document's own title. May be empty. */
  title: string;
  /** The text around the first match: before it, the match, after it. */
  snippet: readonly [before: string, match: string, after: string];
}

interface IndexedDocument extends DocumentText {
  id: number;
  site: string;
  path: string;
}

const mostFound = 30;
const mostQueryLength = 200;
/** UTF-16 units of the text around a match. */
const aroundMatch = 80;
/** Scripts that do not separate words by spaces. */
const unspaced = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]/;
const segmenter = 'Segmenter' in Intl ? new Intl.Segmenter(undefined, { granularity: 'word' }) : undefined;

/** A full-text index of documents, in memory. */
export class TextIndex {
  readonly #documents = new Map<number, IndexedDocument>();
  readonly #bySite = new Map<string, number[]>();
  readonly #index = new MiniSearch<IndexedDocument>({
    fields: ['title', 'text'],
    storeFields: [],
    tokenize: wordsIn,
    processTerm: fold,
    searchOptions: { combineWith: 'AND', prefix: true, boost: { title: 3 } },
  });
  #ids = 0;
  #textLength = 0;

  /** Whether there is no room for another document. */
  get isFull(): boolean {
    return this.#documents.size >= indexLimits.documents || this.#textLength >= indexLimits.text;
  }

  get sites(): string[] {
    return [...this.#bySite.keys()];
  }

  /** Makes a site known, also if it has no documents. */
  begin(site: string): void {
    if (!this.#bySite.has(site)) this.#bySite.set(site, []);
  }

  /** @returns false if there is no room. */
  add(site: string, path: string, document: DocumentText): boolean {
    if (this.isFull) return false;
    this.begin(site);
    const id = this.#ids++;
    const { title, text } = document;
    const entry = { id, site, path, title, text };
    this.#documents.set(id, entry);
    this.#bySite.get(site)!.push(id);
    this.#textLength += title.length + text.length;
    this.#index.add(entry);
    return true;
  }

  remove(site: string): void {
    for (const id of this.#bySite.get(site) ?? []) {
      const document = this.#documents.get(id)!;
      this.#index.remove(document);
      this.#documents.delete(id);
      this.#textLength -= document.title.length + document.text.length;
    }
    this.#bySite.delete(site);
  }

  /** The best matches first. Every word of the query must begin a word of the document. */
  search(query: string): FoundDocument[] {
    const found = this.#index.search(query.slice(0, mostQueryLength)).slice(0, mostFound);
    return found.map(({ id, terms }) => {
      const { site, path, title, text } = this.#documents.get(id)!;
      return { site, path, title, snippet: snippetOf(text, terms) };
    });
  }
}

function wordsIn(text: string): string[] {
  const words = text.split(/[\s\p{P}\p{S}]+/u).filter(Boolean);
  if (!segmenter || !unspaced.test(text)) return words;
  return words.flatMap((word) =>
    unspaced.test(word)
      ? Array.from(segmenter.segment(word), ({ segment, isWordLike }) => (isWordLike ? segment : '')).filter(
          Boolean,
        )
      : word,
  );
}

/** Case and accents do not matter. */
function fold(term: string): string {
  return term
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
}

function snippetOf(text: string, terms: readonly string[]): FoundDocument['snippet'] {
  // Find whole words, because folding changes the length of a text.
  for (const { 0: word, index } of text.matchAll(/[^\s\p{P}\p{S}]+/gu)) {
    const folded = fold(word);
    if (!terms.some((term) => folded.includes(term))) continue;
    const start = Math.max(index - aroundMatch, 0);
    const end = index + word.length;
    const before = (start > 0 ? '…' : '') + text.slice(start, index).toWellFormed();
    const after =
      text.slice(end, end + aroundMatch).toWellFormed() + (end + aroundMatch < text.length ? '…' : '');
    return [before, word.slice(0, aroundMatch), after];
  }
  const after = text.slice(0, 2 * aroundMatch).toWellFormed();
  return ['', '', after + (text.length > 2 * aroundMatch ? '…' : '')];
}
