// Runs one test and tells a failed test from a run that broke down. Plain JavaScript, see src/cli/setup.mjs.
import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { failuresOfCargo, failuresOfPlaywright, failuresOfVitest } from '../runner/failures.mjs';

/** Only the full tier runs what has this tag. The default tier has to find every fault. */
const fullTag = 'full';

/** As `test-command.d.mts` says. */
export function commandOf({ runner, file, title }) {
  switch (runner) {
    case 'playwright':
      return ['playwright', 'test', file, '-g', patternOf(title), `--grep-invert=@${fullTag}`];
    case 'vitest': {
      const [, browser] = /^tests\/(firefox|webkit)\//.exec(file) ?? [];
      const config = browser ? ['--config', `tests/${browser}/vitest.config.ts`] : [];
      return ['vitest', 'run', ...config, file, '-t', patternOf(title), `--tags-filter=!${fullTag}`];
    }
    case 'cargo': {
      const [, program, module] = /^peer\/tests\/(\w+)\/(\w+)\.rs$/.exec(file);
      const options = ['--release', '--locked', '--manifest-path', 'peer/Cargo.toml', '--test', program];
      return ['cargo', 'test', ...options, `${module}::${title}`, '--', '--exact'];
    }
  }
}

/** The runners take a regular expression. */
function patternOf(title) {
  return title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/**
 * Runs the command of a test in a copy of the project.
 * @returns {Promise<{ outcome: 'failed' | 'passed' | 'broken', detail: string }>} `broken` if no test has run, or the runner
 *   reports another problem than failed tests. `detail` is the first failure, or the end of the output.
 */
export async function runTest(folder, test, signal) {
  const report = join(folder, 'seeded-fault.json');
  await rm(report, { force: true });
  const [program, ...args] = commandOf(test);
  const { code, output } = await run(folder, program, args, report, signal);
  const { passed, failed, failures } = await countsOf(program, output, report, folder);
  if (failed > 0) return { outcome: 'failed', detail: shortOf(failures[0]) };
  const outcome = code === 0 && passed > 0 ? 'passed' : 'broken';
  return { outcome, detail: output.trim().split('\n').slice(-20).join('\n') };
}

async function countsOf(program, output, report, folder) {
  if (program === 'cargo') {
    const [passed, failed] = ['passed', 'failed'].map((outcome) =>
      Array.from(output.matchAll(new RegExp(`^test result: .* (\\d+) ${outcome};`, 'gm')), ([, count]) =>
        Number(count),
      ).reduce((sum, count) => sum + count, 0),
    );
    return { passed, failed, failures: failuresOfCargo(output) };
  }
  const json = JSON.parse(await readFile(report, 'utf8').catch(() => 'null'));
  if (program === 'vitest') {
    const { numPassedTests: passed = 0, numFailedTests: failed = 0 } = json ?? {};
    return { passed, failed, failures: failuresOfVitest(json, folder) };
  }
  const { expected: passed = 0, unexpected: failed = 0 } = json?.stats ?? {};
  return { passed, failed, failures: failuresOfPlaywright(json) };
}

function shortOf({ title, message }) {
  return [title, ...message.split('\n').filter((line) => line.trim() !== '')].slice(0, 2).join(': ');
}

function run(folder, program, args, report, signal) {
  const programs = {
    playwright: [process.execPath, 'node_modules/@playwright/test/cli.js', '--reporter=line,json'],
    vitest: [
      ...[process.execPath, 'node_modules/vitest/vitest.mjs'],
      ...['--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
    ],
  };
  const [command, script, ...reporters] = programs[program] ?? [program];
  const all = script ? [join(folder, script), ...args, ...reporters] : args;
  return runProcess(folder, command, all, { env: { PLAYWRIGHT_JSON_OUTPUT_NAME: report }, signal });
}

/** @returns {Promise<{ code: number, output: string }>} of a program that runs in a copy of the project. */
export function runProcess(folder, command, args, { env = {}, signal } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: folder,
      env: { ...process.env, CARGO_TARGET_DIR: join(folder, 'peer/target'), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
