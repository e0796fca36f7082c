// The programs that the tests need: found on this machine, or installed. Plain JavaScript, see src/cli/setup.mjs.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, SetupError, stateFolder } from '../../src/cli/setup.mjs';

const pebbleVersion = 'v2.10.1';

/** A Chromium to test with: the one that is named, one that is installed, else one that is installed now. */
export async function findChromium() {
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
export async function findHeadlessShell(chromium) {
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
export async function ensurePip() {
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
export async function findFirefox() {
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
export async function findPebble() {
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
export async function ensureWebKit() {
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
  throw new SetupError(
    `There is no WebKitGTK here that can be driven. Install Debian's ${packages.join(', ')}. (\`npm test -- --only unit --only rust --only browser --only firefox\` does without.)`,
  );
}

/** @returns the path that an environment variable gives, or undefined when it is not set. */
function namedIn(variable) {
  const path = process.env[variable];
  if (path && !existsSync(path)) throw new SetupError(`${variable} is “${path}”, and there is no such file.`);
  return path || undefined;
}

/** Whether this process may install Debian packages: as root, or in continuous integration by sudo. */
function canInstall() {
  if (process.platform !== 'linux' || pathOf('apt-get') === undefined) return false;
  return isRoot() || (Boolean(process.env.CI) && spawnSync('sudo', ['-n', 'true']).status === 0);
}

function isRoot() {
  return process.getuid?.() === 0;
}

async function install(...debianPackages) {
  const [command, ...options] = isRoot() ? ['apt-get'] : ['sudo', '-n', 'apt-get'];
  await run(command, [...options, 'update']);
  await run(command, [...options, 'install', '-y', ...debianPackages]);
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
