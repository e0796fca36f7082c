import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fromRoot } from './paths.ts';

/** A test that Playwright lists. */
export interface ListedTest {
  /** Relative to `tests/`. */
  file: string;
  title: string;
  /** Without their `@`. */
  tags: string[];
  annotations: { type: string; description?: string }[];
}

/** The members of Playwright's JSON that this file reads. */
interface Suite {
  file: string;
  suites?: Suite[];
  specs?: { title: string; tags: string[]; tests: Pick<ListedTest, 'annotations'>[] }[];
}

/**
 * The tests of Playwright, by file. It lists them and runs none.
 * @param options of its command: paths of files and folders.
 * @param tier as `ANTWAY_TIER` in playwright.config.ts.
 */
export async function listedTests(
  options: readonly string[],
  tier?: 'quick' | 'default',
): Promise<ListedTest[]> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [fromRoot('node_modules/@playwright/test/cli.js'), 'test', '--list', '--reporter=json', ...options],
    {
      cwd: fromRoot(''),
      env: { ...process.env, ANTWAY_CHROMIUM: process.execPath, ANTWAY_TIER: tier },
      maxBuffer: 2 ** 26,
    },
  );
  const { suites } = JSON.parse(stdout) as { suites: Suite[] };
  return suites
    .toSorted((a, b) => a.file.localeCompare(b.file))
    .flatMap((suite) =>
      specsOf(suite).flatMap(({ title, tags, tests }) =>
        tests.map(({ annotations }) => ({ file: suite.file, title, tags, annotations })),
      ),
    );
}

const specsOf = ({ suites = [], specs = [] }: Suite): NonNullable<Suite['specs']> => [
  ...specs,
  ...suites.flatMap(specsOf),
];
