import createDOMPurify, { type Config } from 'dompurify';

/**
 * Elements and attributes of text. Nothing else remains: no script, style, form, frame, drawing or formula, no handler,
 * no inline style and no class.
 */
const config = {
  ALLOWED_TAGS: (
    'a abbr b blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption figure ' +
    'h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp section small span strong sub ' +
    'summary sup table tbody td tfoot th thead time tr u ul var wbr'
  ).split(' '),
  ALLOWED_ATTR:
    'align alt colspan datetime dir height href id lang name open reversed rowspan scope src start title width'.split(
      ' ',
    ),
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOW_UNKNOWN_PROTOCOLS: false,
  // Links of the network have schemes of their own. `resolveLinks` checks every URL again.
  ALLOWED_URI_REGEXP: /^(?:(?:https?|mailto|ant|autonomi):|[^a-z]|[a-z+.-]+(?:[^a-z+.\-:]|$))/i,
  // Prefixes `id` and `name`, so that no element can replace a property of the document.
  SANITIZE_NAMED_PROPS: true,
  SANITIZE_DOM: true,
  RETURN_DOM_FRAGMENT: true,
} satisfies Config;

/**
 * Returns the harmless part of a stranger's HTML as nodes. Nodes are not parsed again, so no difference between two
 * parsers can bring something back.
 * @param window the window whose parser reads the HTML. The parser runs no script and loads nothing.
 */
export function sanitize(
  html: string,
  window: Window & typeof globalThis = globalThis.window,
): DocumentFragment {
  return createDOMPurify(window).sanitize(html, config);
}
