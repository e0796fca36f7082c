import type { TrustGrant, TrustTokens } from '../state/trust-tokens.ts';
import { type Html, html, page, pageResponse, reportLink, trustQuestion } from './page.ts';
import type { Reader } from './reader.ts';

/**
 * Asks the user at the first visit whether a site may run scripts. The forms work without a script. The page's script
 * keeps the URL's fragment, and enables the buttons that trust only after the page has been visible for a second.
 * @param returnTo path to continue to.
 * @param reportUrl where the user can report the site to the host.
 */
export function question(
  grant: TrustGrant,
  returnTo: string,
  reader: Reader,
  tokens: TrustTokens,
  reportUrl?: string,
): Response {
  const { firstVisit: t } = reader.texts;
  const isPointer = grant.content.hex !== grant.address.hex;
  const [safe, trusting] = [newId(), newId()];
  return ask(
    reader,
    tokens.issue(grant),
    returnTo,
    html`<h1>${t.heading}</h1>
${tokens.takeOutdated(returnTo) ? html`<p role="status"><strong>${t.outdated}</strong></p>` : ''}
${siteOf(grant)}
<p>${t.about}${isPointer ? ` ${t.pointer}` : ''}</p>`,
    html`<div>${button('restricted', t.restrict, safe)}
<p class="quiet" id="${safe}">${t.restrictMeans}</p></div>
<div>${button('confirm', t.trust, trusting)}
<p class="quiet" id="${trusting}">${t.trustMeans}</p></div>`,
    reportUrl,
  );
}

/**
 * The second step before a site is trusted. The restricting button has the focus and comes last. If another page told
 * the user what to type or click for the question, the same input does something harmless here.
 */
export function confirmation(
  grant: TrustGrant,
  returnTo: string,
  reader: Reader,
  tokens: TrustTokens,
): Response {
  const { confirmTrust: t, firstVisit } = reader.texts;
  const isPointer = grant.content.hex !== grant.address.hex;
  return ask(
    reader,
    tokens.issue(grant),
    returnTo,
    html`<h1>${t.heading}</h1>
${siteOf(grant)}
<p>${t.about}${isPointer ? ` ${t.pointer}` : ''}</p>`,
    html`<div>${button('trusted', isPointer ? t.version : t.trust)}</div>
${isPointer ? html`<div>${button('owner', t.owner)}</div>` : ''}
<div>${button('restricted', firstVisit.restrict)}</div>`,
  );
}

function ask(
  reader: Reader,
  token: string,
  returnTo: string,
  text: Html,
  choices: Html,
  reportUrl?: string,
): Response {
  const { language, firstVisit: t } = reader.texts;
  const document = page(
    reader,
    t.title,
    html`${text}
<form class="choices" method="post" action="/-/trust">
<input type="hidden" name="token" value="${token}">
<input type="hidden" name="return" value="${returnTo}">
${choices}
</form>
<p class="quiet">${t.remembered} <a href="/#settings">${t.change}</a>.</p>
${reportUrl ? reportLink(reportUrl, reader.texts) : ''}`,
  );
  // Not 200: the content of an address is the site, and this page is not the site.
  return pageResponse(language, document, 403, { 'Cache-Control': 'no-store' }, { script: trustQuestion });
}

function button(decision: string, text: string, describedBy?: string): Html {
  const isSafe = decision === 'restricted';
  const look = isSafe ? html` autofocus` : html` class="secondary"`;
  const description = describedBy ? html` aria-describedby="${describedBy}"` : '';
  return html`<button name="decision" value="${decision}"${look}${description}>${text}</button>`;
}

function siteOf({ name, address }: TrustGrant): Html {
  return html`<p class="site">${name ? html`<strong>${name}</strong>` : ''}<code>${address.hex}</code></p>`;
}

/** Returns an id that no URL can contain as its fragment, because a fragment moves the focus. */
function newId(): string {
  return `i${crypto.randomUUID()}`;
}
