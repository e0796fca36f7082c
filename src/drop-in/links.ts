import { override } from './attributes.ts';
import { absolute } from './content-uri.ts';

/** By what routers that swap pages leave a link to the browser: Turbo, htmx, Astro, Swup, SvelteKit, Barba, Unpoly. */
const marks = {
  'data-turbo': 'false',
  'hx-boost': 'false',
  'data-astro-reload': '',
  'data-no-swup': '',
  'data-sveltekit-reload': '',
  'data-barba-prevent': '',
  'up-follow': 'false',
};

/** How to take the marks off a link. */
const undo = new WeakMap<Element, () => void>();

/**
 * Has the browser itself open a link to content, so that content gets a document of its own, with the gateway's policy.
 * A router would put it into the site's document, with all that the site may do.
 *
 * @param base absolute URL that content's URLs begin with. A link that leads elsewhere gets back what it had.
 * @param wasUri whether the link was a content address.
 */
export function keepToBrowser(link: Element, base: string, wasUri: boolean): void {
  const href = absolute(link.getAttribute('href')!, link.baseURI);
  if (!href.startsWith(base)) {
    undo.get(link)?.();
    undo.delete(link);
    return;
  }
  if (!undo.has(link)) {
    const rel = `${link.getAttribute('rel') ?? ''} external`.trim();
    undo.set(link, override(link, { ...marks, rel }));
  }
  if (wasUri && link.hasAttribute('download')) saveByAnswer(link, new URL(href));
}

/** Chromium requests a link that has `download` past every worker. So it is the answer that says: to be saved. */
function saveByAnswer(link: Element, url: URL): void {
  const name = link.getAttribute('download');
  if (name) url.searchParams.set('filename', name);
  url.searchParams.set('download', '');
  link.setAttribute('href', url.href);
  link.removeAttribute('download');
}
