/** A tag, a doctype or text of an HTML document. Character references are not decoded. */
export interface HtmlToken {
  kind: 'doctype' | 'open' | 'close' | 'text';
  /** Name of a tag, in lower case. Otherwise empty. */
  name: string;
  /** By names in lower case. */
  attributes: ReadonlyMap<string, string>;
  /** The text. For an opening tag whose element contains text only, such as `<title>`: the text of the element. */
  text: string;
  end: number;
}

/** In order: a comment, a doctype, the beginning of a tag, a bogus comment, text. */
const markup =
  /<!--(?:-?>|.*?(?:--!?>|$))|(<!doctype[^>]*>)|<(\/?)([a-z][^\t\n\f\r />]*)|<[!?/][^>]*(?:>|$)|([^<]+|<)/isy;

/** The end of a tag, or an attribute with a value in double, single or no quotes. */
const attribute =
  /[\t\n\f\r /]*(?:(>)|([^\t\n\f\r />][^\t\n\f\r />=]*)(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)(?:"|$)|'([^']*)(?:'|$)|([^\t\n\f\r >]*)))?)/y;

/** Elements in which only their own end tag is markup. */
const textElements = new Set('iframe noembed noframes script style textarea title xmp'.split(' '));

/**
 * Splits an HTML document as browsers do (WHATWG HTML, 13.2.5), in linear time. Leaves out comments and a tag without
 * an end. Does not know which elements may contain which: the contents of `<svg>` look like HTML.
 */
export function* htmlTokens(html: string): Generator<HtmlToken> {
  let at = 0;
  const next = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const match = pattern.exec(html);
    at = pattern.lastIndex;
    return match;
  };
  while (at < html.length) {
    const [, doctype, slash, tag, text] = next(markup)!;
    const attributes = new Map<string, string>();
    if (doctype) yield { kind: 'doctype', name: '', attributes, text: '', end: at };
    if (text) yield { kind: 'text', name: '', attributes, text, end: at };
    if (!tag) continue;
    for (;;) {
      const match = next(attribute);
      if (!match) return;
      const [, end, key, double, single, bare] = match;
      if (end) break;
      const lowerCase = key!.toLowerCase();
      if (!attributes.has(lowerCase)) attributes.set(lowerCase, double ?? single ?? bare ?? '');
    }
    const name = tag.toLowerCase();
    const token = { name, attributes, end: at };
    if (slash) yield { kind: 'close', text: '', ...token };
    else if (!textElements.has(name)) yield { kind: 'open', text: '', ...token };
    else {
      const rest = html.slice(at);
      const length = rest.search(new RegExp(`</${name}[\\t\\n\\f\\r />]`, 'i'));
      const content = length < 0 ? rest : rest.slice(0, length);
      at += content.length;
      yield { kind: 'open', text: content, ...token };
    }
  }
}
