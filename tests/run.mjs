// `npm test`: from a fresh clone to the counts of all tests. Plain JavaScript, see src/cli/setup.mjs.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  buildCli,
  buildDropIn,
  buildNpmPackages,
  buildPeer,
  buildShell,
  checkCargo,
  checkNode,
  fail,
  installPackages,
  installPackageTestTools,
  installTestChain,
  root,
  run,
  SetupError,
  stateFolder,
} from '../src/cli/setup.mjs';
import { failuresOfCargo, failuresOfPlaywright, failuresOfVitest } from './failures.mjs';

const suites = ['unit', 'rust', 'browser', 'firefox', 'webkit'];
/** Only if it is asked for: it downloads large packages. The browser tests include a few of the sites. */
const thirdParty = 'third-party';
/** With `--full`, or if it is asked for: it installs an ACME server, which takes a minute and needs Go. */
const acme = 'acme';
const pebbleVersion = 'v2.10.1';
/** The suites of `--quick`. Of the browser tests it runs those with the tag `@smoke`. */
const quickSuites = ['unit', 'rust', 'browser'];
/** Only `--full` runs browser tests with this tag and these files of the unit tests. */
const releaseTag = '@release';
const releaseUnitTests = ['tests/unit/reproducible-build.test.ts', 'tests/unit/killed-batch.test.ts'];
/** How long `--full` lets the soak test run, in seconds. */
const fullSoakSeconds = 600;
/** Most tests in Rust wait nearly all of their time. */
const rustTestThreads = 3 * availableParallelism();
const resultsFolder = join(stateFolder, 'test-results');

try {
  const { only, quick, full } = readOptions();
  const wanted = only ?? (quick ? quickSuites : full ? [...suites, acme] : suites);
  checkNode();
  checkCargo();
  const needsBuilds = wanted.some((suite) => suite !== 'rust' && suite !== acme);
  // The compiler waits for the processor, and downloads wait for the network.
  const [{ chromium, headlessShell, firefox, pebble }] = await Promise.all([
    prepare(wanted, { needsBuilds, full }),
    needsBuilds && buildPeer({ withTestPrograms: true }),
  ]);
  await mkdir(resultsFolder, { recursive: true });

  const results = [];
  if (wanted.includes('unit')) results.push(await runUnit(full));
  if (wanted.includes(acme)) results.push(await runRust(acme, ['--test', 'acme'], { ANTWAY_PEBBLE: pebble }));
  if (wanted.includes('browser')) results.push(await runBrowser(chromium, headlessShell, { quick, full }));
  if (wanted.includes(thirdParty)) results.push(await runThirdParty(chromium));
  // These wait much: the tests in Rust for limits of time, the others for their browsers. Two cores have no room for a
  // third browser, so WebKitGTK comes after the two Firefoxes.
  const others = [
    wanted.includes('rust') && runRust('rust', ['--tests']), // not the examples, which `npm run lint` compiles
    wanted.includes('firefox') && runFirefox(firefox),
  ];
  results.push(...(await Promise.all(others)).filter(Boolean));
  if (wanted.includes('webkit')) results.push(await runWebKit());
  process.exitCode = summarise(results);
} catch (error) {
  process.on('exit', () => console.log('0 passed, 1 failed')); // a reader of the last line must find one
  fail(error);
}

/**
 * `--quick` for the tests that take less than five minutes, `--full` to add what a release needs, and
 * `--only unit|rust|browser|firefox|webkit|third-party|acme`, which may be given more than once.
 */
function readOptions() {
  const all = [...suites, thirdParty, acme];
  let values;
  try {
    const options = {
      only: { type: 'string', multiple: true },
      quick: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
    };
    ({ values } = parseArgs({ options }));
  } catch (error) {
    throw new SetupError(`${error.message}\nThe options are --quick, --full and --only ${all.join('|')}.`);
  }
  const unknown = values.only?.find((suite) => !all.includes(suite));
  if (unknown !== undefined)
    throw new SetupError(`There are no “${unknown}” tests; there are ${all.join(', ')}.`);
  return values;
}

/**
 * Builds everything except the peer, and installs what the tests run.
 * @returns the paths of the programs that the tests need.
 */
