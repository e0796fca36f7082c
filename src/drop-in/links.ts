import { override } from './attributes.ts';
import { absolute } from './content-uri.ts';

/** Attributes that make page-swapping routers ignore a link: Turbo, htmx, Astro, Swup, SvelteKit, Barba, Unpoly. */
const marks = {
  'data-turbo': 'false',
  'hx-boost': 'false',
  'data-astro-reload': '',
  'data-no-swup': '',
  'data-sveltekit-reload': '',
  'data-barba-prevent': '',
  'up-follow': 'false',
};

/** For each marked link, a function that removes the marks. */
const undo = new WeakMap<Element, () => void>();

/**
 * Makes the browser itself open a link to content. The content then gets its own document, with the gateway's policy. A
 * router would put the content into the site's document, where it would have all permissions of the site.
 * @param base the absolute URL of the content. A link to another URL gets its former attributes back.
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

/** Chromium bypasses workers for links with `download`, so the query requests an answer that the browser saves. */
function saveByAnswer(link: Element, url: URL): void {
  const name = link.getAttribute('download');
  if (name) url.searchParams.set('filename', name);
  url.searchParams.set('download', '');
  link.setAttribute('href', url.href);
  link.removeAttribute('download');
}
