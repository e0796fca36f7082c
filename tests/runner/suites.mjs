// The suites of tests, and their runners. Plain JavaScript, see src/cli/setup.mjs.
import { spawn } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { root, stateFolder } from '../../src/cli/setup.mjs';
import { failuresOfCargo, failuresOfPlaywright, failuresOfVitest } from './failures.mjs';
import { shareOf } from './shard.mjs';

/**
 * @typedef {import('./second-try.mjs').Result} Result
 * @typedef {import('./shard.mjs').Shard} Shard
 * @typedef {'quick' | 'default' | 'full'} Tier
 */

/** How long the full tier lets the soak test run, in seconds. */
const fullSoakSeconds = 600;
/** Most tests in Rust wait nearly all of their time. */
const rustTestThreads = 5 * availableParallelism();
const reportsFolder = join(stateFolder, 'test-results');
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const playwright = join(root, 'node_modules/@playwright/test/cli.js');

/**
 * The tests in Node.
 * @returns {Promise<Result>}
 */
export function runUnit(/** @type {Tier} */ tier, /** @type {Shard | undefined} */ shard) {
  const { platform } = process;
  const elsewhere = [...(platform === 'win32' ? ['unix'] : []), ...(platform === 'linux' ? [] : ['linux'])];
  // Of the projects in vitest.config.ts.
  const projects = tier === 'quick' ? ['--project=shared', '--project=isolated'] : [];
  const options = [...projects, ...withoutTags(tier, elsewhere), ...shardOption(shard)];
  return runVitest('unit', options, { ANTWAY_TIER: tier });
}

/**
 * The core of the gateway in Firefox.
 * @returns {Promise<Result>}
 */
export function runFirefox(/** @type {Tier} */ tier, /** @type {Shard | undefined} */ shard, firefox) {
  const config = ['--config', join(root, 'tests/firefox/vitest.config.ts')];
  return runInBrowserByVitest('firefox', config, [...withoutTags(tier), ...shardOption(shard)], {
    ANTWAY_FIREFOX: firefox,
  });
}

/**
 * The core of the gateway in WebKitGTK, over HTTP.
 * @returns {Promise<Result>}
 */
export function runWebKit(/** @type {Tier} */ tier, /** @type {Shard | undefined} */ shard) {
  const config = ['--config', join(root, 'tests/webkit/vitest.config.ts')];
  return runInBrowserByVitest('webkit', config, [...withoutTags(tier), ...shardOption(shard)], {});
}

/** Leaves out the tests of the full tier, and those with these other tags. */
function withoutTags(tier, others = []) {
  const tags = [...(tier === 'full' ? [] : ['full']), ...others];
  return tags.length > 0 ? [`--tags-filter=${tags.map((tag) => `!${tag}`).join(' && ')}`] : [];
}

function shardOption(shard) {
  return shard ? [`--shard=${shard.index}/${shard.count}`] : [];
}

/** @returns {Promise<Result>} */
async function runInBrowserByVitest(name, config, options, env) {
  const result = await runVitest(name, [...config, ...options], env);
  result.runAgain = async ({ file, id }) => {
    const again = ['--testNamePattern', `^${escapeRegExp(id)}$`, file];
    return (await runVitest(`${name}-again`, [...config, ...again], env)).failed === 0;
  };
  return result;
}

/** @returns {Promise<Result>} */
function runVitest(name, args, env = {}) {
  return measured(name, async () => {
    const report = await freshReport(`${name}.json`);
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const code = await run(process.execPath, [vitest, 'run', ...args, ...reporters], { env });
    const json = await readReport(report);
    return { code, passed: json?.numPassedTests ?? 0, failures: failuresOfVitest(json, root) };
  });
}

/**
 * The tests in Rust. The full tier also tests certificates from a local ACME server.
 * @returns {Promise<Result | undefined>} undefined if the shard has none.
 */
export async function runRust(/** @type {Tier} */ tier, /** @type {Shard | undefined} */ shard, pebble) {
  const programs = [['--lib', '--bins'], ['--test=abuse'], ['--test=congestion'], ['--test=peer']];
  const all = tier === 'full' ? [...programs, ['--test=acme']] : programs;
  const share = shareOf(all, shard).flat();
  // Without a name, cargo runs all programs.
  if (share.length === 0) return undefined;
  return runCargo('rust', share, pebble ? { ANTWAY_PEBBLE: pebble } : {});
}

/** @returns {Promise<Result>} */
export function runAcme(pebble) {
  return runCargo('acme', ['--test=acme'], { ANTWAY_PEBBLE: pebble });
}

/** @returns {Promise<Result>} */
function runCargo(name, programs, env) {
  return measured(name, async () => {
    let output = '';
    const options = ['--release', '--locked', '--no-fail-fast', '--manifest-path', 'peer/Cargo.toml'];
    const code = await run('cargo', ['test', ...options, ...programs], {
      env: { RUST_TEST_THREADS: String(rustTestThreads), ...env },
      printAtEnd: name === 'rust', // beside another suite
      onOutput: (text) => {
        output = text;
      },
    });
    // One such line per test program.
    const counts = [...output.matchAll(/^test result: \w+\. (\d+) passed;/gm)];
    const passed = counts.reduce((sum, [, ok]) => sum + Number(ok), 0);
    return { code, passed, failures: failuresOfCargo(output) };
  });
}

