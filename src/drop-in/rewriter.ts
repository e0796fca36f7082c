import { hasUri, replaceUris, urlOf } from './content-uri.ts';
import { untilParsed } from './until-parsed.ts';

/** Where content is: below the worker's prefix or at a gateway; or nowhere, and why. */
export type Place = { base: string; problem?: undefined } | { base?: undefined; problem: string };

const attributes = ['src', 'srcset', 'poster', 'href'];
const ownAttributes = ['data-ant-src', 'data-ant-embed'];

/** Elements that show what they refer to, or lead there. Not those that run it: a script is the site's to choose. */
const elements = 'a,area,audio,iframe,image,img,input,link,source,track,video';

const candidates = [
  ...[...attributes, 'style'].flatMap((name) => [`[${name}*="ant://" i]`, `[${name}*="autonomi://" i]`]),
  ...ownAttributes.map((name) => `[${name}]`),
].join();

const className = 'antway-unavailable';

/**
 * Makes content addresses work in a document, in the open shadow roots of its elements, and in what is added to them
 * later. A root that is attached to an element which has been here before is told by nothing: `watch` is for those.
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
    root.addEventListener('load', () => this.#visitSheets(root), true);
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
    for (const element of root.querySelectorAll(candidates)) this.#rewrite(element);
    for (const element of root.querySelectorAll('*')) this.#enter(element);
  }

  /** Looks into an element's shadow, which an element of the site's own may get only when it is defined. */
  #enter(element: Element): void {
    const { shadowRoot, localName } = element;
    if (shadowRoot) this.watch(shadowRoot);
    else if (localName.includes('-') && element.matches(':not(:defined)')) {
      void customElements
        .whenDefined(localName)
        .then(() => element.shadowRoot && this.watch(element.shadowRoot));
    }
  }

  #rewrite(element: Element): void {
    if (!element.matches(candidates)) return;
    const { base, problem } = this.#place;
    const source = element.getAttribute('data-ant-src');
    const embedded = element.getAttribute('data-ant-embed');
    if (base === undefined) {
      if (source || embedded || attributes.some((name) => hasUri(element.getAttribute(name) ?? ''))) {
        explain(element, problem);
      }
      return;
    }
    try {
      this.#rewriteTo(base, element, source, embedded);
    } catch (error) {
      explain(element, (error as Error).message);
    }
  }

  /** @throws DropInError `BAD_ADDRESS`. */
  #rewriteTo(base: string, element: Element, source: string | null, embedded: string | null): void {
    const isKnown = element.matches(elements);
    for (const name of isKnown ? attributes : []) {
      const text = element.getAttribute(name);
      if (!text || !hasUri(text)) continue;
      element.setAttribute(name, replaceUris(text, base));
      if (element.matches('a[download],area[download]')) saveByAnswer(element);
    }
    if (element instanceof HTMLElement || element instanceof SVGElement) rewriteStyle(element.style, base);
    const uri = embedded || source;
    if (!uri) return;
    const url = urlOf(uri, base, element.getAttribute('data-ant-type'));
    if (embedded || !isKnown) this.#embed(element, url);
    else if (element.getAttribute('src') !== url) element.setAttribute('src', url);
  }

  /** Shows it in a frame that opens no pop-ups, sends no forms and leaves the page where it is. */
  #embed(container: Element, url: string): void {
    if (this.#embedded.get(container) === url) return;
    this.#embedded.set(container, url);
    const frame = document.createElement('iframe');
    // Without its origin the worker would not see what it requests, in WebKit neither without scripts: there it is the
    // gateway's policy alone that forbids them. What comes from another gateway has no such policy.
    const isFromWorker = url.startsWith('/');
    frame.setAttribute('sandbox', isFromWorker ? 'allow-same-origin allow-scripts' : 'allow-same-origin');
    frame.title =
      container.getAttribute('aria-label') ?? container.getAttribute('title') ?? 'Embedded content';
    Object.assign(frame.style, { width: '100%', height: '100%', border: 'none' });
    frame.src = url;
    // The parser would put what it has not read yet behind the frame.
    void untilParsed().then(() => container.replaceChildren(frame));
  }

  #visitSheets(root: Document | ShadowRoot): void {
    const { base } = this.#place;
    if (base === undefined) return;
    for (const sheet of [...root.styleSheets, ...root.adoptedStyleSheets]) {
      if (this.#sheets.has(sheet)) continue;
      this.#sheets.add(sheet);
      const rules = readableRules(sheet);
      if (rules) rewriteRules(rules, base);
    }
  }
}

