import { Marked } from 'marked';

/** The most elements of the result: a page cannot stop the browser’s own work on them. */
const mostElements = 60_000;
/** The most characters of the result. Nested lists and quotes can multiply the size of the text. */
const mostCharacters = 12_000_000;

const marked = new Marked({
  gfm: true,
  renderer: {
    // A list of tasks is text here. The page has no form fields.
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
  },
});

/** Converts Markdown to HTML. Security: the HTML is a stranger's HTML, so sanitise it before use. */
export function parseMarkdown(text: string): string {
  const html = marked.parse(text, { async: false });
  const elements = html.match(/<[a-z]/gi)?.length ?? 0;
  if (html.length > mostCharacters || elements > mostElements) throw new Error('The document is too large.');
  return html;
}
