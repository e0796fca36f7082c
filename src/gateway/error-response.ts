import type { AntwayError, Attempt, ErrorCode } from '../errors.ts';
import type { Kept, KeptShare } from './kept.ts';
import { type Html, html, page, pageResponse, reloadOnceOnline } from './page.ts';
import { ownPageHeaders } from './security.ts';
import { siteOfHost } from './site-host.ts';
import { isEmbedded } from './target.ts';

/** What each code means to a person, and whether trying again can help. */
const explanations: Record<ErrorCode, { title: string; canRetry: boolean }> = {
  BAD_ADDRESS: { title: 'This is not a valid address', canRetry: false },
  BAD_CONFIG: { title: 'This gateway is not configured correctly', canRetry: true },
  BAD_RANGE: { title: 'The part asked for does not exist', canRetry: false },
  METHOD: { title: 'Content can only be read', canRetry: false },
  NOT_FOUND: { title: 'Not found', canRetry: true },
  DENIED: { title: 'This address is blocked on this gateway', canRetry: false },
  CORRUPT: { title: 'Wrong bytes were refused', canRetry: true },
  UNSUPPORTED: { title: 'This kind of content is not supported', canRetry: false },
  PEERS_UNREACHABLE: { title: 'No peer answered', canRetry: true },
  OFFLINE: { title: 'You are offline', canRetry: true },
  TOO_LARGE: { title: 'This is larger than the gateway can handle', canRetry: false },
  REFUSED: { title: 'This was refused', canRetry: false },
  INTERNAL: { title: 'The gateway failed', canRetry: true },
};

/**
 * The answer to a request that failed: a page for navigations, JSON for everything else.
 * @param base as for `parseTarget`.
 */
export function errorResponse(error: AntwayError, request: Request, base = '/'): Response {
  const extra: Record<string, string> = { 'Cache-Control': 'no-store' };
  if (error.code === 'METHOD') extra.Allow = String(error.details.allow);
  if (error.code === 'BAD_RANGE') extra['Content-Range'] = `bytes */${error.details.size}`;
  if (isNavigation(request)) {
    const options = error.code === 'OFFLINE' ? { script: reloadOnceOnline } : {};
    return pageResponse(errorPage(error, wayOut(request, base)), error.status, extra, options);
  }
  const headers = { 'Content-Type': 'application/json', ...ownPageHeaders(), ...extra };
  const body = request.method === 'HEAD' ? null : JSON.stringify(error);
  return new Response(body, { status: error.status, headers });
}

/** Whether the answer will be shown as a document. */
export function isNavigation(request: Request): boolean {
  return request.mode === 'navigate' || ['document', 'iframe', 'frame'].includes(request.destination);
}

/** The shell, which on a site's own origin is elsewhere; or the site that embeds the gateway. */
function wayOut(request: Request, base: string): Html {
  const { protocol, host } = new URL(request.url);
  if (isEmbedded(base)) return html`<a href="${base.replace(/[^/]+\/$/, '')}">Back to ${host}</a>`;
  const site = siteOfHost(host);
  return html`<a href="${site ? `${protocol}//${site.rootHost}/` : '/'}">Open another address</a>`;
}

function errorPage(error: AntwayError, exit: Html): string {
  const { title, canRetry } = explanations[error.code];
  const { address, attempts = [] } = error.details;
  const kept = error.details.kept as Kept | undefined;
  return page(
    `${title} – Antway`,
    html`<h1>${title}</h1>
<p>${error.message}</p>
${kept ? html`<p>${keptText(kept)}</p>` : ''}
${error.code === 'OFFLINE' ? html`<p>This page tries again by itself as soon as there is a network.</p>` : ''}
<p class="quiet">Code <code>${error.code}</code>${address ? html`, address <code>${address}</code>` : ''}</p>
${attempts.length > 0 ? attemptsTable(attempts) : ''}
<p class="actions">${canRetry ? html`<a href="">Try again</a>` : ''}${exit}</p>`,
  );
}

/** What is here, and what is missing. */
function keptText({ file, whole }: Kept): string {
  if (whole.stored === 0) return 'Nothing of it is kept on this device.';
  if (!file) return shareText('it', whole);
  return `${shareText(`“${file.path}”`, file)} ${shareText('the whole site', whole)}`;
}

function shareText(what: string, { stored, total }: KeptShare): string {
  if (total !== null) return `Of ${what}, ${stored} of ${total} chunks are kept on this device.`;
  const chunks = stored === 1 ? '1 chunk is' : `${stored} chunks are`;
  return `Of ${what}, ${chunks} kept on this device; how many there are is told by one that is not.`;
}

function attemptsTable(attempts: readonly Attempt[]): Html {
  const transports = { webtransport: 'WebTransport', http: 'HTTP' };
  const rows = attempts.map(
    ({ peer, transport, stage, code, message, milliseconds }) =>
      html`<tr><td><code>${peer}</code></td><td>${transports[transport]}, ${stage}</td><td><code>${code}</code> ${message}</td><td class="number">${milliseconds} ms</td></tr>
`,
  );
  return html`<table><caption class="quiet">What was tried</caption>
<thead><tr><th scope="col">Peer</th><th scope="col">How</th><th scope="col">Result</th><th scope="col" class="number">Time</th></tr></thead>
<tbody>
${rows}</tbody></table>`;
}
