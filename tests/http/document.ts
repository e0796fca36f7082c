import { fromRoot } from '../support/paths.ts';
import { type Case, describeExpected, describeRequest } from './case.ts';
import { cases } from './cases.ts';
import type { Result } from './exchange.ts';
import { introduction } from './introduction.ts';

export const documentPath = fromRoot('docs/reference/http-cases.md');

/** A column of results: which gateway, and what each case gave there. */
interface Column {
  title: string;
  results: readonly Result[];
}

/**
 * The table of all cases: what is asked, what is expected, and what came. The same results give the same text.
 * @param introduction what stands before it.
 */
export function renderDocument(
  introduction: string,
  cases: readonly Case[],
  columns: readonly Column[],
): string {
  const given = columns.map(({ results }) => new Map(results.map((result) => [result.case, result])));
  let text = introduction.trimEnd();
  for (const { title, results } of columns) {
    const passed = results.filter(({ differences }) => differences.length === 0).length;
    text += `\n\n${title}: ${passed} of ${results.length} cases as expected.`;
  }
  text += '\n';
  let group = '';
  for (const each of cases) {
    if (each.group !== group) {
      group = each.group;
      text += `\n## ${group}\n\n${row(['case', 'request', 'expected', ...columns.map(({ title }) => title)])}`;
      text += row(Array(3 + columns.length).fill('---'));
    }
    const results = given.map((results) => resultText(results.get(each)));
    text += row([each.name, describeRequest(each.request), describeExpected(each.expected), ...results]);
  }
  return text;
}

/** The text of `docs/reference/http-cases.md`. @param results of all cases. */
export function ownDocument(results: readonly Result[]): string {
  return renderDocument(introduction, cases, [{ title: 'Antway', results }]);
}

/** @param result undefined when the case was not asked there. */
function resultText(result: Result | undefined): string {
  if (!result) return '–';
  return result.differences.length === 0 ? 'as expected' : `**${result.differences.join('; ')}**`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((text) => text.replace(/\|/g, '\\|').replace(/\r?\n/g, ' ')).join(' | ')} |\n`;
}
