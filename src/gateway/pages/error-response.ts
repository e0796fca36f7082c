import { type AntwayError, type Attempt, type ErrorCode, isAbsentSomewhere } from '../../errors.ts';
import type { NetworkOfPeer } from '../../peers/selection/pool.ts';
import { type Deployment, gatewayOrigin } from '../deployment.ts';
import { isNavigation } from '../http/navigation.ts';
import { ownPageHeaders } from '../http/policy.ts';
import type { ChosenAppearance } from '../state/appearance.ts';
import type { StoredParts } from '../state/stored-parts.ts';
import { iconOf } from './error-icon.ts';
import { filesOf, type MissingFrom } from './missing-file.ts';
import { type Reach, reachOf, reachText } from './network-text.ts';
import { type Html, html, page, pageResponse, reloadOnceOnline, shellTarget } from './page.ts';
import { type Reader, readerOf } from './reader.ts';
import type { PageTexts } from './texts/texts.ts';

/** Error codes for which a retry can help. */
const passing: ReadonlySet<ErrorCode> = new Set([
  'BAD_CONFIG',
  'NOT_FOUND',
  'CORRUPT',
  'PEERS_UNREACHABLE',
  'OFFLINE',
  'BUILD_MISMATCH',
  'HOST_UNREACHABLE',
  'INTERNAL',
]);

/**
 * Responds to a failed request with a page for navigations, and with JSON for all other requests. A site on its own
 * origin gets plain text instead of JSON, because some sites accept any JSON as the requested file.
 */
export async function errorResponse(
  error: AntwayError,
  request: Request,
  { deployment, appearance }: { deployment: Deployment; appearance: ChosenAppearance },
): Promise<Response> {
  const { ownsOrigin } = deployment;
  const extra: Record<string, string> = { 'Cache-Control': 'no-store' };
  if (error.code === 'METHOD') extra.Allow = String(error.details.allow);
  if (error.code === 'BAD_RANGE') extra['Content-Range'] = `bytes */${error.details.size}`;
  if (isNavigation(request)) {
    const script = error.code === 'OFFLINE' ? reloadOnceOnline : undefined;
    const reader = await readerOf(request, appearance);
    const document = errorPage(error, deployment, reader);
    return pageResponse(reader.texts.language, document, error.status, extra, {
      script,
      ownsOrigin,
    });
  }
  const isText = isSiteContent(request, deployment);
  const headers = {
    'Content-Type': isText ? 'text/plain; charset=utf-8' : 'application/json',
    ...ownPageHeaders({ ownsOrigin }),
    ...extra,
  };
  // Some routers treat any response as HTML, and a message can contain parts of a URL.
  const text = isText ? `${error.code}: ${error.message}` : JSON.stringify(error).replaceAll('<', '\\u003c');
  const body = request.method === 'HEAD' ? null : text;
  return new Response(body, { status: error.status, headers });
}

/** Whether a site on its own origin requests one of its own paths. */
function isSiteContent(request: Request, { site }: Deployment): boolean {
  return site !== undefined && !new URL(request.url).pathname.startsWith('/-/');
}

/**
 * Returns a link to the shell, or to the site that embeds the gateway.
 * @param text of the link to the shell.
 * @param isPrimary whether it is the main action of the page.
 */
export function wayOut(
  deployment: Deployment,
  reader: Reader,
  text = reader.texts.openAnother,
  isPrimary = false,
): Html {
  const { ownsOrigin, origin, base } = deployment;
  const { host } = new URL(origin);
  const look = isPrimary ? html` class="primary"` : '';
  if (!ownsOrigin)
    return html`<a${look} href="${base.replace(/[^/]+\/$/, '')}">${reader.texts.backTo(host)}</a>`;
  return html`<a${look} href="${shellUrl(deployment)}"${shellTarget(reader)}>${text}</a>`;
}

/** A site's own origin has the shell on another origin. */
function shellUrl(deployment: Deployment): string {
  return deployment.site ? `${gatewayOrigin(deployment)}/` : '/';
}

