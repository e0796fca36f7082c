import type { Language } from '../languages.ts';
import { ownPageHeaders } from './security.ts';

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

/** The shell's colours (`src/shell/styles/tokens.css`): a person should not notice who made a page. */
const style = `
:root { color-scheme: light dark; --ground: #f7f5f1; --line: #e5e0d6; --text: #1d2433; --muted: #5b6272;
  --strong: #1d2433; --on-strong: #fff; --focus: #9a5b08; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14171f; --line: #2c3341; --text: #ece8e0; --muted: #a3aab9;
    --strong: #eba43a; --on-strong: #1f1604; --focus: #eba43a; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 56rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .75rem; overflow-wrap: anywhere; }
p { margin: 0 0 1rem; max-width: 42rem; }
a { color: inherit; text-decoration-color: var(--focus); text-underline-offset: .15em; }
a:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 2px; }
code { font: .875em/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
.quiet { color: var(--muted); font-size: .875rem; }
.actions { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1.5rem 0; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption, th, td { text-align: left; padding: .375rem .75rem .375rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; font-size: .875rem; color: var(--muted); }
td a { overflow-wrap: anywhere; }
button { font: inherit; font-weight: 600; padding: .5rem 1rem; border: 1px solid var(--strong); border-radius: 9px;
  background: var(--strong); color: var(--on-strong); cursor: pointer; }
button.secondary { background: none; color: var(--text); }
button:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
.number { text-align: right; white-space: nowrap; padding-right: 0; }
@media (max-width: 34rem) {
  .attempts thead { position: absolute; clip-path: inset(50%); }
  .attempts tr { display: grid; grid-template-columns: 1fr auto; gap: 0 .75rem; padding: .5rem 0;
    border-bottom: 1px solid var(--line); font-size: .875rem; }
  .attempts td { border: 0; padding: 0; }
  .attempts td:nth-child(2) { color: var(--muted); text-align: right; }
}
`;

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

/** Has a form lead back to where the page stands, fragment and all: no request tells the worker of that. */
export const returnToFragment: OwnScript = {
  text: "document.forms[0].addEventListener('submit',({target})=>{target.elements.return.value=location.pathname+location.search+location.hash})",
  hash: 'sha256-fDnHSFrrwAWruC/ohDB7KEhn59WDaBZnbPoLcI0u4rg=',
  mayAsk: false,
};

/** A whole document of the gateway's own: one main landmark, one style, no script. @param title without Antway's name. */
export function page(language: Language, title: string, body: Html): string {
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Antway</title>
<style>${new Html(style)}</style>
</head>
<body><main>
${body}
</main></body>
</html>
`.text;
}

/** What tells caches and readers of a page's language, and of how it was chosen. */
export function languageHeaders(language: Language): Record<string, string> {
  return { 'Content-Language': language, Vary: 'Accept-Language' };
}

/** An answer with such a document. @param script put at its end. */
export function pageResponse(
  language: Language,
  document: string,
  status: number,
  headers: Record<string, string> = {},
  { script }: { script?: OwnScript } = {},
): Response {
  const body = script ? document.replace('</body>', `<script>${script.text}</script></body>`) : document;
  return new Response(body, {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      ...ownPageHeaders(script),
      ...languageHeaders(language),
      ...headers,
    },
  });
}
