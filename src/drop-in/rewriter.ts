import { absolute, isUri, mapUrls, urlOf } from './content-uri.ts';
import { rewriteRules, rewriteStyle, visitSheets } from './css.ts';
import { page, unclobbered } from './dom.ts';
import { keepToBrowser } from './links.ts';
import { explain, takeBack } from './note.ts';
import { untilParsed } from './until-parsed.ts';
import type { IsTrusted } from './worker.ts';

/** Where content is. `prefix` is what the worker's URLs begin with, absolute, also where no worker answers. */
export type Place = {
  prefix: string;
  names?: Readonly<Record<string, string>> | undefined;
  isTrusted?: IsTrusted | undefined;
} & (
  | /** The same as `prefix`, or a gateway's. */ { base: string; problem?: undefined }
  /** Nowhere, and why. */
  | { base?: undefined; problem: string }
);

const attributes = ['src', 'srcset', 'poster', 'href'];
const ownAttributes = ['data-ant-src', 'data-ant-embed'];

/** Elements that show what they refer to, or lead there. Not those that run it: a script is the site's to choose. */
const elements = 'a,area,audio,iframe,image,img,input,link,source,track,video';

const candidates = [
  `:is(${elements}):is(${attributes.map((name) => `[${name}]`)})`,
  '[style*="url(" i]',
  ...ownAttributes.map((name) => `[${name}]`),
].join();

/**
 * Makes content addresses work in a document, in the open shadow roots of its elements, and in what is added to them
 * later. A root that is attached to an element which has been here before is told by nothing: `watch` is for those.
 *
 * Where no worker answers, what lies below its prefix is led to the gateway as well.
 */
export class Rewriter {
  readonly #place: Place;
  readonly #roots = new WeakSet<Document | ShadowRoot>();
  /** What containers with `data-ant-embed` show now. */
  readonly #embedded = new WeakMap<Element, string>();
  readonly #sheets = new WeakSet<CSSStyleSheet>();

  constructor(place: Place) {
    this.#place = place;
  }

  /** Once is enough for a root; a closed one works as well. */
  watch(root: Document | ShadowRoot): void {
    if (this.#roots.has(root)) return;
    this.#roots.add(root);
    this.#visit(root);
    this.#visitSheets(root);
    // A style sheet can be read once it is loaded.
    unclobbered(root).addEventListener('load', () => this.#visitSheets(root), true);
    new MutationObserver((mutations) => {
      for (const { target, addedNodes, type } of mutations) {
        if (type === 'attributes') this.#rewrite(target as Element);
        for (const node of addedNodes) if (node instanceof Element) this.#visit(node);
      }
      this.#visitSheets(root);
    }).observe(root, {
      childList: true,
      subtree: true,
      attributes: true,
      attributeFilter: [...attributes, ...ownAttributes, 'data-ant-type', 'style'],
    });
  }

  #visit(root: Document | ShadowRoot | Element): void {
    if (root instanceof Element) {
      this.#rewrite(root);
      this.#enter(root);
    }
    const { querySelectorAll } = unclobbered(root);
    for (const element of querySelectorAll(candidates)) this.#rewrite(element);
    for (const element of querySelectorAll('*')) this.#enter(element);
  }

  /** Looks into an element's shadow, which an element of the site's own may get only when it is defined. */
  #enter(element: Element): void {
    // A form has no shadow. Its fields may have these names.
    if (element instanceof HTMLFormElement) return;
    const { shadowRoot, localName } = element;
    if (shadowRoot) this.watch(shadowRoot);
    else if (localName.includes('-') && element.matches(':not(:defined)')) {
      void customElements.whenDefined(localName).then(() => this.#enter(element));
    }
  }

  #rewrite(element: Element): void {
    takeBack(element);
    const { matches, style, baseURI } = unclobbered(element as HTMLElement);
    if (!matches(candidates)) return;
    const isKnown = matches(elements);
    try {
      // A form’s fields replace its methods, and it shows no content.
      if (!matches('form')) this.#rewriteTo(element, isKnown);
    } catch (error) {
      explain(element, (error as Error).message, isKnown);
    }
    // Elements of other languages may have none.
    if (style) rewriteStyle(style, this.#mapInCss(baseURI));
  }

  /** @throws Error to be shown in the element's place. */
  #rewriteTo(element: Element, isKnown: boolean): void {
    const { base, prefix } = this.#place;
    const isFromWorker = base === prefix;
    for (const name of isKnown ? attributes : []) {
      const text = element.getAttribute(name);
      if (!text) continue;
      const mapped = mapUrls(text, name === 'srcset' ? name : 'url', (url) =>
        this.#map(url, element.baseURI),
      );
      if (mapped !== text) element.setAttribute(name, mapped);
      if (isFromWorker && name === 'href' && element.matches('a,area')) {
        keepToBrowser(element, base, mapped !== text);
      }
    }
    const embedded = element.getAttribute('data-ant-embed');
    const uri = embedded || element.getAttribute('data-ant-src');
    if (!uri) return;
    const url = this.#urlOf(uri, element.getAttribute('data-ant-type'));
    if (embedded || !isKnown) this.#embed(element, url, isFromWorker);
    else if (element.getAttribute('src') !== url) element.setAttribute('src', url);
  }

