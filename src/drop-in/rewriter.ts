import { absolute, isUri, mapUrls, urlOf } from './content-uri.ts';
import { rewriteRules, rewriteStyle, visitSheets } from './css.ts';
import { page, unclobbered } from './dom.ts';
import { watchFailures } from './failures.ts';
import { keepToBrowser } from './links.ts';
import { explain, takeBack } from './note.ts';
import { untilParsed } from './until-parsed.ts';
import type { WorkerConfig } from './worker.ts';

/** The location of content. `prefix` is the absolute base of the worker's URLs. It is set even if no worker answers. */
export type Place = {
  prefix: string;
  names?: Readonly<Record<string, string>> | undefined;
  /** Set if the worker answers. */
  worker?: WorkerConfig;
} & (
  | /** The same as `prefix`, or the base of another gateway. */ { base: string; problem?: undefined }
  /** No worker and no gateway answers. `problem` says why. */
  | { base?: undefined; problem: string }
);

const attributes = ['src', 'srcset', 'poster', 'href'];
const ownAttributes = ['data-ant-src', 'data-ant-embed'];

/** Elements that execute content are excluded: the site chooses its scripts. */
const elements = 'a,area,audio,iframe,image,img,input,link,source,track,video';

const candidates = [
  `:is(${elements}):is(${attributes.map((name) => `[${name}]`)})`,
  '[style*="url(" i]',
  ...ownAttributes.map((name) => `[${name}]`),
].join();

/**
 * Makes content addresses work in a document, in the open shadow roots of its elements, and in elements that are added
 * later. No event reports a shadow root that is attached to an element already in the document: call `watch` for it. If
 * no worker answers, URLs below the worker's prefix are replaced by URLs of the gateway as well.
 */
export class Rewriter {
  readonly #place: Place;
  readonly #signal: AbortSignal | undefined;
  readonly #roots = new WeakSet<Document | ShadowRoot>();
  /** The URL that each container with `data-ant-embed` shows now. */
  readonly #embedded = new WeakMap<Element, string>();
  readonly #sheets = new WeakSet<CSSStyleSheet>();

  /** @param signal ends the watching of all roots. */
  constructor(place: Place, signal?: AbortSignal) {
    this.#place = place;
    this.#signal = signal;
  }

  /** Starts to watch a root. A second call for the same root has no effect. The root may be closed. */
  watch(root: Document | ShadowRoot): void {
    const signal = this.#signal;
    if (this.#roots.has(root) || signal?.aborted) return;
    this.#roots.add(root);
    this.#visit(root);
    this.#visitSheets(root);
    // A style sheet is readable only after it is loaded.
    unclobbered(root).addEventListener('load', () => this.#visitSheets(root), {
      capture: true,
      signal: signal!,
    });
    const { prefix, worker } = this.#place;
    if (worker) watchFailures(root, prefix, signal);
    const observer = new MutationObserver((mutations) => {
      for (const { target, addedNodes, type } of mutations) {
        if (type === 'attributes') this.#rewrite(target as Element);
        for (const node of addedNodes) if (node instanceof Element) this.#visit(node);
      }
      this.#visitSheets(root);
    });
    signal?.addEventListener('abort', () => observer.disconnect());
    observer.observe(root, {
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

  /** Watches the shadow root of an element. A custom element may get its shadow root only when it is defined. */
  #enter(element: Element): void {
    // A form has no shadow root, but its fields may have these names.
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
      // A form shows no content, and its fields can replace its methods.
      if (!matches('form')) this.#rewriteTo(element, isKnown);
    } catch (error) {
      explain(element, (error as Error).message, isKnown);
    }
    // Elements outside HTML and SVG may have no `style`.
    if (style) rewriteStyle(style, this.#mapInCss(baseURI));
  }

  /** @throws Error with a message to show in the element's place. */
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

  /** Returns undefined for a URL that stays unchanged. @throws as `#urlOf`. */
  #map(url: string, from: string): string | undefined {
    if (isUri(url)) return this.#urlOf(url);
    const { base, prefix } = this.#place;
    const href = absolute(url, from);
    if (!href.startsWith(prefix) || (base && href.startsWith(base))) return undefined;
    return this.#urlOf(href.slice(prefix.length));
  }

  /** Reports errors in CSS to the console only: the element itself may show its content correctly. */
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

  /** @throws DropInError `BAD_ADDRESS`, or an Error with the place's problem. */
  #urlOf(uri: string, type?: string | null): string {
    const { base, problem, names, worker } = this.#place;
    if (base === undefined) throw new Error(problem);
    return urlOf(uri, base, type, names, worker?.names);
  }

  /** The frame cannot open pop-ups, send forms, or navigate the page. Untrusted content may not leave its address. */
  #embed(container: Element, url: string, isFromWorker: boolean): void {
    if (this.#embedded.get(container) === url) return;
    this.#embedded.set(container, url);
    const frame = page.createElement('iframe');
    const { base, worker } = this.#place;
    const [id] = url.slice(base!.length).split(/[/?#]/) as [string];
    const mayScript = worker?.isTrusted(id);
    // The frame needs `allow-same-origin`: without its origin, the worker does not see the frame's requests. In WebKit,
    // the worker sees them only if the frame also allows scripts. There, only the gateway's policy forbids scripts.
    // Content of another gateway has no such policy, so its frame never allows scripts.
    const sandbox = isFromWorker && (mayScript || /^Apple/.test(navigator.vendor)) ? ' allow-scripts' : '';
    frame.setAttribute('sandbox', `allow-same-origin${sandbox}`);
    if (isFromWorker && !mayScript) {
      // A link or a refresh may lead the frame to a page of the embedding site. Other sites cannot frame that page, so
      // this content must not frame it either.
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
    // If the parser still reads the container, it would append the rest behind the frame.
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