async function prepare(wanted, { needsBuilds, full }) {
  if (needsBuilds) {
    await installPackages();
    await buildShell();
    await buildCli();
    await buildDropIn();
    await buildNpmPackages();
    await installPackageTestTools();
    await installTestChain();
  }
  const needsChromium = wanted.includes('browser') || wanted.includes(thirdParty);
  const chromium = needsChromium ? await findChromium() : undefined;
  if (needsChromium && (full || wanted.includes(thirdParty))) await ensurePip();
  const headlessShell = wanted.includes('browser') ? await findHeadlessShell(chromium) : undefined;
  const firefox = wanted.includes('firefox') ? await findFirefox() : undefined;
  if (wanted.includes('webkit')) await ensureWebKit();
  const pebble = wanted.includes(acme) ? await findPebble() : undefined;
  return { chromium, headlessShell, firefox, pebble };
}

/**
 * @typedef {import('./failures.mjs').Failure} Failure
 * @typedef {{ name: string, passed: number, failed: number, problem?: string, failures: Failure[] }} Result
 */

/** @returns {Promise<Result>} */
function runUnit(full) {
  return runVitest('unit', full ? [] : releaseUnitTests.map((file) => `--exclude=${file}`));
}

/**
 * The core of it in Firefox.
 * @returns {Promise<Result>}
 */
function runFirefox(firefox) {
  const config = join(root, 'tests/firefox/vitest.config.ts');
  return runVitest('firefox', ['--config', config], { env: { ...process.env, ANTWAY_FIREFOX: firefox } });
}

/**
 * The same in WebKitGTK, over HTTP.
 * @returns {Promise<Result>}
 */
function runWebKit() {
  const config = join(root, 'tests/webkit/vitest.config.ts');
  return runVitest('webkit', ['--config', config]);
}

/** @returns {Promise<Result>} */
async function runVitest(name, args = [], options = {}) {
  const report = await freshReport(`${name}.json`);
  const code = await runner(
    process.execPath,
    [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      ...args,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ],
    options,
  );
  const json = await readReport(report);
  return result(name, code, failuresOfVitest(json, root), json?.numPassedTests, json?.numFailedTests);
}

/** @returns {Promise<Result>} */
async function runRust(name, options, env = {}) {
  let passed = 0;
  let failed = 0;
  let failures = [];
  const code = await runner(
    'cargo',
    [
      ...['test', '--release', '--locked', '--no-fail-fast', '--manifest-path', 'peer/Cargo.toml'],
      ...options,
    ],
    {
      env: { RUST_TEST_THREADS: String(rustTestThreads), ...process.env, ...env },
      printAtEnd: name === 'rust', // beside Firefox
      onOutput(text) {
        failures = failuresOfCargo(text);
        // One such line per test program.
        for (const [, ok, bad] of text.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed;/gm)) {
          passed += Number(ok);
          failed += Number(bad);
        }
      },
    },
  );
  return result(name, code, failures, passed, failed);
}

/** @returns {Promise<Result>} */
function runBrowser(chromium, headlessShell, { quick, full }) {
  // Empty, so that no shell of another version in the environment is used.
  const env = { ANTWAY_CHROMIUM: chromium, ANTWAY_HEADLESS_SHELL: headlessShell ?? '' };
  if (quick) return runPlaywright('browser', ['--grep=@smoke', '--reporter=list,json'], env);
  const options = ['--reporter=list,json,./tests/security/table-reporter.ts'];
  const all = { ...env, ANTWAY_ALL_TESTS: '1' };
  if (!full) return runPlaywright('browser', [...options, `--grep-invert=${releaseTag}`], all);
  const more = {
    ANTWAY_RELEASE_TESTS: '1',
    ANTWAY_THIRD_PARTY: 'all',
    ANTWAY_SOAK_SECONDS: String(fullSoakSeconds),
  };
  return runPlaywright('browser', options, { ...all, ...more });
}

/**
 * All sites of docs/reference/third-party-sites.md.
 * @returns {Promise<Result>}
 */
function runThirdParty(chromium) {
  const options = ['tests/third-party', '--reporter=list,json'];
  return runPlaywright(thirdParty, options, { ANTWAY_CHROMIUM: chromium, ANTWAY_THIRD_PARTY: 'all' });
}

/** @returns {Promise<Result>} */
async function runPlaywright(name, options, env) {
  const report = await freshReport(`${name}.json`);
  const code = await runner(
    process.execPath,
    [join(root, 'node_modules/@playwright/test/cli.js'), 'test', ...options],
    { env: { ...process.env, ...env, PLAYWRIGHT_JSON_OUTPUT_NAME: report } },
  );
  const json = await readReport(report);
  const stats = json?.stats;
  // Only tests that tests/support/may-retry.ts declares. Playwright lists them by name.
  if (stats?.flaky > 0) console.log(`\n${stats.flaky} of the ${name} tests passed only in a second attempt.`);
  const passed = stats && stats.expected + stats.flaky;
  return result(name, code, failuresOfPlaywright(json), passed, stats?.unexpected);
}

