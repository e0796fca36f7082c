/**
 * Characters that break a line of text, are invisible, or change the direction of the text around them: controls, marks
 * of direction, line separators and the byte order mark. In a stranger's name, they can make it look like another name.
 */
const disruptive = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]/gu;

/** Replaces every disruptive character of a stranger's text. */
export function replaceDisruptive(text: string, by: string | ((character: string) => string)): string {
  return typeof by === 'string' ? text.replace(disruptive, () => by) : text.replace(disruptive, by);
}

/**
 * Makes a text from a stranger fit for one line: without disruptive characters. White space is collapsed.
 * @param most the most characters (code points) of the result.
 */
export function sanitizeText(text: string, most: number): string {
  const line = replaceDisruptive(text, ' ').replace(/\s+/g, ' ').trim();
  // Cut before the split into characters, so that a huge text costs no more than a long one.
  return Array.from(line.slice(0, 2 * most))
    .slice(0, most)
    .join('')
    .toWellFormed();
}