function errorPage(error: AntwayError, deployment: Deployment, reader: Reader): string {
  const { texts } = reader;
  const { code, details, message } = error;
  const { address, attempts = [] } = details;
  const stored = details.stored as StoredParts | undefined;
  const site = details.site as MissingFrom | undefined;
  const shell = deployment.ownsOrigin ? shellUrl(deployment) : undefined;
  const reach = details.networks ? reachOf(details.networks as NetworkOfPeer[], attempts) : undefined;
  const actions = actionsOf(error, site, reach, shell, reader);
  const { title, about } = textsOf(error, texts);
  return page(
    reader,
    title,
    html`${iconOf(code)}
<h1>${title}</h1>
<p>${site ? texts.missing(site.path) : about}</p>
${code === 'OFFLINE' ? html`<p>${texts.opensByItself}</p>` : ''}
${reach ? reachText(reach, reader, code, shell) : ''}
<p class="actions">${actions}${wayOut(deployment, reader, undefined, actions.text === '')}</p>
${site ? filesOf(site, texts) : ''}
<details><summary>${texts.details} <span class="quiet">${texts.code} <code>${code}</code></span></summary>
<p lang="en">${message}</p>
${stored ? html`<p>${storedText(stored, texts)}</p>` : ''}
${address ? html`<p class="quiet">${texts.address} <code>${address}</code></p>` : ''}
${attempts.length > 0 ? attemptsTable(attempts, texts) : ''}
</details>`,
  );
}

/** Says what happened. The error's message has more detail, but it is in English. */
function textsOf(error: AntwayError, texts: PageTexts): { title: string; about: string } {
  const { code } = error;
  if (isDeniedByPeers(error)) return texts.deniedByPeers;
  if (code === 'PEERS_UNREACHABLE' && isAbsentSomewhere(error)) return texts.absentSomewhere;
  return { title: texts.errors[code], about: texts.abouts[code] };
}

const main = html` class="primary"`;

/** Returns the actions before the way out. The first one is the most useful. */
function actionsOf(
  error: AntwayError,
  site: MissingFrom | undefined,
  reach: Reach | undefined,
  shell: string | undefined,
  reader: Reader,
): Html {
  const { texts } = reader;
  const { code } = error;
  if (site) return html`<a class="primary" href="${site.root}/">${texts.siteStart}</a>`;
  const retry = (isMain = true) => html`<a${isMain ? main : ''} href="">${texts.tryAgain}</a>`;
  if (shell && reach && !reach.isNetwork) {
    // A silent peer may be back soon.
    const isRetryFirst = reach.silent.size > 0;
    const add = html`<a${isRetryFirst ? '' : main} href="${shell}#peer="${shellTarget(reader)}>${texts.network.addPeer}</a>`;
    return isRetryFirst ? html`${retry()}${add}` : html`${add}${retry(false)}`;
  }
  return passing.has(code) || isDeniedByPeers(error) ? retry() : html``;
}

/** Whether the peers refuse the address, and not this gateway. */
function isDeniedByPeers({ code, details }: AntwayError): boolean {
  return code === 'DENIED' && details.attempts !== undefined;
}

function storedText({ file, whole }: StoredParts, texts: PageTexts): string {
  if (whole.stored === 0) return texts.noneStored;
  if (!file) return texts.stored(null, whole.stored, whole.total);
  return `${texts.stored(file, file.stored, file.total)} ${texts.stored('site', whole.stored, whole.total)}`;
}

function attemptsTable(attempts: readonly Attempt[], { attempts: t, stages }: PageTexts): Html {
  const transports = { webtransport: 'WebTransport', http: 'HTTP', webrtc: 'WebRTC' };
  const rows = attempts.map(
    ({ peer, transport, stage, code, message, milliseconds }) =>
      html`<tr><td><code>${peer}</code></td><td>${transports[transport]}, ${stages[stage]}</td><td><code>${code}</code> <span lang="en">${message}</span></td><td class="number">${milliseconds} ms</td></tr>
`,
  );
  return html`<table class="attempts"><caption class="quiet">${t.caption}</caption>
<thead><tr><th scope="col">${t.peer}</th><th scope="col">${t.how}</th><th scope="col">${t.result}</th><th scope="col" class="number">${t.time}</th></tr></thead>
<tbody>
${rows}</tbody></table>`;
}
