import { html, page, pageResponse, returnToFragment } from './page.ts';
import type { ContentTarget } from './target.ts';
import type { PageTexts } from './texts/texts.ts';

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
  { language, firstVisit: t }: PageTexts,
): Response {
  const site = name
    ? html`<strong>${name}</strong> (<code>${address.hex}</code>)`
    : html`<code>${address.hex}</code>`;
  const document = page(
    language,
    t.title,
    html`<h1>${t.heading}</h1>
<p>${site}</p>
<p>${t.danger}</p>
<p>${t.safe}</p>
<form class="actions" method="post" action="/-/trust">
<input type="hidden" name="token" value="${token}">
<input type="hidden" name="address" value="${address.hex}">
<input type="hidden" name="return" value="${returnTo}">
<button name="decision" value="restricted" autofocus>${t.restrict}</button>
<button name="decision" value="trusted" class="secondary">${t.trust}</button>
</form>
<p class="quiet">${t.remembered} <a href="/#settings">${t.change}</a>.</p>`,
  );
  // Not 200: what stands at an address for ever is the site, and this is not it.
  return pageResponse(language, document, 403, { 'Cache-Control': 'no-store' }, { script: returnToFragment });
}
