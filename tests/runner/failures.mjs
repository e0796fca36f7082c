// The failed tests of a run, from the reports of its runners. Plain JavaScript, see src/cli/setup.mjs.
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** @typedef {import('./failures.mjs').Failure} Failure */

/** Of each failure the summary shows the beginning; the rest is where the test ran. */
const messageLines = 12;

/**
 * From vitest's JSON, of which a file that could not be loaded has no tests, only a message.
 * @returns {Failure[]}
 */
export function failuresOfVitest(json, root) {
  return (json?.testResults ?? []).flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (failed.length === 0 && status === 'failed') return [failure(file, message)];
    return failed.map(({ fullName, failureMessages }) =>
      failure(`${file} › ${fullName}`, failureMessages.join('\n'), { file, id: fullName }),
    );
  });
}

/**
 * From Playwright's JSON: the tests that failed, and errors outside of tests.
 * @returns {Failure[]}
 */
export function failuresOfPlaywright(json) {
  const outside = (json?.errors ?? []).map(({ message }) => failure('outside of a test', message));
  return [...outside, ...(json?.suites ?? []).flatMap((suite) => failuresOfSuite(suite, []))];
}

function failuresOfSuite({ title, specs = [], suites = [] }, titles) {
  const path = [...titles, title];
  const failed = specs.flatMap((spec) =>
    spec.tests
      .filter((test) => test.status === 'unexpected')
      .map((test) => {
        const messages = (test.results.at(-1)?.errors ?? []).map(({ message }) => message);
        const title = [...path, spec.title].join(' › ');
        return failure(title, messages.join('\n'), { file: `tests/${spec.file}`, id: spec.id });
      }),
  );
  return [...failed, ...suites.flatMap((suite) => failuresOfSuite(suite, path))];
}

/**
 * From the output of `cargo test`, which has a line per test and, at the end of each program, the output of those that failed.
 * @returns {Failure[]}
 */
export function failuresOfCargo(output) {
  return [...output.matchAll(/^test (\S+) \.\.\. FAILED$/gm)].map(([, name]) => {
    const [, printed = ''] = output.split(`\n---- ${name} stdout ----\n`);
    return failure(name, printed.split(/\n\n(?:----|failures:)/)[0]);
  });
}

function failure(title, message = '', test) {
  const lines = stripVTControlCharacters(message).trim().split('\n');
  const more = lines.length > messageLines ? ['…'] : [];
  const shown = [...lines.slice(0, messageLines), ...more].join('\n');
  return test ? { title, message: shown, test } : { title, message: shown };
}
