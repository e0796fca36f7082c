import type { Language } from '../../languages.ts';
import { type OwnPageOptions, ownPageHeaders } from '../http/policy.ts';
import type { Reader } from './reader.ts';

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

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character]!);
}

/** The shell's style (`src/shell/styles`), so that the worker's pages look like the shell's pages. */
const style = `
:root { color-scheme: light dark; --ground: light-dark(#f7f5f1, #14171f); --surface: light-dark(#fff, #1b202b);
  --line: light-dark(#e5e0d6, #2c3341); --line-strong: light-dark(#8b8577, #7b8395);
  --text: light-dark(#1d2433, #ece8e0); --muted: light-dark(#5b6272, #a3aab9); --strong: light-dark(#1d2433, #eba43a);
  --strong-hover: light-dark(#313b52, #f3b75b); --hover: light-dark(#faf8f5, #222835);
  --on-strong: light-dark(#fff, #1f1604); --focus: light-dark(#9a5b08, #eba43a);
  --shadow: light-dark(rgb(29 36 51 / 6%), transparent); }
:root[data-theme=light] { color-scheme: light; }
:root[data-theme=dark] { color-scheme: dark; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 56rem; padding: 1rem 1rem 3.5rem; background: var(--ground); color: var(--text);
  font: .9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
  -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
.brand { display: flex; align-items: center; gap: .75rem; min-height: 2.75rem; margin-bottom: 1rem;
  font-size: 1.1875rem; font-weight: 650; letter-spacing: -.01em; }
.brand svg { border-radius: 8px; box-shadow: 0 0 0 1px var(--line); }
main { padding: 1.25rem 1rem; border: 1px solid var(--line); border-radius: 14px; background: var(--surface);
  box-shadow: 0 1px 2px var(--shadow), 0 6px 24px var(--shadow); }
h1 { font-size: 1.625rem; font-weight: 600; line-height: 1.3; letter-spacing: -.015em; margin: 0 0 .75rem;
  overflow-wrap: anywhere; }
h2 { font-size: 1.0625rem; font-weight: 600; margin: 1.5rem 0 .75rem; }
p { margin: 0 0 1rem; max-width: 42rem; text-wrap: pretty; }
main > :last-child { margin-bottom: 0; }
a { color: inherit; text-decoration-color: var(--focus); text-underline-offset: .2em; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 4px; }
code { font: .92em/1.5 ui-monospace, "SF Mono", "Cascadia Mono", "Roboto Mono", "Liberation Mono", monospace;
  overflow-wrap: anywhere; }
.quiet { color: var(--muted); font-size: .8125rem; }
.site { padding: .75rem 1rem; border: 1px solid var(--line); border-radius: 9px; background: var(--hover);
  max-width: none; }
.site strong { display: block; font-size: 1.0625rem; font-weight: 600; }
.actions { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1.5rem 0 0; }
.choices { display: grid; gap: 1.25rem 2.25rem; margin: 1.5rem 0; }
.choices p { margin: .75rem 0 0; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption, th, td { text-align: left; padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); }
tr:last-child td { border-bottom: 0; }
th { font-weight: 600; font-size: .8125rem; color: var(--muted); }
td a { overflow-wrap: anywhere; }
button { display: block; width: 100%; min-height: 2.75rem; padding: 0 1.5rem; border: 1px solid transparent;
  border-radius: 9px; background: var(--strong); color: var(--on-strong); font: inherit; font-weight: 600;
  cursor: pointer; }
button:hover { background: var(--strong-hover); }
button.secondary { border-color: var(--line-strong); background: none; color: var(--text); }
button.secondary:hover { background: var(--hover); }
button:focus-visible { border-radius: 9px; }
button[aria-disabled=true] { opacity: .6; cursor: default; }
.number { text-align: right; white-space: nowrap; padding-right: 0; }
@media (min-width: 46rem) {
  body { padding: 1.5rem 2.25rem 2.25rem; }
  .brand { margin-bottom: 1.5rem; }
  main { padding: 1.75rem 2rem; }
  .choices { grid-template-columns: 1fr 1fr; }
}
@media (max-width: 34rem) {
  .attempts thead { position: absolute; clip-path: inset(50%); }
  .attempts tr { display: grid; grid-template-columns: 1fr auto; gap: 0 .75rem; padding: .5rem 0;
    border-bottom: 1px solid var(--line); font-size: .875rem; }
  .attempts td { border: 0; padding: 0; }
  .attempts td:nth-child(2) { color: var(--muted); text-align: right; }
}
`;

