// `npm run test:mutations`: mutation tests of the folders in folders.mjs. Plain JavaScript, see src/cli/setup.mjs.
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { checkNode, fail, installPackages, root, SetupError } from '../../src/cli/setup.mjs';
import { folders } from './folders.mjs';
import { countsOf, parse, render, scoreOf } from './scores.mjs';

const document = join(root, 'docs/reference/mutation-scores.md');
const leastScore = 80;

try {
  const targets = readTargets(process.argv.slice(2));
  checkNode();
  await installPackages();
  const { Stryker } = await import('@stryker-mutator/core');
  process.chdir(root);
  for (const { folder, file } of targets) {
    // The test runner, which is a process of its own, reads it in vitest.config.ts.
    process.env.ANTWAY_MUTATED_FOLDER = folder;
    const counts = countsOf(await new Stryker(optionsFor(folder, file)).runMutationTest());
    const score = scoreOf(counts);
    console.log(`${file ?? folder}: ${score.toFixed(1)} %`);
    if (score < leastScore) process.exitCode = 1;
    if (file === undefined) await store(folder, counts);
  }
} catch (error) {
  fail(error);
}

/**
 * Arguments are folders of folders.mjs, by default all, or files in them. A file's mutants do not change the document.
 * @returns {{ folder: string, file?: string }[]}
 */
function readTargets(args) {
  const names = Object.keys(folders);
  if (args.length === 0) return names.map((folder) => ({ folder }));
  return args.map((arg) => {
    const path = arg.replace(/\/$/, '');
    const folder = names.find((name) => path === name || path.startsWith(`${name}/`));
    if (folder === undefined)
      throw new SetupError(`There are no mutation tests of “${arg}”; there are ${names.join(', ')}.`);
    return { folder, file: path === folder ? undefined : path };
  });
}

function optionsFor(folder, file) {
  const sources = [`${folder}/**/*.ts`, '!**/*.d.ts', '!src/self-encryption/kernel-wasm.ts'];
  return {
    mutate: file === undefined ? sources : [file],
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner', './tests/mutations/ignore-messages.mjs'],
    vitest: { configFile: 'tests/mutations/vitest.config.ts', related: true },
    coverageAnalysis: 'perTest',
    ignorers: ['messages'],
    // A static mutant changes a value that is computed when its module loads. It needs all tests, in a new process.
    ignoreStatic: true,
    concurrency: Math.max(1, availableParallelism() - 1),
    // Stryker finds most endless loops by counting. The time is for those that wait, in addition to Stryker's own overhead.
    // Of the first 15 mutants of pax.ts, 6 took this time, which was most of the run.
    timeoutMS: 5_000,
    timeoutFactor: 2,
    dryRunTimeoutMinutes: 20,
    // Stryker copies what the tests read, and links the packages.
    tempDirName: '.antway/mutations',
    ignorePatterns: [
      ...['*', '!package.json', '!*.config.ts', '!tsconfig*.json'],
      ...['build', 'public', 'src', 'sw', 'tests'].map((name) => `!${name}/**`),
      ...['tests/chain', 'tests/packages', 'node_modules'],
    ],
    disableTypeChecks: false, // Vitest checks no types
    tsconfigFile: 'none', // Stryker would need an interface that TypeScript 7 does not have
    reporters: ['clear-text', process.stdout.isTTY ? 'progress' : 'progress-append-only', 'html'],
    clearTextReporter: { logTests: false, reportTests: false },
    htmlReporter: { fileName: `test-results/mutations/${folder.replaceAll('/', '-')}.html` },
  };
}

/** Writes the counts of a folder. The other rows stay. */
async function store(folder, counts) {
  const scores = parse(await readFile(document, 'utf8').catch(() => '')).set(folder, counts);
  const known = Object.keys(folders).filter((name) => scores.has(name));
  await writeFile(document, render(new Map(known.map((name) => [name, scores.get(name)]))));
}
