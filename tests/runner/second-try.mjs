// The second try of failed browser tests. Plain JavaScript, see src/cli/setup.mjs.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * @typedef {import('./failures.mjs').Failure} Failure
 * @typedef {import('./second-try.mjs').Result} Result
 */

/** More failures than these are no chance. They fail the run at once. */
const mostSecondTries = 5;

/**
 * The failures that may be chance: those of browser tests, if there are few. Security tests never get a second try.
 * @returns {{ result: Result, failure: Failure }[]}
 */
export function eligible(/** @type {Result[]} */ results) {
  const failed = results
    .filter(({ runAgain }) => runAgain)
    .flatMap((result) => result.failures.map((failure) => ({ result, failure })));
  if (failed.length > mostSecondTries) return [];
  return failed.filter(({ failure: { test } }) => test && !test.file.startsWith('tests/security/'));
}

/**
 * Runs each eligible test once more, alone, one after the other. A test that passes then counts as passed: this function
 * moves it in its result.
 * @param {Result[]} results of all suites, when all other tests are over.
 * @returns {Promise<(Failure & { suite: string })[]>} tests that passed at the second try, with their first errors.
 */
export async function trySecondTime(results) {
  const unstable = [];
  for (const { result, failure } of eligible(results)) {
    if (!(await result.runAgain(failure.test))) continue;
    result.failures = result.failures.filter((other) => other !== failure);
    result.failed -= 1;
    result.passed += 1;
    unstable.push({ suite: result.name, ...failure });
  }
  return unstable;
}

/** Prints the tests that passed at the second try, and writes them to `<folder>/unstable.json`. */
export async function reportUnstable(unstable, folder) {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'unstable.json'), `${JSON.stringify(unstable, undefined, 2)}\n`);
  if (unstable.length === 0) return;
  console.log('\n— Passed at the second try. The first error of each test:');
  for (const { suite, title, message } of unstable)
    console.log(`\nUnstable (${suite}): ${title}\n\n${message}`);
}
