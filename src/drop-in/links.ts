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

/**
 * Has the browser itself open a link to content, so that content gets a document of its own, with the gateway's policy.
 * A router would put it into the site's document, with all that the site may do.
 *
 * @param base absolute URL that content's URLs begin with; other links stay as they are.
 * @param wasUri whether the link was a content address.
 */
export function keepToBrowser(link: Element, base: string, wasUri: boolean): void {
  const href = link.getAttribute('href')!;
  const url = URL.canParse(href, link.baseURI) ? new URL(href, link.baseURI) : undefined;
  if (!url?.href.startsWith(base)) return;
  for (const [name, value] of Object.entries(marks)) link.setAttribute(name, value);
  const rel = link.getAttribute('rel') ?? '';
  if (!/\bexternal\b/i.test(rel)) link.setAttribute('rel', `${rel} external`.trim());
  if (wasUri && link.hasAttribute('download')) saveByAnswer(link, url);
}

/** Chromium requests a link that has `download` past every worker. So it is the answer that says: to be saved. */
function saveByAnswer(link: Element, url: URL): void {
  const name = link.getAttribute('download');
  if (name) url.searchParams.set('filename', name);
  url.searchParams.set('download', '');
  link.setAttribute('href', url.href);
  link.removeAttribute('download');
}
