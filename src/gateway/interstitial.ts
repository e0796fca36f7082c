import { html, page, pageResponse } from './page.ts';
import type { ContentTarget } from './target.ts';

/** Types of documents that can run scripts. */
const scriptable = /^(text\/html|application\/xhtml\+xml|image\/svg\+xml|application\/xml|text\/xml)\b/;

/** Whether documents of a type can run scripts. */
export function canRunScripts(contentType: string): boolean {
  return scriptable.test(contentType);
}

/**
 * Asks the person, at the first visit, whether a site may run scripts. A form and no script: it works where the
 * strictest policy holds.
 *
 * @param token of `Trust.token`: content cannot know it, so it cannot answer for the person.
 * @param returnTo path to go on to.
 */
export function interstitial({ address, name }: ContentTarget, token: string, returnTo: string): Response {
  const site = name
    ? html`<strong>${name}</strong> (<code>${address.hex}</code>)`
    : html`<code>${address.hex}</code>`;
  const document = page(
    'First visit – Antway',
    html`<h1>First visit to this site</h1>
<p>${site}</p>
<p>Everybody can publish on this network, and this gateway shows all sites under one origin. A site that runs
scripts here could read what other sites keep in this browser, and the gateway’s own settings.</p>
<p>Without scripts every site can be read safely. Many work just as well.</p>
<form class="actions" method="post" action="/-/trust">
<input type="hidden" name="token" value="${token}">
<input type="hidden" name="address" value="${address.hex}">
<input type="hidden" name="return" value="${returnTo}">
<button name="decision" value="restricted" autofocus>Open without scripts</button>
<button name="decision" value="trusted" class="secondary">Trust this site</button>
</form>
<p class="quiet">Your choice is remembered on this device. You can change it on the <a href="/">gateway’s page</a>.</p>`,
  );
  // Not 200: what stands at an address for ever is the site, and this is not it.
  return pageResponse(document, 403, { 'Cache-Control': 'no-store' });
}