/**
 * A runner's counts. One that broke down, or ran nothing, counts as a failure even where no single test failed:
 * the last line of the summary must not look good then.
 * @returns {Result}
 */
function result(name, code, failures, passed = 0, failed = 0) {
  if (failed > 0) return { name, passed, failed, failures };
  const problem =
    code !== 0
      ? `the runner itself failed (exit code ${code})`
      : passed === 0
        ? 'no test was run'
        : undefined;
  return { name, passed, failed: problem ? 1 : 0, problem, failures };
}

/**
 * Prints the counts, after the failures once more: the output of several thousand tests is between them and here.
 * @returns {number} the exit code.
 */
function summarise(/** @type {Result[]} */ results) {
  for (const { name, failures } of results) {
    for (const { title, message } of failures) console.log(`\nFailed (${name}): ${title}\n\n${message}`);
  }
  console.log('');
  for (const { name, passed, failed, problem } of results) {
    console.log(`${name.padEnd(8)} ${passed} passed, ${failed} failed${problem ? `: ${problem}` : ''}`);
  }
  const sum = (key) => results.reduce((total, counts) => total + counts[key], 0);
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
  return sum('failed') > 0 ? 1 : 0;
}

/**
 * Runs a test runner and shows its output.
 * @param {{ env?: NodeJS.ProcessEnv, onOutput?(text: string): void, printAtEnd?: boolean }} [options] `onOutput` gets what
 *   it printed; with `printAtEnd`, the output appears when the runner has ended.
 * @returns {Promise<number>} its exit code.
 */
function runner(command, args, { env = process.env, onOutput, printAtEnd = false } = {}) {
  const title = `\n— ${[command === process.execPath ? 'node' : command, ...args].join(' ').replaceAll(root, '')}\n\n`;
  if (!printAtEnd) process.stdout.write(title);
  return new Promise((resolve, reject) => {
    const isRead = printAtEnd || onOutput;
    const child = spawn(command, args, {
      cwd: root,
      env,
      stdio: ['ignore', isRead ? 'pipe' : 'inherit', printAtEnd ? 'pipe' : 'inherit'],
    });
    child.on('error', reject);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => {
        if (!printAtEnd) process.stdout.write(text);
        output += text;
      });
    }
    child.on('close', (code) => {
      if (printAtEnd) process.stdout.write(title + output);
      onOutput?.(output);
      resolve(code ?? 1);
    });
  });
}

/** The path for a runner's report, without the report of an earlier run. */
async function freshReport(name) {
  const path = join(resultsFolder, name);
  await rm(path, { force: true });
  return path;
}

