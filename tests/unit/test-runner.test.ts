import { expect, test } from 'vitest';
import type { Failure } from '../runner/failures.mjs';
import { failuresOfCargo, failuresOfPlaywright, failuresOfVitest } from '../runner/failures.mjs';
import { eligible, type Result, trySecondTime } from '../runner/second-try.mjs';
import { parseShard, shareOf } from '../runner/shard.mjs';

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
    {
      title: 'tests/a.test.ts › sums > adds',
      message: 'Error: 1',
      test: { file: 'tests/a.test.ts', id: 'sums > adds' },
    },
    { title: 'tests/b.test.ts', message: 'No such module' },
  ]);
  expect(failuresOfVitest(undefined, '/project')).toEqual([]);
});

test('Playwright: the last attempt of each failed test, at any depth', () => {
  const spec = (title: string, status: string, ...messages: string[]) => ({
    title,
    ...{ id: `id of ${title}`, file: 'browser/pins.test.ts' },
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
    {
      title: 'browser/pins.test.ts › with a quota › warns',
      message: 'Error: second',
      test: { file: 'tests/browser/pins.test.ts', id: 'id of warns' },
    },
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

/** The result of a suite with these failed tests. `stable` tests fail again. */
function failed(name: string, files: string[], { stable = [] as string[], hasBrowser = true } = {}) {
  const failures = files.map(
    (file): Failure => ({ title: file, message: 'Error: first', test: { file, id: file } }),
  );
  const triedAgain: string[] = [];
  const result: Result = { name, passed: 10, failed: files.length, failures };
  if (hasBrowser) {
    result.runAgain = async ({ id }) => {
      triedAgain.push(id);
      return !stable.includes(id);
    };
  }
  return { result, triedAgain };
}

test('a browser test that passes at the second try counts as passed and is reported', async () => {
  const { result, triedAgain } = failed('browser', ['tests/browser/a.test.ts', 'tests/browser/b.test.ts'], {
    stable: ['tests/browser/b.test.ts'],
  });
  const unstable = await trySecondTime([result]);
  expect(triedAgain).toEqual(['tests/browser/a.test.ts', 'tests/browser/b.test.ts']);
  expect(unstable.map(({ suite, title }) => [suite, title])).toEqual([
    ['browser', 'tests/browser/a.test.ts'],
  ]);
  expect([result.passed, result.failed]).toEqual([11, 1]);
  expect(result.failures.map(({ title }) => title)).toEqual(['tests/browser/b.test.ts']);
});

test('security tests, tests without a browser and failures outside of tests get no second try', () => {
  const security = failed('browser', ['tests/security/a.test.ts']).result;
  const unit = failed('unit', ['tests/unit/a.test.ts'], { hasBrowser: false }).result;
  const outside = failed('browser', []).result;
  outside.failures.push({ title: 'outside of a test', message: 'the set-up failed' });
  expect(eligible([security, unit, outside])).toEqual([]);
});

test('more than five failures of all browsers get no second try', () => {
  const files = Array.from({ length: 3 }, (_, i) => `tests/browser/${i}.test.ts`);
  const results = [failed('browser', files).result, failed('firefox', files).result];
  expect(eligible(results)).toEqual([]);
  expect(eligible([results[0]!])).toHaveLength(3);
});

test('a shard is a pair, and all shards together have each item once', () => {
  expect(parseShard('2/4')).toEqual({ index: 2, count: 4 });
  for (const text of ['0/4', '5/4', '2', '2/', 'a/b', '']) {
    expect(() => parseShard(text), text).toThrow('is no shard');
  }
  const items = ['a', 'b', 'c', 'd', 'e'];
  const shards = [1, 2, 3].map((index) => shareOf(items, { index, count: 3 }));
  expect(shards).toEqual([['a', 'd'], ['b', 'e'], ['c']]);
  expect(shareOf(items)).toEqual(items);
});
