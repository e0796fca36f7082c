// @module-tag slow
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type FaultTest, faults } from '../faults/faults.mjs';
import { listedTests } from '../support/listed-tests.ts';
import { fromRoot } from '../support/paths.ts';

const read = (path: string) => readFileSync(fromRoot(path), 'utf8');

describe('the seeded faults', () => {
  it('are at least sixty, with different names', () => {
    const names = faults.map(({ name }) => name);
    expect(names.length).toBeGreaterThanOrEqual(60);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[a-z]+(-[a-z]+)*$/.test(name))).toEqual([]);
  });

  it.each(faults)('$name can be put into its file', ({ file, find, replace }) => {
    expect(file).toMatch(/^(src|sw|public|peer\/src)\//);
    expect(read(file).split(find)).toHaveLength(2);
    expect(replace).not.toBe(find);
  });

  it.each(faults)('$name has a test', ({ test: { file, title, titleIn = file } }) => {
    expect(existsSync(fromRoot(file))).toBe(true);
    expect(title).not.toBe('');
    expect(read(titleIn)).toContain(title);
  });

  const playwrightTests = faults.map(({ test }) => test).filter(({ runner }) => runner === 'playwright');

  it.each(playwrightTests)(
    'have no test with the tag of the full tests: $file, $title',
    ({ file, title }) => {
      const [, after] = read(file).split(title);
      expect(after!.split(/=>|\n\n/)[0]).not.toContain('@full');
    },
  );

  it('have no test of Playwright that only the full tests run', { tags: 'full' }, async () => {
    const listed = await listedTests([], 'default');
    const isListed = ({ file, title }: FaultTest) =>
      listed.some((test) => `tests/${test.file}` === file && test.title.includes(title));
    expect(playwrightTests.length).toBeGreaterThan(0);
    expect(playwrightTests.filter((test) => !isListed(test))).toEqual([]);
  });
});
