import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { fromRoot } from '../support/paths.ts';

const { scripts } = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

/** Packages that a script and its static imports need. */
function wantedBy(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const specifiers = readFileSync(file, 'utf8').matchAll(
    /^(?:import\s(?:[^'"]*\sfrom\s)?|export\s[^'"=(]*\sfrom\s)['"]([^'"]+)['"]/gm,
  );
  return Array.from(specifiers, ([, specifier]) => specifier!).flatMap((specifier) => {
    if (!specifier.startsWith('.')) return specifier;
    const next = join(dirname(file), specifier);
    expect(existsSync(next), next).toBe(true);
    return wantedBy(next, seen);
  });
}

it.each(['start', 'test', 'perf', 'perf:smoke', 'release'])(
  'npm run %s begins without a package: it installs them',
  (name) => {
    const [program, script] = scripts[name]!.split(' ');
    expect(program).toBe('node');
    const wanted = wantedBy(fromRoot(script!));
    expect(wanted).toContain('node:child_process');
    expect(wanted.filter((specifier) => !specifier.startsWith('node:'))).toEqual([]);
  },
);