/** @returns undefined when the runner ended before it wrote one. */
async function readReport(path) {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A Chromium to test with: the one that is named, one that is installed, else one that is installed now. */
async function findChromium() {
  const found = installedChromium();
  if (found) return found;
  console.log('There is no Chromium here; installing one …');
  if (canInstall()) {
    await install('chromium');
  } else {
    await run(process.execPath, [join(root, 'node_modules/@playwright/test/cli.js'), 'install', 'chromium']);
  }
  const installed = installedChromium() ?? (await playwrightChromium());
  if (installed) return installed;
  throw new SetupError('Chromium could not be installed. Install it, or name it in ANTWAY_CHROMIUM.');
}

function installedChromium() {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
  return (
    namedIn('ANTWAY_CHROMIUM') ??
    namedIn('CHROME_PATH') ??
    firstOnPath(names) ??
    [
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
      '/Applications/Chromium.app/Contents/MacOS/Chromium',
      'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
    ].find((path) => existsSync(path))
  );
}

/**
 * A headless shell of Chromium's version, with which the browser tests are faster. Without it, all of them run in Chromium.
 */
async function findHeadlessShell(chromium) {
  const installed = () => namedIn('ANTWAY_HEADLESS_SHELL') ?? firstOnPath(['chromium-headless-shell']);
  if (!installed() && canInstall()) {
    console.log('There is no Chromium headless shell here; installing one …');
    await install('chromium-headless-shell').catch((error) => console.log(error.message));
  }
  const path = installed();
  const version = versionOf(chromium);
  if (path && version && versionOf(path) === version) return path;
  const problem = path ? `${path} is of another version than ${chromium}` : 'there is no headless shell';
  console.log(`All browser tests run in Chromium: ${problem}.`);
  return undefined;
}

/** @returns the number that a browser prints, such as 156.0.8078.79. */
function versionOf(browser) {
  return spawnSync(browser, ['--version'], { encoding: 'utf8' }).stdout?.match(/\d+(\.\d+)+/)?.[0];
}

/** Makes sure that pip is there: one of the third-party sites is a package of PyPI. */
async function ensurePip() {
  const isInstalled = () => spawnSync('python3', ['-m', 'pip', '--version']).status === 0;
  if (!isInstalled() && canInstall()) {
    console.log('There is no pip here; installing it …');
    await install('python3-pip');
  }
  if (!isInstalled())
    throw new SetupError('There is no pip here. Install Python 3 with pip (Debian’s python3-pip).');
}

/** The browser that `playwright install` brings. */
async function playwrightChromium() {
  const { chromium } = await import('@playwright/test');
  const path = chromium.executablePath();
  return existsSync(path) ? path : undefined;
}

/** A Firefox to test with, like `findChromium`: Debian's, or any other of its age (153) or newer. */
async function findFirefox() {
  const installed = () => namedIn('ANTWAY_FIREFOX') ?? firstOnPath(['firefox-esr', 'firefox']);
  if (!installed() && canInstall()) {
    console.log('There is no Firefox here; installing one …');
    await install('firefox-esr');
  }
  const path = installed();
  if (path) return path;
  throw new SetupError(
    'There is no Firefox here. Install it, or name it in ANTWAY_FIREFOX. (`npm test -- --only browser` does without.)',
  );
}

/** Pebble, the ACME server of Let's Encrypt for tests. Go builds it once. */
async function findPebble() {
  const named = namedIn('ANTWAY_PEBBLE');
  if (named) return named;
  const folder = join(stateFolder, `pebble-${pebbleVersion}`);
  const program = join(folder, 'pebble');
  if (existsSync(program)) return program;
  const go = firstOnPath(['go']) ?? ['/usr/local/go/bin/go'].find((path) => existsSync(path));
  if (!go)
    throw new SetupError(
      'There is no Go here, which builds the ACME server. Install it, or name a Pebble in ANTWAY_PEBBLE.',
    );
  console.log('Building the ACME server …');
  const source = `github.com/letsencrypt/pebble/v2/cmd/pebble@${pebbleVersion}`;
  await run(go, ['install', source], { env: { ...process.env, GOBIN: folder, GOFLAGS: '-mod=mod' } });
  return program;
}

/** Sees to it that there is what tests/webkit/harness.ts starts, all of it Debian's. */
async function ensureWebKit() {
  const isInstalled = () =>
    ['/usr/bin/WebKitWebDriver', '/usr/bin/Xvfb', '/usr/bin/python3'].every((path) => existsSync(path)) &&
    spawnSync('/usr/bin/python3', ['-c', 'import gi; gi.require_version("WebKit2", "4.1")']).status === 0 &&
    spawnSync('getent', ['ahosts', 'site.antway.localhost']).status === 0;
  // The last one makes the names below `localhost` known to the system: WebKitGTK asks it. It also enters itself into
  // /etc/nsswitch.conf.
  const packages = ['webkit2gtk-driver', 'gir1.2-webkit2-4.1', 'python3-gi', 'xvfb', 'libnss-myhostname'];
  if (!isInstalled() && canInstall()) {
    console.log('There is no WebKitGTK here; installing one …');
    await install(...packages);
  }
  if (isInstalled()) return;
  const others = suites.filter((suite) => suite !== 'webkit').map((suite) => `--only ${suite}`);
  throw new SetupError(
    `There is no WebKitGTK here that can be driven. Install Debian's ${packages.join(', ')}. (\`npm test -- ${others.join(' ')}\` does without.)`,
  );
}

/** @returns the path that an environment variable gives, or undefined when it is not set. */
function namedIn(variable) {
  const path = process.env[variable];
  if (path && !existsSync(path)) throw new SetupError(`${variable} is “${path}”, and there is no such file.`);
  return path || undefined;
}

/** Whether this process may install Debian packages. */
function canInstall() {
  return process.platform === 'linux' && process.getuid?.() === 0 && pathOf('apt-get') !== undefined;
}

async function install(...debianPackages) {
  await run('apt-get', ['update']);
  await run('apt-get', ['install', '-y', ...debianPackages]);
}

function firstOnPath(names) {
  return names.map(pathOf).find((path) => path !== undefined);
}

/** @returns the full path of a command, or undefined. */
function pathOf(name) {
  const { status, stdout } = spawnSync(process.platform === 'win32' ? 'where' : 'which', [name], {
    encoding: 'utf8',
  });
  return status === 0 ? stdout.split('\n')[0].trim() : undefined;
}
