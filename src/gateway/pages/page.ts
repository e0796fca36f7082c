import type { Language } from '../../languages.ts';
import { type OwnPageOptions, ownPageHeaders } from '../http/policy.ts';
import type { Reader } from './reader.ts';

/** Text that is already HTML. */
export class Html {
  constructor(readonly text: string) {}
}

/** Builds HTML from a template; every value is escaped unless it is `Html` or a list of it. */
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

/** The shell's look (`src/shell/styles`): a user should not notice who made a page. */
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

/** `public/icon.svg`, written into the page: the policy lets it load nothing. */
const mark = new Html(
  '<svg viewBox="0 0 64 64" width="32" height="32" aria-hidden="true"><rect width="64" height="64" rx="15" fill="#1d2433"/><path d="M14 51 28.6 14.2Q32 7.5 35.4 14.2L50 51" fill="none" stroke="#f5efe3" stroke-width="5.5" stroke-linecap="round" stroke-linejoin="round"/><g fill="#eba43a"><circle cx="32" cy="25" r="3"/><circle cx="32" cy="35.2" r="4.2"/><circle cx="32" cy="48.4" r="5.6"/></g></svg>',
);

/** A script that a page of the gateway's own may have, with the hash by which its policy allows it and no other. */
export interface OwnScript {
  text: string;
  /** `sha256-…` of the text. */
  hash: string;
  /** Whether it may send requests, to this origin. */
  mayAsk: boolean;
}

/**
 * Loads the page again when the network comes back, and not before. That event reaches pages before there is an address,
 * and the worker later, so it first asks for a byte, three times at most: a request that is rejected only means that it is too early. Nothing
 * makes it happen twice without a network that went and came in between.
 */
export const reloadOnceOnline: OwnScript = {
  text: "addEventListener('online',async()=>{for(const seconds of[0,1,3]){await new Promise(done=>setTimeout(done,1e3*seconds));try{if((await fetch(location.href,{headers:{Range:'bytes=0-0','Antway-As-Data':1}})).ok)break}catch{}}location.reload()},{once:true})",
  hash: 'sha256-PPhI0Wltoe0RRbySFLgnRPtGuOBFMrU2nkhg3/Whnb4=',
  mayAsk: true,
};

/**
 * For the question whether a site may run scripts. The buttons that trust work only after the page has been visible and
 * focused for a second, so that a page that opens this one in a window cannot steal a click or a key. The form leads back
 * to where the page stands, fragment and all, which no request tells the worker. For 15 minutes, messages keep the
 * browser from stopping the worker, which alone knows the form's token.
 */
export const trustQuestion: OwnScript = {
  text: "{const f=document.forms[0],d=document,b=[...f.querySelectorAll('.secondary')];let t,n=60;const set=on=>b.forEach(e=>e.setAttribute('aria-disabled',!on)),seen=()=>!d.hidden&&d.hasFocus(),arm=()=>{clearTimeout(t);set(false);if(seen())t=setTimeout(()=>set(seen()),1e3)};f.addEventListener('submit',e=>{const s=e.submitter,r=f.elements.return;if(!s||s.getAttribute('aria-disabled')=='true'||b.includes(s)&&!seen())return e.preventDefault();if(location.pathname!='/-/trust')r.value=location.pathname+location.search+location.hash});for(const e of['focus','blur','pageshow'])addEventListener(e,arm);d.addEventListener('visibilitychange',arm);f.querySelector('[autofocus]').focus();arm();setInterval(()=>{if(!d.hidden&&n-->0)navigator.serviceWorker?.controller?.postMessage({})},15e3)}",
  hash: 'sha256-DgMBgzr0EuQJp7ThmwQ0MS15I0Q4QLgaPXkvb0gPsA8=',
  mayAsk: false,
};

/**
 * A whole document of the gateway's own: the name of Antway, one main landmark, one style, no script.
 * @param title without Antway's name.
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

/** What tells caches and readers of a page's language, and of how it was chosen. */
export function languageHeaders(language: Language): Record<string, string> {
  return { 'Content-Language': language, Vary: 'Accept-Language' };
}

/** An answer with such a document. Its script is put at its end. */
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
