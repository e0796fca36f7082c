import type { Deployment } from '../deployment.ts';
import { wayOut } from './error-response.ts';
import { html, page, pageResponse, saveAtOnce } from './page.ts';
import type { Reader } from './reader.ts';

/**
 * Answers a navigation that would save a file, if a page of another origin may have started it. A download would leave that
 * page where it is, and an error would replace it, so the page would learn whether the file is stored. This page replaces it
 * in any case and saves the file by itself: its own navigation comes from this origin.
 */
export function savingPage(reader: Reader, deployment: Deployment): Response {
  const { language, saving: t } = reader.texts;
  const document = page(
    reader,
    t.title,
    html`<h1>${t.title}</h1>
<p class="actions"><a class="primary" id="save" href="">${t.save}</a>${wayOut(deployment, reader)}</p>`,
  );
  const { ownsOrigin } = deployment;
  return pageResponse(
    language,
    document,
    200,
    { 'Cache-Control': 'no-store' },
    { script: saveAtOnce, ownsOrigin },
  );
}
