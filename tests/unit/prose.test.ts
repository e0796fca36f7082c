// @module-tag slow
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'antway-prose-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Line, column and excerpt of each finding in a file. */
function findingsIn(name: string, text: string): string[] {
  const file = join(folder, name);
  writeFileSync(file, text);
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules/textlint/bin/textlint.js'),
      '--rules-base-directory',
      join(root, 'build/prose'),
      '--format=json',
      file,
    ],
    { cwd: root, encoding: 'utf8' },
  );
  expect(stderr).not.toMatch(/Error|No rules/);
  const [result] = stdout ? JSON.parse(stdout) : [];
  return (result?.messages ?? []).map(
    ({ line, column, message }: { line: number; column: number; message: string }) =>
      `${line}:${column} ${/\(“([^”]*)”\)$/.exec(message)![1]}`,
  );
}

it('finds sentences in comments that begin with a clause, and not in code', () => {
  const text = `/**
 * A store. What is seen is stored.
 * @returns \`What is code\`, what a sentence contains.
 */
const text = 'What a string says.'; // Whoever asks gets it.
// What does this do? It asks.
/** Whatever comes is counted. */
`;
  expect(findingsIn('a.ts', text)).toEqual(['2:13 What', '5:40 Whoever', '5:40 Whoever', '7:5 Whatever']);
});

it('finds clauses as subjects in the middle of a sentence', () => {
  const text = `// The store is shared, so what is read is checked.
// It ends when nothing is sent, and what came is on disk.
// The page says so, and what the user can do.
// An account of a wallet, and what it has.
`;
  expect(findingsIn('b.ts', text)).toEqual(['1:28 what', '2:38 what']);
});

it('finds them in names of tests, and not in other strings', () => {
  const text = `describe('what a page shows', () => {
  it.each([1])('is asked by nobody %s', () => expect('What is this').toBe('kept'));
  test.describe(\`a list\`, () => {});
  it(
    'is kept',
    () => {},
  );
});
`;
  expect(findingsIn('a.test.ts', text)).toEqual(['1:11 What', '2:29 nobody', '5:9 kept']);
  expect(findingsIn('a.ts', text)).toEqual([]);
});

it('finds them in comments of Rust', () => {
  expect(findingsIn('a.rs', '/// What is sent is measured.\nfn f() {}\n//! Sends it.\n')).toEqual([
    '1:5 What',
  ]);
});

it('finds them in documents, and not in titles, tables and code', () => {
  const text = `# What it costs

What is read is checked.

| what | why |
| --- | --- |
| What a page is | Who reads it |

\`\`\`
What is code
\`\`\`
`;
  expect(findingsIn('a.md', text)).toEqual(['3:1 What']);
});
