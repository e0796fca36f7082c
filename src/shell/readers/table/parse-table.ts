import Papa from 'papaparse';

export interface Table {
  header: string[];
  rows: string[][];
  /** The most cells in a row, with the header, at most `mostColumns`. */
  columns: number;
  /** Whether rows or columns were left out. */
  isBounded: boolean;
}

/** Limits of a table in memory. */
const mostRows = 50_000;
export const mostColumns = 200;
/** The most characters of a cell. A cell that is longer ends with an ellipsis. */
const mostCharacters = 1_000;

/**
 * Parses CSV, with the separator that fits the text best. The first row is the header.
 * @param isCut whether the text is only the start of a file. Its last row may be incomplete and is left out.
 */
export function parseTable(text: string, isCut: boolean): Table {
  const { data, meta } = Papa.parse<string[]>(text, { preview: mostRows + 1, skipEmptyLines: 'greedy' });
  if (isCut && !meta.truncated && data.length > 1) data.pop();
  const width = data.reduce((most, row) => Math.max(most, row.length), 0);
  const columns = Math.min(width, mostColumns);
  const [header = [], ...rows] = data.map((row) => row.slice(0, columns).map(shortened));
  return { header, rows, columns, isBounded: meta.truncated || width > columns };
}

function shortened(cell: string): string {
  return cell.length > mostCharacters ? `${cell.slice(0, mostCharacters)}…` : cell;
}
