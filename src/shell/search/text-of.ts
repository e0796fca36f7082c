import { Parser } from 'htmlparser2';
import { decodeDocument } from '../../gateway/http/document-head.ts';

export type DocumentType = 'html' | 'text';

export interface DocumentText {
  title: string;
  text: string;
}

/** Most UTF-16 units of a document's text. */
export const mostTextLength = 64 * 1024;
const mostTitleLength = 200;
/** Most open elements at the end of a piece. */
const mostOpen = 1_000;
/** UTF-16 units that are parsed together. */
const pieceLength = 16 * 1024;

/** Their content is not text that a reader sees. */
const unseen = new Set(['script', 'style', 'template', 'noscript', 'svg', 'math', 'iframe', 'object']);

const types: Record<string, DocumentType> = {
  html: 'html',
  htm: 'html',
  xhtml: 'html',
  txt: 'text',
  md: 'text',
  markdown: 'text',
};

/** Whether the text of a file is searched, by the extension of its name. */
export function documentTypeOf(path: string): DocumentType | undefined {
  const extension = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(types, extension) ? types[extension] : undefined;
}

/** The text that a reader of the document sees, on one line. Runs nothing and loads nothing. */
export function textOf(bytes: Uint8Array, type: DocumentType): DocumentText {
  const source = decodeDocument(bytes, '');
  if (type === 'text') return { title: '', text: oneLine(source, mostTextLength) };
  let title = '';
  let text = '';
  let isInTitle = false;
  /** How many elements with unseen content are open. */
  let depth = 0;
  /** How many elements are open. */
  let open = 0;
  const parser = new Parser({
    onopentagname(name) {
      open++;
      if (unseen.has(name)) depth++;
      else if (name === 'title' && depth === 0) isInTitle = true;
      // Words of neighbouring elements are separate words.
      text += ' ';
    },
    ontext(data) {
      if (depth > 0) return;
      if (isInTitle) title += data.slice(0, mostTitleLength);
      else if (text.length < 2 * mostTextLength) text += data;
    },
    onclosetag(name) {
      open--;
      if (unseen.has(name)) depth = Math.max(depth - 1, 0);
      if (name === 'title') isInTitle = false;
      text += ' ';
    },
  });
  // The parser takes quadratic time for deeply nested elements, so such a page is read only in part.
  for (let at = 0; at < source.length && open <= mostOpen; at += pieceLength) {
    parser.write(source.slice(at, at + pieceLength));
  }
  parser.end();
  return { title: oneLine(title, mostTitleLength), text: oneLine(text, mostTextLength) };
}

function oneLine(text: string, most: number): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, most);
}
