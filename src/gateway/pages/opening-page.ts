import type { Deployment } from '../deployment.ts';
import { html, page, pageResponse } from './page.ts';
import type { Reader } from './reader.ts';

/**
 * Leads to a page of the same origin or of another one, with this page as the one that asks. A redirect would not do: a
 * website can forbid its forms to follow one to another origin, and would learn what this device stores, because its own
 * page stays.
 */
export function openingPage(url: string, reader: Reader, { ownsOrigin }: Deployment): Response {
  const { language, opening: t } = reader.texts;
  const document = page(
    reader,
    t.title,
    html`<h1>${t.title}</h1>
<p class="actions"><a class="primary" href="${url}">${t.open}</a></p>`,
    html`<meta http-equiv="refresh" content="0; url=${url}">
`,
  );
  return pageResponse(language, document, 200, { 'Cache-Control': 'no-store' }, { ownsOrigin });
}
