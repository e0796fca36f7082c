import { limits } from '../../limits.ts';
import { editLink, type LinkContext, type LinkScanner, type LinkTargets, type OnEdit } from './link-map.ts';

/** A token this far from the end of the text does not depend on what follows. */
const lookAhead = 8;

/**
 * The tokens of CSS Syntax (Level 3, section 4) as far as links need them: a comment, a string, a name with the mark
 * before it and the bracket behind it, a bracket, anything else.
 */
const anyToken =
  /\/\*.*?(?:\*\/|$)|("(?:[^"\\\n\r\f]+|\\(?:\r\n|.))*"?|'(?:[^'\\\n\r\f]+|\\(?:\r\n|.))*'?)|([@#]?(?:[\w-]|[\0\x80-\uffff]|\\[^\n\r\f])+)(\(?)|([(),])|\s+|./sy;

/** Behind `url(`: a quote, or the URL and what ends it. */
const insideUrl = /[ \t\n\r\f]*(?:(["'])|((?:[^)\\]+|\\.)*\\?)(\)|$))/sy;

/** Parts that a URL without quotes cannot contain: quotes, brackets, control characters, white space within it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: CSS forbids them in URLs
const badUrl = /["'(\\\0-\x08\x0b\x0e-\x1f\x7f]|[^ \t\n\r\f][ \t\n\r\f]+[^ \t\n\r\f]/;

const anyEscape = /\\(?:[0-9a-f]{1,6}\s?|[^\n\r\f]|$)/gi;

/** Functions whose first string is a URL. */
const urlFunction = /^(url|src|(-webkit-)?image-set)$/i;

/** A token beyond the limit, which passes unchanged. */
interface Skipped {
  /** `*` for a comment; otherwise the character that ends the token. */
  end: string;
  /** The former character, if it changes the meaning of the next one. */
  former: string;
}

/** Finds links in `url()`, `src()`, `image-set()` and `@import` of a style sheet, or of a `style` attribute. */
export class CssLinks implements LinkScanner {
  readonly #targets: LinkTargets;
  readonly #onEdit: OnEdit;
  readonly #context: LinkContext;
  /** The token that is not complete yet, and its position. */
  #pending = '';
  #at: number;
  #skipped: Skipped | undefined;
  /** Whether a string at this place would be a URL. */
  #expectsUrl = false;
  /** How many brackets are open, beginning with that of `image-set(`. */
  #imageSetDepth = 0;

  /** @param at position of the style sheet in its document. */
  constructor(targets: LinkTargets, onEdit: OnEdit, at = 0, context: LinkContext = {}) {
    this.#targets = targets;
    this.#onEdit = onEdit;
    this.#at = at;
    this.#context = context;
  }

  get settled(): number {
    return this.#at;
  }

  /** Whether no token is incomplete. */
  get isIdle(): boolean {
    return this.#pending === '';
  }

  write(text: string): void {
    this.#scan(this.#pending + text, false);
  }

  end(): void {
    this.#scan(this.#pending, true);
  }

  #scan(text: string, isLast: boolean): void {
    const rest = this.#skipped ? this.#skip(text, 0) : text;
    let done = 0;
    while (done < rest.length) {
      const end = this.#read(rest, done, isLast ? rest.length : rest.length - lookAhead);
      if (end === undefined) break;
      done = end;
    }
    this.#consume(rest, done);
    if (this.#pending.length > limits.linkTokenBytes) this.#pass();
  }

  #consume(text: string, length: number): void {
    this.#at += length;
    this.#pending = text.slice(length);
  }

  /** Reads a token. @returns its end, or undefined if it ends after `last`. */
  #read(text: string, start: number, last: number): number | undefined {
    anyToken.lastIndex = start;
    const [whole, string, name, bracket, mark] = anyToken.exec(text)!;
    let end = start + whole.length;
    let url: { text: string; at: number } | undefined;
    if (bracket && /^\\?u\\?r\\?l$/i.test(name!)) {
      insideUrl.lastIndex = end;
      const match = insideUrl.exec(text)!;
      if (!match[1]) {
        end = insideUrl.lastIndex;
        url = { text: match[2]!, at: end - match[2]!.length - match[3]!.length };
      }
    }
    if (end > last) return undefined;
    const at = this.#at + start;
    if (url && !badUrl.test(url.text.replace(anyEscape, 'x'))) this.#edit(url.text, this.#at + url.at);
    const isWhole = string && string.length > 1 && string.at(-1) === string[0];
    if (isWhole && this.#expectsUrl) this.#edit(string.slice(1, -1), at + 1);
    if (/^(\/\*|\s)/.test(whole)) return end;
    const isFunction = bracket && !url;
    this.#expectsUrl =
      (isFunction ? urlFunction.test(name!) : /^@import$/i.test(name ?? '')) ||
      (mark === ',' && this.#imageSetDepth === 1);
    const opens = isFunction || mark === '(';
    if (opens && (this.#imageSetDepth > 0 || /image-set$/i.test(name ?? ''))) this.#imageSetDepth++;
    if (mark === ')' && this.#imageSetDepth > 0) this.#imageSetDepth--;
    return end;
  }

  /** Passes over the token at the start of the pending text, which is too long. */
  #pass(): void {
    const text = this.#pending;
    const [start, comment, quote] = /^(?:(\/\*)|(["'])|url\()?/i.exec(text)!;
    this.#expectsUrl = false;
    if (start) {
      this.#skipped = { end: comment ? '*' : (quote ?? ')'), former: '' };
      this.#skip(text, start.length);
    } else {
      this.#consume(text, text.length - lookAhead);
    }
  }

  /** @returns the text behind the token. */
  #skip(text: string, from: number): string {
    const { end } = this.#skipped!;
    let at = from;
    for (; at < text.length && this.#skipped; at++) {
      const character = text[at]!;
      const { former } = this.#skipped;
      const isEscaped = former === '\\' || (former === '\r' && character === '\n');
      this.#skipped.former =
        (isEscaped ? character === '\r' && '\r' : /[*\\]/.test(character) && character) || '';
      const isLineEnd = end !== ')' && /[\n\r\f]/.test(character);
      const isEnd =
        end === '*' ? former === '*' && character === '/' : !isEscaped && (character === end || isLineEnd);
      if (isEnd) this.#skipped = undefined;
    }
    this.#consume(text, at);
    return this.#pending;
  }

  #edit(url: string, start: number): void {
    if (url.length > limits.linkTokenBytes) return;
    editLink(url, start, this.#targets, this.#onEdit, this.#context);
  }
}
