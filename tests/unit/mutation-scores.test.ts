import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { folders } from '../mutations/folders.mjs';
import { countsOf, parse, render, scoreOf } from '../mutations/scores.mjs';
import { fromRoot } from '../support/paths.ts';

const counts = { killed: 6, timeout: 2, survived: 1, noCoverage: 1 };

describe('mutation scores', () => {
  it('count a timeout as found, and mutants without coverage as not found', () => {
    const statuses = ['Killed', 'Killed', 'Timeout', 'Survived', 'NoCoverage', 'Ignored', 'RuntimeError'];
    const found = countsOf(statuses.map((status) => ({ status })));
    expect(found).toEqual({ killed: 2, timeout: 1, survived: 1, noCoverage: 1 });
    expect(scoreOf(found)).toBe(60);
  });

  it('come back from their document', () => {
    const scores = new Map([
      ['src/a', counts],
      ['src/b/c', { ...counts, killed: 0 }],
    ]);
    expect(render(scores)).toContain('| `src/a` | 10 | 6 | 2 | 1 | 1 | 80.0 % |');
    expect(parse(render(scores))).toEqual(scores);
    expect(parse('')).toEqual(new Map());
  });

  it('are in the document as its generator writes them', () => {
    const document = readFileSync(fromRoot('docs/reference/mutation-scores.md'), 'utf8');
    const scores = parse(document);
    expect(render(scores)).toBe(document);
    expect(Object.keys(folders)).toEqual(expect.arrayContaining([...scores.keys()]));
  });

  it.each(Object.entries(folders))('of %s have tests that exist', (folder, names) => {
    expect(existsSync(fromRoot(folder))).toBe(true);
    const missing = names.filter((name) => !existsSync(fromRoot(`tests/unit/${name}.test.ts`)));
    expect(missing).toEqual([]);
  });
});