/** `public/icon.svg` as inline SVG, because the policy allows no requests. */
const mark = new Html(
  '<svg viewBox="0 0 64 64" width="32" height="32" aria-hidden="true"><rect width="64" height="64" rx="15" fill="#1d2433"/><path d="M14 51 28.6 14.2Q32 7.5 35.4 14.2L50 51" fill="none" stroke="#f5efe3" stroke-width="5.5" stroke-linecap="round" stroke-linejoin="round"/><g fill="#eba43a"><circle cx="32" cy="25" r="3"/><circle cx="32" cy="35.2" r="4.2"/><circle cx="32" cy="48.4" r="5.6"/></g></svg>',
);

/** A script of one of the gateway's own pages. The page's policy allows only this script, by its hash. */
export interface OwnScript {
  text: string;
  /** The hash of the text, as `sha256-…`. */
  hash: string;
  /** Whether the script may send requests to this origin. */
  mayAsk: boolean;
}

/**
 * Reloads the page when the network comes back. The browser fires `online` before the network has an address,
 * and the worker gets the event even later. Therefore the script first requests one byte, at most three
 * times. A rejected request only means that it is too early. The page does not reload again until the network
 * goes away and comes back.
 */
export const reloadOnceOnline: OwnScript = {
  text: "addEventListener('online',async()=>{for(const seconds of[0,1,3]){await new Promise(done=>setTimeout(done,1e3*seconds));try{if((await fetch(location.href,{headers:{Range:'bytes=0-0','Antway-As-Data':1}})).ok)break}catch{}}location.reload()},{once:true})",
  hash: 'sha256-PPhI0Wltoe0RRbySFLgnRPtGuOBFMrU2nkhg3/Whnb4=',
  mayAsk: true,
};

/**
 * The script of the trust question. The buttons that trust work only after the page has been visible and
 * focused for a second. Otherwise a page that opens this page in a window could steal a click or a key press.
 * The script puts the page's current URL with its fragment into the form, because requests do not tell the
 * worker the fragment. For 15 minutes the script sends messages to the worker, so that the browser does not
 * stop it: only the running worker knows the form's token.
 */
export const trustQuestion: OwnScript = {
  text: "{const f=document.forms[0],d=document,b=[...f.querySelectorAll('.secondary')];let t,n=60;const set=on=>b.forEach(e=>e.setAttribute('aria-disabled',!on)),seen=()=>!d.hidden&&d.hasFocus(),arm=()=>{clearTimeout(t);set(false);if(seen())t=setTimeout(()=>set(seen()),1e3)};f.addEventListener('submit',e=>{const s=e.submitter,r=f.elements.return;if(!s||s.getAttribute('aria-disabled')=='true'||b.includes(s)&&!seen())return e.preventDefault();if(location.pathname!='/-/trust')r.value=location.pathname+location.search+location.hash});for(const e of['focus','blur','pageshow'])addEventListener(e,arm);d.addEventListener('visibilitychange',arm);f.querySelector('[autofocus]').focus();arm();setInterval(()=>{if(!d.hidden&&n-->0)navigator.serviceWorker?.controller?.postMessage({})},15e3)}",
  hash: 'sha256-DgMBgzr0EuQJp7ThmwQ0MS15I0Q4QLgaPXkvb0gPsA8=',
  mayAsk: false,
};

/**
 * Returns a whole document of the gateway: the name of Antway, one main landmark, one style element, no
 * script.
 * @param title title without Antway's name.
 */
export function page({ texts: { language }, theme }: Reader, title: string, body: Html): string {
  return html`<!doctype html>
<html lang="${language}"${theme ? html` data-theme="${theme}"` : ''}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Antway</title>
<style>${new Html(style)}</style>
</head>
<body>
<header class="brand">${mark}Antway</header>
<main>
${body}
</main>
</body>
</html>
`.text;
}

/** Returns the headers that tell caches and browsers a page's language, and how the gateway chose it. */
export function languageHeaders(language: Language): Record<string, string> {
  return { 'Content-Language': language, Vary: 'Accept-Language' };
}

/** Returns a response with such a document. Adds the script at the end of the document. */
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
