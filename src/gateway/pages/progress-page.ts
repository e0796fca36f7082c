import type { PeerNetwork } from '../../peers/transports/protocol.ts';
import type { Deployment } from '../deployment.ts';
import { wayOut } from './error-response.ts';
import { networkText } from './network-text.ts';
import { html, openOnceFound, page, pageResponse } from './page.ts';
import type { Reader } from './reader.ts';

export interface Progress {
  /** Hex. */
  address: string;
  /** The peers that look for the content. */
  peers: readonly { url: string; network: PeerNetwork | null }[];
  /** How long they have looked, in milliseconds. */
  waitedMs: number;
}

/** Browsers without scripts load the page again after this time, in seconds. */
const reloadSeconds = 5;

/** The answer to a navigation while peers look for its content. The page opens the content by itself. */
export function progressPage(progress: Progress, reader: Reader, deployment: Deployment): Response {
  const { texts } = reader;
  const { progress: t } = texts;
  const items = progress.peers.map(
    ({ url, network }) =>
      html`<li><code>${url}</code>${network ? html`: ${networkText(network, texts)}` : ''}</li>
`,
  );
  const seconds = Math.round(progress.waitedMs / 1000);
  const document = page(
    reader,
    t.title,
    html`<h1>${t.title}</h1>
<p>${t.about}</p>
<p><progress aria-label="${t.title}"></progress></p>
<p>${t.waited[0]} <span id="seconds">${seconds}</span> ${t.waited[1]} ${t.usual}</p>
<p>${t.peers}</p>
<ul>
${items}</ul>
<p class="quiet">${texts.address} <code>${progress.address}</code></p>
<p class="actions">${wayOut(deployment, reader, t.cancel)}</p>`,
    html`<noscript><meta http-equiv="refresh" content="${reloadSeconds}"></noscript>
`,
  );
  // Not 200: the content of an address is the site, and this page is not the site.
  const headers = { 'Cache-Control': 'no-store' };
  return pageResponse(texts.language, document, 503, headers, { script: openOnceFound });
}
