import type { HighlightNode } from './highlight.ts';

/** A part of a line with the classes of all parts around it. */
export interface Token {
  text: string;
  /** Names separated by spaces. Empty for plain text. */
  classes: string;
}

/** The most characters of a line. A longer line continues in the next one without a line number. */
export const mostLineCharacters = 4_000;

export interface Line {
  tokens: Token[];
  /** Whether the line continues the line before, which was too long. */
  isContinued: boolean;
}

/** Splits highlighted code into lines. Parts that contain line breaks are split as well. */
export function linesOf(nodes: readonly HighlightNode[]): Line[] {
  const lines: Line[] = [{ tokens: [], isContinued: false }];
  let length = 0;
  const add = (text: string, classes: string) => {
    let rest = text;
    while (length + rest.length > mostLineCharacters) {
      // Do not split a surrogate pair.
      let end = mostLineCharacters - length;
      if (end > 0 && /[\ud800-\udbff]/.test(rest[end - 1]!)) end--;
      if (end > 0) lines.at(-1)!.tokens.push({ text: rest.slice(0, end), classes });
      rest = rest.slice(end);
      lines.push({ tokens: [], isContinued: true });
      length = 0;
    }
    if (rest) lines.at(-1)!.tokens.push({ text: rest, classes });
    length += rest.length;
  };
  const visit = (children: readonly HighlightNode[], classes: string) => {
    for (const child of children) {
      if (typeof child !== 'string') {
        visit(child.children, [classes, ...child.classes.filter(isClass)].filter(Boolean).join(' '));
        continue;
      }
      const [first = '', ...rest] = child.split(/\r\n|\r|\n/);
      add(first, classes);
      for (const text of rest) {
        lines.push({ tokens: [], isContinued: false });
        length = 0;
        add(text, classes);
      }
    }
  };
  visit(nodes, '');
  // Files end with a line break. It begins no further line.
  if (lines.length > 1 && lines.at(-1)!.tokens.length === 0) lines.pop();
  return lines;
}

/** Only the classes of the highlighter. */
const isClass = (name: string) => /^(?:hljs-)?[a-z_]{1,40}$/.test(name);