/**
 * The tests in Chromium.
 * @returns {Promise<Result>}
 */
export async function runBrowser(tier, shard, { chromium, headlessShell }) {
  // Empty, so that no shell of another version in the environment is used.
  const programs = { ANTWAY_CHROMIUM: chromium, ANTWAY_HEADLESS_SHELL: headlessShell ?? '' };
  const more = { ANTWAY_THIRD_PARTY: 'all', ANTWAY_SOAK_SECONDS: String(fullSoakSeconds) };
  const env = { ...programs, ANTWAY_TIER: tier, ...(tier === 'full' && more) };
  const result = await runPlaywright('browser', shardOption(shard), env);
  result.runAgain = async ({ id }) => {
    const list = join(reportsFolder, 'second-try.json');
    await writeFile(list, JSON.stringify({ status: 'failed', failedTests: [id] }));
    const alone = ['--last-failed', `--last-failed-file=${list}`, '--workers=1'];
    return (await runPlaywright('browser-again', alone, env)).failed === 0;
  };
  return result;
}

/**
 * All sites of docs/reference/third-party-sites.md.
 * @returns {Promise<Result>}
 */
export function runThirdParty({ chromium }) {
  const env = { ANTWAY_CHROMIUM: chromium, ANTWAY_TIER: 'full', ANTWAY_THIRD_PARTY: 'all' };
  return runPlaywright('third-party', ['tests/third-party'], env);
}

/** @returns {Promise<Result>} */
function runPlaywright(name, options, env) {
  return measured(name, async () => {
    const report = await freshReport(`${name}.json`);
    const code = await run(process.execPath, [playwright, 'test', ...options, '--reporter=list,json'], {
      env: { ...env, PLAYWRIGHT_JSON_OUTPUT_NAME: report },
    });
    const json = await readReport(report);
    return { code, passed: json?.stats.expected ?? 0, failures: failuresOfPlaywright(json) };
  });
}

/**
 * A suite's counts. A runner that broke down, or that ran nothing, counts as a failure, too: the last line of the summary
 * must not look good then.
 * @returns {Promise<Result>}
 */
async function measured(name, work) {
  const [startedAt, before] = [performance.now(), processorTimes()];
  const { code, passed, failures } = await work();
  const after = processorTimes();
  const problem =
    failures.length > 0
      ? undefined
      : code !== 0
        ? `the runner itself failed (exit code ${code})`
        : passed === 0
          ? 'no test was run'
          : undefined;
  return {
    ...{ name, passed, failed: failures.length + (problem ? 1 : 0), failures, problem },
    seconds: (performance.now() - startedAt) / 1000,
    idle: (after.idle - before.idle) / (after.all - before.all),
  };
}

/** The time of all processors since the start of the machine. */
function processorTimes() {
  const times = cpus().map((cpu) => cpu.times);
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.flatMap((time) => Object.values(time))) };
}

/**
 * Runs a test runner and shows its output.
 * @param {{ env?: NodeJS.ProcessEnv, onOutput?(text: string): void, printAtEnd?: boolean }} [options] `onOutput` gets what
 *   it printed; with `printAtEnd`, the output appears when the runner has ended.
 * @returns {Promise<number>} its exit code.
 */
function run(command, args, { env = {}, onOutput, printAtEnd = false } = {}) {
  const title = `\n— ${[command === process.execPath ? 'node' : command, ...args].join(' ').replaceAll(root, '')}\n\n`;
  if (!printAtEnd) process.stdout.write(title);
  return new Promise((resolve, reject) => {
    const isRead = printAtEnd || onOutput;
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', isRead ? 'pipe' : 'inherit', printAtEnd ? 'pipe' : 'inherit'],
    });
    child.on('error', reject);
    const output = new Output();
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => {
        if (!printAtEnd) process.stdout.write(text);
        output.add(text);
      });
    }
    child.on('close', (code) => {
      if (printAtEnd) process.stdout.write(title + output.text);
      onOutput?.(output.text);
      resolve(code ?? 1);
    });
  });
}

/** The path for a runner's report, without the report of an earlier run. */
async function freshReport(name) {
  await mkdir(reportsFolder, { recursive: true });
  const path = join(reportsFolder, name);
  await rm(path, { force: true });
  return path;
}

/** @returns undefined if the runner ended before it wrote the report. */
async function readReport(path) {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function escapeRegExp(text) {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** In characters. */
const mostKept = 32 * 1024 * 1024;

/** The beginning and the end of what a program writes. A program that does not stop writing must not end this one. */
class Output {
  #beginning = '';
  #end = [];
  #endLength = 0;

  add(text) {
    if (this.#beginning.length < mostKept) {
      this.#beginning += text;
      return;
    }
    this.#end.push(text);
    this.#endLength += text.length;
    while (this.#endLength > mostKept) this.#endLength -= this.#end.shift().length;
  }

  get text() {
    return this.#beginning + this.#end.join('');
  }
}
