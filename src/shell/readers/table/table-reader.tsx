import { useMemo, useState } from 'preact/hooks';
import { formatCount } from '../../format.ts';
import { locale } from '../../texts/texts.ts';
import { CodeReader } from '../code/code-reader.tsx';
import type { TextReaderProps } from '../file-reader.tsx';
import { Loading } from '../loading.tsx';
import { sanitizeName } from '../sanitize-name.ts';
import { useBounded } from '../show-more.tsx';
import { readerTexts } from '../texts/texts.ts';
import { useTask } from '../use-task.ts';
import type { Table } from './parse-table.ts';
import { sortRows } from './sort-rows.ts';

const rowsPerStep = 200;

/** CSV as a table. Cells are text: nothing in a cell is evaluated. */
export function TableReader(props: TextReaderProps) {
  const { text, isCut, name } = props;
  const { output, problem } = useTask('table', { text, isCut });
  if (problem) {
    return (
      <>
        <p class="note note-problem">{readerTexts().plainBecause(problem.message)}</p>
        <CodeReader {...props} />
      </>
    );
  }
  return output ? <TableView table={output} name={name} /> : <Loading />;
}

function TableView({ table: { header, rows, columns, isBounded }, name }: { table: Table; name: string }) {
  const t = readerTexts();
  const [sort, setSort] = useState<{ column: number; isDescending: boolean } | null>(null);
  const sorted = useMemo(
    () => (sort ? sortRows(rows, sort.column, sort.isDescending, locale) : rows),
    [rows, sort],
  );
  const { shown, more } = useBounded(sorted.length, rowsPerStep);
  const titles = Array.from({ length: columns }, (_, at) =>
    sanitizeName(header[at]?.trim() || t.table.column(at + 1)),
  );

  function sortBy(column: number) {
    const isDescending = sort?.column === column && !sort.isDescending;
    setSort({ column, isDescending });
  }

  return (
    <div class="reader-table">
      <p class="reader-tools">
        <span class="note">
          {t.table.rows(rows.length, formatCount(rows.length))}
          {isBounded && ` – ${t.table.bounded}`}
        </span>
        <span class="visually-hidden" role="status">
          {sort && t.table.sorted(titles[sort.column]!, sort.isDescending)}
        </span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
      <section class="table-frame" aria-label={t.table.label(sanitizeName(name))} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {titles.map((title, column) => {
                const isSorted = sort?.column === column;
                const direction = isSorted ? (sort.isDescending ? 'descending' : 'ascending') : 'none';
                return (
                  <th key={column} scope="col" aria-sort={direction}>
                    <button
                      type="button"
                      class="sort-button"
                      title={t.table.sortBy(title)}
                      onClick={() => sortBy(column)}
                    >
                      <bdi>{title}</bdi>
                      <span class="sort-mark" aria-hidden="true">
                        {isSorted ? (sort.isDescending ? '↓' : '↑') : ''}
                      </span>
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, shown).map((row, at) => (
              <tr key={at}>
                {titles.map((_, column) => (
                  <td key={column}>
                    <bdi>{plainCell(row[column] ?? '')}</bdi>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {more}
    </div>
  );
}

/** Line breaks within a cell stay. */
function plainCell(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map(sanitizeName)
    .join('\n');
}
