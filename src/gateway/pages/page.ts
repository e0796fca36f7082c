import style from 'virtual:page-style';
import type { Language } from '../../languages.ts';
import { replaceDisruptive } from '../../util/sanitize-text.ts';
import { type OwnPageOptions, ownPageHeaders } from '../http/policy.ts';
import type { Reader } from './reader.ts';
import type { PageTexts } from './texts/texts.ts';

/** Text that is already HTML. */
export class Html {
  constructor(readonly text: string) {}
}

/** Builds HTML from a template. Escapes every value, except `Html` and lists of `Html`. */
export function html(
  strings: TemplateStringsArray,
  ...values: (string | number | Html | readonly Html[])[]
): Html {
  let text = strings[0]!;
  for (const [i, value] of values.entries()) text += asText(value) + strings[i + 1]!;
  return new Html(text);
}

function asText(value: string | number | Html | readonly Html[]): string {
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map((part) => part.text).join('');
  return escapeHtml(String(value));
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Names and titles come from strangers, so characters that change the text around them are replaced, too. */
function escapeHtml(text: string): string {
  return replaceDisruptive(text, '\ufffd').replace(/[&<>"']/g, (character) => entities[character]!);
}

/** `public/icon.svg` as inline SVG, because the policy allows no requests. */
const mark = new Html(
  '<svg viewBox="0 0 64 64" width="32" height="32" aria-hidden="true"><rect width="64" height="64" rx="15" fill="#1d2433"/><path d="M14 51 28.6 14.2Q32 7.5 35.4 14.2L50 51" fill="none" stroke="#f5efe3" stroke-width="5.5" stroke-linecap="round" stroke-linejoin="round"/><g fill="#eba43a"><circle cx="32" cy="25" r="3"/><circle cx="32" cy="35.2" r="4.2"/><circle cx="32" cy="48.4" r="5.6"/></g></svg>',
);

/** The page's policy allows only this script, by its hash. */
export interface OwnScript {
  text: string;
  /** `sha256-…`, of the text. */
  hash: string;
  mayAsk: boolean;
}

/**
 * Reloads the page when the network comes back. The browser fires `online` before the network has an address, and the
 * worker gets the event even later. Therefore the script first requests one byte, at most three times. A rejected
 * request only means that it is too early. The page does not reload again until the network goes away and comes back.
 */
export const reloadOnceOnline: OwnScript = {
  text: "addEventListener('online',async()=>{for(const seconds of[0,1,3]){await new Promise(done=>setTimeout(done,1e3*seconds));try{if((await fetch(location.href,{headers:{Range:'bytes=0-0','Antway-As-Data':1}})).ok)break}catch{}}location.reload()},{once:true})",
  hash: 'sha256-PPhI0Wltoe0RRbySFLgnRPtGuOBFMrU2nkhg3/Whnb4=',
  mayAsk: true,
};

/**
 * The script of the trust question. The buttons that trust work only after the page has been visible and focused for a
 * second. Otherwise a page that opens this page in a window could steal a click or a key press. The script puts the
 * page's URL with its fragment into the form, because requests do not tell the worker the fragment. For 15 minutes it
 * sends messages to the worker, so that the browser does not stop it: only the running worker knows the form's token.
 */
export const trustQuestion: OwnScript = {
  text: "{const f=document.forms[0],d=document,b=[...f.querySelectorAll('.secondary')];let t,n=60;const set=on=>b.forEach(e=>e.setAttribute('aria-disabled',!on)),seen=()=>!d.hidden&&d.hasFocus(),arm=()=>{clearTimeout(t);set(false);if(seen())t=setTimeout(()=>set(seen()),1e3)};f.addEventListener('submit',e=>{const s=e.submitter,r=f.elements.return;if(!s||s.getAttribute('aria-disabled')=='true'||b.includes(s)&&!seen())return e.preventDefault();if(location.pathname!='/-/trust')r.value=location.pathname+location.search+location.hash});for(const e of['focus','blur','pageshow'])addEventListener(e,arm);d.addEventListener('visibilitychange',arm);f.querySelector('[autofocus]').focus();arm();setInterval(()=>{if(!d.hidden&&n-->0)navigator.serviceWorker?.controller?.postMessage({})},15e3)}",
  hash: 'sha256-DgMBgzr0EuQJp7ThmwQ0MS15I0Q4QLgaPXkvb0gPsA8=',
  mayAsk: false,
};

/**
 * Opens the content once the peers have found it. Only navigations get the progress page: the request of this script
 * waits for the content. It asks for as much as the navigation, so that the navigation does not wait again. After a
 * while it is answered with the header `Antway-Waiting` and sent again. Chromium does not tell the worker that a user
 * has left a page, so the lookups end when these requests end. After a failed request, the reloaded page shows the
 * error. A rejected request means that the worker is away for a moment, or that the user is leaving: Firefox then ends
 * the requests long before the page, and a reload would end the user's navigation, which may take ten seconds. After
 * five rejected requests in a row the reload shows the reason. The counter stops, because a download does not replace
 * the page.
 */
export const openOnceFound: OwnScript = {
  text: "{const s=document.querySelector('#seconds');let n=+s.textContent;const t=setInterval(()=>{s.textContent=++n},1e3);(async()=>{let r,k=0,l;addEventListener('beforeunload',()=>l=1);do r=await fetch(location.href,{headers:{'Antway-As-Data':'progress'}}).catch(()=>new Promise(d=>setTimeout(d,l?1e4:2e3)));while(r?r.headers.has('Antway-Waiting')&&!(k=0):++k<5);r?.body?.cancel().catch(()=>0);clearInterval(t);location.reload()})()}",
  hash: 'sha256-6dyu6IJBiAaN+K9eH43v1x5h/k4k58dQxHeOQg7KLg4=',
  mayAsk: true,
};

/**
 * Leads to the link of the opening page, with the fragment of this page, which requests do not tell the worker. A navigation
 * to the same URL with a fragment would load nothing, and one to a download would end the loading of this page.
 */
export const leadOn: OwnScript = {
  text: "{const a=document.querySelector('.primary'),l=location,h=l.hash;if(a.href==l.href.split('#')[0])addEventListener('load',()=>h?l.reload():l.replace(a.href));else{a.hash||=h;l.replace(a.href)}}",
  hash: 'sha256-oks9xksHSP9h8K1Yw5Nl2X/9+id0hZYDMSfxbbvdn5w=',
  mayAsk: false,
};

/**
 * Saves the file once, after the page has loaded: a navigation before would end the loading. If the worker cannot see which
 * page navigates, the next answer is the same page again, which does not save.
 */
export const saveAtOnce: OwnScript = {
  text: "document.referrer.startsWith(location.origin+'/')||addEventListener('load',()=>{const k='saving',s=sessionStorage;if(s[k]==location.href)return delete s[k];s[k]=location.href;document.querySelector('#save').click();setTimeout(()=>delete s[k],5e3)})",
  hash: 'sha256-/SNzhlJL6hM8eg7CQjBn6QzSaz1KbdD++vyRB1r0ohw=',
  mayAsk: false,
};

/**
 * Returns a document with one main landmark, one style element, no script.
 * @param title without Antway's name.
 * @param head more elements for the head.
 */
export function page(
  { texts: { language }, theme }: Reader,
  title: string,
  body: Html,
  head: Html | '' = '',
): string {
  return html`<!doctype html>
<html lang="${language}"${theme ? html` data-theme="${theme}"` : ''}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Antway</title>
<style>${new Html(style)}</style>
${head}</head>
<body>
<header class="brand">${mark}Antway</header>
<main>
${body}
</main>
</body>
</html>
`.text;
}

/** The attributes of a link to the shell. Begins with a space. */
export function shellTarget({ isFramed }: Reader): Html {
  return isFramed ? html` target="_blank" rel="noopener"` : html``;
}

export function reportLink(reportUrl: string, { report }: PageTexts): Html {
  return html`<p class="quiet"><a href="${reportUrl}" rel="noopener noreferrer">${report}</a></p>`;
}

/** Returns the headers that tell caches and browsers a page's language, and how the gateway chose it. */
export function languageHeaders(language: Language): Record<string, string> {
  return { 'Content-Language': language, Vary: 'Accept-Language' };
}

/** Adds the script at the end of the document. */
export function pageResponse(
  language: Language,
  document: string,
  status: number,
  headers: Record<string, string> = {},
  { script, ownsOrigin = true }: OwnPageOptions & { script?: OwnScript | undefined } = {},
): Response {
  const body = script ? document.replace('</body>', `<script>${script.text}</script></body>`) : document;
  return new Response(body, {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      ...ownPageHeaders({ script, ownsOrigin }),
      ...languageHeaders(language),
      ...headers,
    },
  });
}
