import { expect, test } from 'vitest';
import { failuresOfCargo, failuresOfPlaywright, failuresOfVitest } from '../failures.mjs';

test('vitest: failed tests, and files that could not be loaded', () => {
  const passed = { status: 'passed', fullName: 'adds', failureMessages: [] };
  const failed = {
    status: 'failed',
    fullName: 'sums > adds',
    failureMessages: ['\u001b[31mError: 1\u001b[0m'],
  };
  const json = {
    testResults: [
      { name: '/project/tests/a.test.ts', status: 'failed', message: '', assertionResults: [passed, failed] },
      { name: '/project/tests/b.test.ts', status: 'failed', message: 'No such module', assertionResults: [] },
      { name: '/project/tests/c.test.ts', status: 'passed', message: '', assertionResults: [passed] },
    ],
  };
  expect(failuresOfVitest(json, '/project')).toEqual([
    { title: 'tests/a.test.ts › sums > adds', message: 'Error: 1' },
    { title: 'tests/b.test.ts', message: 'No such module' },
  ]);
  expect(failuresOfVitest(undefined, '/project')).toEqual([]);
});

test('Playwright: the last attempt of each failed test, at any depth', () => {
  const spec = (title: string, status: string, ...messages: string[]) => ({
    title,
    tests: [{ status, results: messages.map((message) => ({ errors: [{ message }] })) }],
  });
  const json = {
    errors: [{ message: 'the set-up failed' }],
    suites: [
      {
        title: 'browser/pins.test.ts',
        specs: [spec('pins', 'expected'), spec('unpins', 'flaky', 'Error: once')],
        suites: [
          { title: 'with a quota', specs: [spec('warns', 'unexpected', 'Error: first', 'Error: second')] },
        ],
      },
    ],
  };
  expect(failuresOfPlaywright(json)).toEqual([
    { title: 'outside of a test', message: 'the set-up failed' },
    { title: 'browser/pins.test.ts › with a quota › warns', message: 'Error: second' },
  ]);
});

test('cargo: failed tests with what they printed', () => {
  const output = [
    'test store::opens ... ok\ntest store::closes ... FAILED\ntest web::serves ... FAILED\n\nfailures:\n',
    "---- store::closes stdout ----\n\nthread 'store::closes' panicked at store.rs:1:\nin use\n",
    "---- web::serves stdout ----\nthread 'web::serves' panicked at web.rs:2:\ngone\n\n",
    'failures:\n    store::closes\n    web::serves\n',
  ].join('\n');
  expect(failuresOfCargo(output)).toEqual([
    { title: 'store::closes', message: "thread 'store::closes' panicked at store.rs:1:\nin use" },
    { title: 'web::serves', message: "thread 'web::serves' panicked at web.rs:2:\ngone" },
  ]);
});

test('a long message is cut', () => {
  const failureMessages = [Array.from({ length: 100 }, (_, line) => `line ${line}`).join('\n')];
  const assertionResults = [{ status: 'failed', fullName: 'prints', failureMessages }];
  const json = { testResults: [{ name: '/a.test.ts', status: 'failed', message: '', assertionResults }] };
  const lines = failuresOfVitest(json, '/')[0]?.message.split('\n');
  expect([lines?.length, lines?.at(-1)]).toEqual([13, '…']);
});
