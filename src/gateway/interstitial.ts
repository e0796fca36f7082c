import { html, page, pageResponse, returnToFragment } from './page.ts';
import type { Reader } from './reader.ts';
import type { ContentTarget } from './target.ts';

/** Types of documents that can run scripts. */
const scriptable = /^(text\/html|application\/xhtml\+xml|image\/svg\+xml|application\/xml|text\/xml)\b/;

/** Whether documents of a type can run scripts. */
export function canRunScripts(contentType: string): boolean {
  return scriptable.test(contentType);
}

/**
 * Asks the person, at the first visit, whether a site may run scripts. The form works without a script; the one that it
 * has keeps the URL's fragment.
 *
 * @param token of `Trust.token`: content cannot know it, so it cannot answer for the person.
 * @param returnTo path to go on to.
 */
export function interstitial(
  { address, name }: ContentTarget,
  token: string,
  returnTo: string,
  reader: Reader,
): Response {
  const { language, firstVisit: t } = reader.texts;
  const document = page(
    reader,
    t.title,
    html`<h1>${t.heading}</h1>
<p class="site">${name ? html`<strong>${name}</strong>` : ''}<code>${address.hex}</code></p>
<p>${t.about}</p>
<form class="choices" method="post" action="/-/trust">
<input type="hidden" name="token" value="${token}">
<input type="hidden" name="address" value="${address.hex}">
<input type="hidden" name="return" value="${returnTo}">
<div><button name="decision" value="restricted" aria-describedby="restricted" autofocus>${t.restrict}</button>
<p class="quiet" id="restricted">${t.restrictMeans}</p></div>
<div><button name="decision" value="trusted" class="secondary" aria-describedby="trusted">${t.trust}</button>
<p class="quiet" id="trusted">${t.trustMeans}</p></div>
</form>
<p class="quiet">${t.remembered} <a href="/#settings">${t.change}</a>.</p>`,
  );
  // Not 200: what stands at an address for ever is the site, and this is not it.
  return pageResponse(language, document, 403, { 'Cache-Control': 'no-store' }, { script: returnToFragment });
}