/**
 * Loads again what was requested below the prefix before the worker could answer, and failed.
 * @param prefix a path.
 */
export function reloadEarly(root: Document, prefix: string): void {
  const isContent = (url: string) => url.startsWith(location.origin + prefix);
  for (const image of root.images) {
    const isShown = image.complete && image.naturalWidth > 0;
    if (isShown || !isContent(image.currentSrc || image.src)) continue;
    if (image.srcset) image.setAttribute('srcset', image.srcset);
    else image.setAttribute('src', image.src);
  }
  for (const media of root.querySelectorAll<HTMLMediaElement>('audio,video')) {
    const urls = [media.src, ...Array.from(media.querySelectorAll('source'), ({ src }) => src)];
    if (media.readyState === 0 && urls.some(isContent)) media.load();
    if (media instanceof HTMLVideoElement && isContent(media.poster))
      media.setAttribute('poster', media.poster);
  }
  for (const frame of root.querySelectorAll('iframe')) {
    if (isContent(frame.src)) frame.setAttribute('src', frame.src);
  }
  for (const link of root.querySelectorAll<HTMLLinkElement>('link[rel~=stylesheet]')) {
    if (isContent(link.href) && !link.sheet?.cssRules.length) link.replaceWith(link.cloneNode());
  }
}

/** Gives what lies below the prefix to a gateway, or tells why it cannot be shown. */
export function leadElsewhere(root: Document, prefix: string, place: Place): void {
  const start = location.origin + prefix;
  for (const name of ['src', 'href', 'poster'] as const) {
    for (const element of root.querySelectorAll(`:is(${elements})[${name}]`)) {
      const text = element.getAttribute(name)!;
      const href = URL.canParse(text, root.baseURI) ? new URL(text, root.baseURI).href : '';
      if (!href.startsWith(start)) continue;
      if (place.base === undefined) explain(element, place.problem);
      else element.setAttribute(name, place.base + href.slice(start.length));
    }
  }
}

/** @returns undefined for a sheet of another origin, whose owner did not mean this site's prefix. */
function readableRules(sheet: CSSStyleSheet): CSSRuleList | undefined {
  try {
    return sheet.cssRules;
  } catch {
    return undefined;
  }
}

function rewriteRules(rules: CSSRuleList, base: string): void {
  for (const rule of rules) {
    const { style, cssRules } = rule as CSSStyleRule;
    if (style) rewriteStyle(style, base);
    if (cssRules) rewriteRules(cssRules, base);
  }
}

/** By property: a policy that forbids inline styles forbids to set the attribute. */
function rewriteStyle(style: CSSStyleDeclaration, base: string): void {
  if (!hasUri(style.cssText)) return;
  for (const name of [...style]) {
    const value = style.getPropertyValue(name);
    if (hasUri(value)) style.setProperty(name, replaceUris(value, base), style.getPropertyPriority(name));
  }
}

/** Chromium requests a link that has `download` past every worker. So it is the answer that says: to be saved. */
function saveByAnswer(link: Element): void {
  const url = new URL(link.getAttribute('href')!, location.href);
  const name = link.getAttribute('download');
  if (name) url.searchParams.set('filename', name);
  url.searchParams.set('download', '');
  link.setAttribute('href', url.href);
  link.removeAttribute('download');
}

/** A note in the element's place, or for a link its title. What the site's author put into a container stays. */
function explain(element: Element, problem: string): void {
  if (element.classList.contains(className)) return;
  element.classList.add(className);
  if (element.matches('a,area')) element.setAttribute('title', problem);
  if (element.matches('a,area,image,link,source,track')) return;
  const note = document.createElement('span');
  note.className = className;
  note.setAttribute('role', 'note');
  const name = element.getAttribute('alt') ?? element.getAttribute('aria-label');
  note.textContent = name ? `${name} (${problem})` : problem;
  Object.assign(note.style, { border: '1px solid', padding: '.25em .5em', display: 'inline-block' });
  if (!element.matches(elements)) {
    if (!element.textContent?.trim()) element.replaceChildren(note);
    return;
  }
  (element as HTMLElement).hidden = true;
  element.after(note);
}
