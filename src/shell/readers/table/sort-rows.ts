/** Sorts rows by one column: numbers by value, before other texts; empty cells last. Stable. */
export function sortRows(
  rows: readonly string[][],
  column: number,
  isDescending: boolean,
  locale?: string,
): string[][] {
  const { compare } = new Intl.Collator(locale, { numeric: true, sensitivity: 'base' });
  const keyed = rows.map((row) => {
    const text = row[column]?.trim() ?? '';
    return { row, text, number: numberIn(text) };
  });
  const sign = isDescending ? -1 : 1;
  keyed.sort((a, b) => {
    if (a.text === '' || b.text === '') return Number(a.text === '') - Number(b.text === '');
    if (a.number !== null && b.number !== null) return sign * (a.number - b.number);
    if (a.number !== null || b.number !== null) return sign * (a.number === null ? 1 : -1);
    return sign * compare(a.text, b.text);
  });
  return keyed.map(({ row }) => row);
}

function numberIn(text: string): number | null {
  return /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?%?$/i.test(text) ? Number.parseFloat(text) : null;
}
