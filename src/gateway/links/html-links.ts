import { Tokenizer } from 'htmlparser2';
import { limits } from '../../limits.ts';
import { CssLinks } from './css-links.ts';
import { editLink, type LinkScanner, type LinkTargets, type OnEdit } from './link-map.ts';

type Syntax = 'url' | 'srcset' | 'css';

const attributes = new Map<string, Syntax>([
  ...['action', 'background', 'cite', 'data', 'formaction', 'href', 'longdesc', 'poster', 'src'].map(
    (name) => [name, 'url'] as const,
  ),
  ['xlink:href', 'url'],
  ['srcset', 'srcset'],
  ['imagesrcset', 'srcset'],
  ['style', 'css'],
]);

/** Elements and attributes whose URL replaces the page. */
const navigating = /^(a|area|form)$|^formaction$/;

/** A candidate of a `srcset`: its URL, with the white space before it, and its descriptors. */
const candidates = /([^\s,](?:\S*[^\s,])?)(?:\s[^,]*)?/g;

/** Longer names are of no interest. */
const nameCharacters = 64;

/**
 * The possible start of the end tag of a `<style>`. The tokenizer would hold back the whole text before it, so it gets this with
 * the next piece.
 */
const beginningOfTag = /<\/?[a-z]{0,12}$/i;

/** Elements that begin foreign content, where `<title>` and `<style>` are ordinary elements, and those that end it. */
const foreign = new Set(['svg', 'math']);
const integration = new Set(['foreignobject', 'desc', 'annotation-xml']);
const foreignDepth = 1_000;

/** Finds links in the attributes, `<style>` elements and `style` attributes of an HTML document. */
export class HtmlLinks implements LinkScanner {
  readonly #targets: LinkTargets;
  readonly #onEdit: OnEdit;
  readonly #tokenizer: Tokenizer;
  /** The end of the text so far, and its position. */
  #text = '';
  #at = 0;
  #length = 0;
  #carried = '';
  #tag = '';
  #attribute = '';
  #syntax: Syntax | undefined;
  /** The value of the current attribute, as far as it is known, and its position. */
  #value = '';
  #valueAt = 0;
  /** The style sheet of the current `<style>` element, and where its next text begins. */
  #css: CssLinks | undefined;
  #cssEnd = 0;
  readonly #context: string[] = [];

  constructor(targets: LinkTargets, onEdit: OnEdit) {
    this.#targets = targets;
    this.#onEdit = onEdit;
    const ignore = () => {};
    const opened = () => {
      if (this.#tag === 'style') this.#css = new CssLinks(targets, onEdit, this.#cssEnd);
    };
    this.#tokenizer = new Tokenizer(
      { decodeEntities: false },
      {
        onopentagname: (start, end) => this.#open(this.#slice(start, end)),
        onopentagend: (end) => {
          this.#cssEnd = end + 1;
          opened();
        },
        onselfclosingtag: (end) => {
          this.#cssEnd = end + 1;
          if (this.#isForeign()) this.#close(this.#tag);
          else opened();
        },
        onclosetag: (start, end) => this.#close(this.#slice(start, end)),
        onattribname: (start, end) => this.#name(this.#slice(start, end)),
        onattribdata: (start, end) => this.#data(start, end),
        onattribend: () => this.#endValue(),
        ontext: (start, end) => this.#style(start, end),
        onattribentity: ignore,
        ontextentity: ignore,
        oncdata: ignore,
        oncomment: ignore,
        ondeclaration: ignore,
        onend: ignore,
        onprocessinginstruction: ignore,
        isInForeignContext: () => this.#isForeign(),
      },
    );
  }

  get settled(): number {
    if (this.#value) return this.#valueAt;
    return this.#css && !this.#css.isIdle ? this.#css.settled : this.#length;
  }

  write(text: string): void {
    const all = this.#carried + text;
    this.#carried = beginningOfTag.exec(all)?.[0] ?? '';
    this.#tokenize(all.slice(0, all.length - this.#carried.length));
  }

  #tokenize(text: string): void {
    const before = this.#text.slice(-nameCharacters);
    this.#at = this.#length - before.length;
    this.#text = before + text;
    this.#length += text.length;
    this.#tokenizer.write(text);
    // A comment in a style sheet of foreign content.
    if (this.#css && this.#length - this.settled > limits.linkTokenBytes + nameCharacters) {
      this.#css.end();
      this.#css = new CssLinks(this.#targets, this.#onEdit, this.#length);
    }
  }

  end(): void {
    this.#tokenize(this.#carried);
    this.#tokenizer.end();
    this.#value = '';
    this.#endStyle();
  }

  /** The text between two positions; empty if it begins before the known text. */
  #slice(start: number, end: number): string {
    return start < this.#at ? '' : this.#text.slice(start - this.#at, end - this.#at).toLowerCase();
  }

  #isForeign(): boolean {
    return foreign.has(this.#context.at(-1) ?? '');
  }

  #open(name: string): void {
    this.#endStyle();
    this.#tag = name;
    const isBorder = foreign.has(name) || (this.#isForeign() && integration.has(name));
    if (isBorder && this.#context.length < foreignDepth) this.#context.push(name);
  }

  #close(name: string): void {
    this.#endStyle();
    const at = this.#context.lastIndexOf(name);
    if (at >= 0) this.#context.length = at;
  }

  #name(name: string): void {
    this.#attribute = name;
    this.#syntax = attributes.get(name);
  }

  #data(start: number, end: number): void {
    if (!this.#syntax) return;
    if (!this.#value) this.#valueAt = start;
    this.#value += this.#text.slice(start - this.#at, end - this.#at);
    if (this.#value.length <= limits.linkTokenBytes) return;
    this.#value = '';
    this.#syntax = undefined;
  }

  #endValue(): void {
    const [value, at] = [this.#value, this.#valueAt];
    this.#value = '';
    const isNavigation = navigating.test(this.#tag) || navigating.test(this.#attribute);
    const context = { isNavigation, isMarkup: true };
    if (!value) return;
    if (this.#syntax === 'css') {
      const css = new CssLinks(this.#targets, this.#onEdit, at, context);
      css.write(value);
      css.end();
      return;
    }
    const urls =
      this.#syntax === 'url'
        ? [{ url: value, index: 0 }]
        : Array.from(value.matchAll(candidates), ({ 1: url, index }) => ({ url: url!, index }));
    for (const { url, index } of urls) editLink(url, at + index, this.#targets, this.#onEdit, context);
  }

  /** In foreign content a style sheet may have several texts, with comments between them. */
  #style(start: number, end: number): void {
    if (!this.#css) return;
    if (start !== this.#cssEnd) {
      this.#css.end();
      this.#css = new CssLinks(this.#targets, this.#onEdit, start);
    }
    this.#cssEnd = end;
    this.#css.write(this.#text.slice(start - this.#at, end - this.#at));
  }

  #endStyle(): void {
    this.#css?.end();
    this.#css = undefined;
  }
}
