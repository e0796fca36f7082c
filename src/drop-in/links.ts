import { absolute } from './content-uri.ts';

/** By what routers that swap pages leave a link to the browser: Turbo, htmx, Astro, Swup, SvelteKit, Barba, Unpoly. */
const marks = {
  rel: 'external',
  'data-turbo': 'false',
  'hx-boost': 'false',
  'data-astro-reload': '',
  'data-no-swup': '',
  'data-sveltekit-reload': '',
  'data-barba-prevent': '',
  'up-follow': 'false',
};

/** What these attributes were on a link before. */
const former = new WeakMap<Element, [name: string, value: string | null][]>();

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
    for (const [name, value] of former.get(link) ?? []) {
      if (value === null) link.removeAttribute(name);
      else link.setAttribute(name, value);
    }
    former.delete(link);
    return;
  }
  if (!former.has(link)) {
    former.set(
      link,
      Object.entries(marks).map(([name, value]) => {
        const before = link.getAttribute(name);
        link.setAttribute(name, name === 'rel' && before ? `${before} ${value}` : value);
        return [name, before];
      }),
    );
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
