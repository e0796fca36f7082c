import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { fromRoot } from '../support/paths.ts';

/** The folders of the tests of each column, in the table's order. */
const columns = [['tests/browser', 'tests'], ['tests/firefox'], ['tests/webkit']] as const;

/** The cells of the first table of docs/reference/browsers.md, without its head. */
const rows = readFileSync(fromRoot('docs/reference/browsers.md'), 'utf8')
  .split(/^## /m)[0]!
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| |') && !line.startsWith('| ---'))
  .map((line) => line.slice(2, -2).split(' | '));

const named = (cell: string) => Array.from(cell.matchAll(/`([\w/-]+\.test\.ts)`/g), ([, name]) => name!);

it('the table of browsers names only tests that exist', () => {
  expect(rows.length).toBeGreaterThan(15);
  const missing = rows.flatMap((cells) =>
    columns.flatMap((folders, column) =>
      named(cells[column + 1]!)
        .filter((name) => !folders.some((folder) => existsSync(fromRoot(`${folder}/${name}`))))
        .map((name) => `${folders[0]}/${name}`),
    ),
  );
  expect(missing).toEqual([]);
});

it.each([
  ['tests/firefox', 2],
  ['tests/webkit', 3],
] as const)('the table of browsers has every test in %s', (folder, column) => {
  const tests = readdirSync(fromRoot(folder)).filter((name) => name.endsWith('.test.ts'));
  const inTable = new Set(rows.flatMap((cells) => named(cells[column]!)));
  expect(tests.filter((name) => !inTable.has(name))).toEqual([]);
});
