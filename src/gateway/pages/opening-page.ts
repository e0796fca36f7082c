import type { Deployment } from '../deployment.ts';
import { html, leadOn, page, pageResponse } from './page.ts';
import type { Reader } from './reader.ts';

/**
 * Leads to a URL of any origin, without a redirect: a website can forbid its forms to follow a redirect, and would learn
 * what this device stores, because its own page stays. At a URL of this origin, the request has this page as its referrer.
 */
export function openingPage(url: string, reader: Reader, { ownsOrigin }: Deployment): Response {
  const { language, opening: t } = reader.texts;
  const document = page(
    reader,
    t.title,
    html`<h1>${t.title}</h1>
<p class="actions"><a class="primary" href="${url}">${t.open}</a></p>`,
    html`<noscript><meta http-equiv="refresh" content="0; url=${url}"></noscript>
`,
  );
  const headers = { 'Cache-Control': 'no-store' };
  return pageResponse(language, document, 200, headers, { script: leadOn, ownsOrigin });
}
