/** The counts of a folder, by the outcome of its mutants. */
const columns = ['killed', 'timeout', 'survived', 'noCoverage'];

const introduction = `# Mutation scores

A mutant is a source with one changed place. \`npm run test:mutations\` makes the mutants of the core one after the other
and runs the unit tests of the folder: a test should fail. The command writes the table below.
\`npm run test:mutations -- src/archive\` writes the row of one folder.

- *killed*: a test failed.
- *timeout*: a test did not end, for example because of an endless loop. This counts as found.
- *survived*: all tests passed.
- *no coverage*: no test reaches the place.

Stryker makes no mutants of these places:

- Messages of errors. Tests check the codes of errors. A test of the words would repeat the source.
- Values that a module computes once when it loads. Each of these mutants needs a new process and all tests.

Only the unit tests in \`tests/mutations/folders.mjs\` run. Tests of the layers above and tests in browsers may find a
mutant that survives here.

A folder without a row has not been measured.
`;

/**
 * Counts mutants by their status in Stryker's results.
 * @param {{ status: string }[]} mutants
 */
export function countsOf(mutants) {
  const count = (status) => mutants.filter((mutant) => mutant.status === status).length;
  return {
    killed: count('Killed'),
    timeout: count('Timeout'),
    survived: count('Survived'),
    noCoverage: count('NoCoverage'),
  };
}

/** The share of the mutants that tests find, in percent. */
export function scoreOf({ killed, timeout, survived, noCoverage }) {
  return (100 * (killed + timeout)) / (killed + timeout + survived + noCoverage);
}

/** The document with the counts of each folder, in the order of the map. */
export function render(scores) {
  const rows = [...scores].map(([folder, counts]) => {
    const numbers = columns.map((column) => counts[column]);
    const all = numbers.reduce((sum, number) => sum + number, 0);
    return `| \`${folder}\` | ${[all, ...numbers].join(' | ')} | ${scoreOf(counts).toFixed(1)} % |`;
  });
  const head = '| folder | mutants | killed | timeout | survived | no coverage | score |';
  return `${[introduction, head, '| --- | --- | --- | --- | --- | --- | --- |', ...rows].join('\n')}\n`;
}

/** The counts in a document that `render` made. */
export function parse(document) {
  const scores = new Map();
  for (const [, folder, numbers] of document.matchAll(/^\| `(.+?)` \| \d+ \| (.+) \| [\d.]+ % \|$/gm)) {
    const values = numbers.split(' | ').map(Number);
    scores.set(folder, Object.fromEntries(columns.map((column, i) => [column, values[i]])));
  }
  return scores;
}