  /** @returns undefined for a URL that stays. @throws as `#urlOf`. */
  #map(url: string, from: string): string | undefined {
    if (isUri(url)) return this.#urlOf(url);
    const { base, prefix } = this.#place;
    const href = absolute(url, from);
    if (!href.startsWith(prefix) || (base && href.startsWith(base))) return undefined;
    return this.#urlOf(href.slice(prefix.length));
  }

  /** What is wrong in CSS is for the console: the element itself may show all that it should. */
  #mapInCss(from: string): (url: string) => string | undefined {
    return (url) => {
      try {
        return this.#map(url, from);
      } catch (error) {
        if (this.#place.base) console.warn(`Antway: ${(error as Error).message}`);
        return undefined;
      }
    };
  }

  /** @throws DropInError `BAD_ADDRESS`. @throws Error the place's problem. */
  #urlOf(uri: string, type?: string | null): string {
    const { base, problem, names } = this.#place;
    if (base === undefined) throw new Error(problem);
    return urlOf(uri, base, type, names);
  }

  /** Shows it in a frame that opens no pop-ups, sends no forms, and leaves the page and its own address where they are. */
  #embed(container: Element, url: string, isFromWorker: boolean): void {
    if (this.#embedded.get(container) === url) return;
    this.#embedded.set(container, url);
    const frame = page.createElement('iframe');
    const { base, isTrusted } = this.#place;
    const [id] = url.slice(base!.length).split(/[/?#]/) as [string];
    const mayScript = isTrusted?.(id);
    // Without its origin the worker would not see what it requests, in WebKit neither without scripts: there it is the
    // gateway's policy alone that forbids them. What comes from another gateway has no such policy.
    const sandbox = isFromWorker && (mayScript || /^Apple/.test(navigator.vendor)) ? ' allow-scripts' : '';
    frame.setAttribute('sandbox', `allow-same-origin${sandbox}`);
    if (isFromWorker && !mayScript) {
      // A link or a refresh may show a page of the site itself, which other sites cannot frame.
      frame.onload = () => {
        const inside = frame.contentDocument;
        if (inside && unclobbered(inside).URL.startsWith(base + id)) return;
        frame.remove();
        explain(container, 'The page leaves its address.', false);
      };
    }
    frame.title =
      container.getAttribute('aria-label') ?? container.getAttribute('title') ?? 'Embedded content';
    frame.style.cssText = 'width:100%;height:100%;border:none';
    frame.src = url;
    // The parser would put what it has not read yet behind the frame.
    void untilParsed().then(() => container.replaceChildren(frame));
  }

  #visitSheets(root: Document | ShadowRoot): void {
    const { styleSheets, adoptedStyleSheets } = unclobbered(root);
    visitSheets([...styleSheets, ...adoptedStyleSheets], (sheet, base) => {
      if (this.#sheets.has(sheet)) return;
      this.#sheets.add(sheet);
      rewriteRules(sheet.cssRules, this.#mapInCss(base));
    });
  }
}
