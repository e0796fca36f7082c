// This file runs before the packages are installed. It must not import a package, and must be plain JavaScript.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SetupError } from './setup-error.mjs';

export { SetupError };

export const root = fileURLToPath(new URL('../..', import.meta.url));

// Overrides the machine's own setting: the scripts here expect the peer in this folder.
process.env.CARGO_TARGET_DIR = join(root, 'peer/target');

/** State of this copy of the project: stamps of finished build steps, and the peer's chunks. */
export const stateFolder = join(root, '.antway');

const peerProgram = process.platform === 'win32' ? 'antway-peer.exe' : 'antway-peer';

export const built = {
  peer: join(root, 'peer/target/release', peerProgram),
  /** The profile's folder: both builds stay, so changing between them compiles nothing. */
  networkPeer: join(root, 'peer/target/network', peerProgram),
  cli: join(root, 'dist-cli/antway.js'),
  shell: join(root, 'dist'),
  dropIn: join(root, 'dist-drop-in'),
  packages: join(root, 'dist-packages'),
};

export function fail(error) {
  console.error(error instanceof SetupError ? `\n${error.message}` : error);
  process.exit(1);
}

/** @throws SetupError when Node is too old. */
export function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new SetupError(
      `Antway needs Node 20.19 or newer; this is ${process.versions.node}.\n` +
        'Install a current one from https://nodejs.org/ or with your version manager (nvm install 22).',
    );
  }
}

export function hasCargo() {
  return spawnSync('cargo', ['--version']).status === 0;
}

/** Whether the peer in Rust runs on this system. It needs Unix. */
export function supportsRustPeer() {
  return process.platform !== 'win32';
}

/** @throws SetupError when the peer in Rust does not run on this system, or cargo is missing. */
export function checkCargo() {
  if (!supportsRustPeer()) {
    throw new SetupError(
      'The peer in Rust does not run on Windows. Start without options, which runs the peer in Node, or use WSL.',
    );
  }
  if (hasCargo()) return;
  throw new SetupError(
    'Antway’s peer in Rust is built with cargo, which is not here.\n' +
      'Install Rust from https://rustup.rs/ and open a new terminal, so that cargo is on the PATH.',
  );
}

export async function installPackages() {
  await installPackagesOf('');
}

/** Installs the packages of the documentation site, which has a lockfile of its own. */
export async function installDocsPackages() {
  await installPackagesOf('docs-site');
}

/** Installs the tools and runtimes of the tests of the packages, which have a lockfile of their own. */
export async function installPackageTestTools() {
  await installPackagesOf('tests/packages');
}

/** Installs the block chain for tests of payments. */
export async function installTestChain() {
  await installPackagesOf('tests/chain');
}

async function installPackagesOf(folder) {
  await step({
    name: folder === '' ? 'packages' : `packages-${folder.replaceAll('/', '-')}`,
    title: folder === '' ? 'Installing packages' : `Installing packages for ${folder}`,
    inputs: [...['package.json', 'pnpm-lock.yaml'].map((name) => join(folder, name)), '.npmrc'],
    output: join(root, folder, 'node_modules/.modules.yaml'),
    work: () => runPnpm(['install', '--frozen-lockfile', '--dir', join(root, folder)]),
  });
}

/** Runs pnpm at the version of this project. */
export async function runPnpm(args) {
  const { packageManager } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const version = packageManager.split('@')[1].split('+')[0];
  // The version is checked here. pnpm must not download and run another version of itself.
  const env = { ...process.env, pnpm_config_pm_on_fail: 'ignore', COREPACK_ENABLE_DOWNLOAD_PROMPT: '0' };
  const own = spawnSync('pnpm', ['--version'], { encoding: 'utf8', env, shell: needsShell });
  if (own.status === 0 && own.stdout.trim() === version) await run('pnpm', args, { env });
  else await run('npx', ['--yes', `pnpm@${version}`, ...args], { env });
}

const peerInputs = [
  'peer/Cargo.toml',
  'peer/Cargo.lock',
  'peer/THIRD-PARTY-NOTICES.txt',
  'peer/src',
  'peer/build.rs',
  'peer/.cargo',
];

const peerStep = {
  name: 'peer',
  title: 'Building the peer in Rust (the first time takes some minutes)',
  inputs: peerInputs,
  output: built.peer,
};

const buildPeerArgs = ['build', '--release', '--locked', '--manifest-path', 'peer/Cargo.toml'];

/**
 * Builds the peer.
 * @param {object} options
 * @param {boolean} [options.withTestPrograms] also builds the peer that lies. Otherwise its build, which needs more
 * features of the dependencies, would compile many of them again.
 */
export async function buildPeer({ withTestPrograms = false } = {}) {
  const targets = withTestPrograms ? ['--bin', 'antway-peer', '--example', 'hostile_peer'] : [];
  await step({ ...peerStep, work: () => run('cargo', [...buildPeerArgs, ...targets]) });
}

/** Whether the build of the peer is up to date. */
export function isPeerBuilt() {
  return isUpToDate(peerStep);
}

/** Where `buildPeerInBackground` writes the output of the build. */
export const peerBuildLog = join(stateFolder, 'peer-build.log');

/**
 * Builds the peer at the lowest priority, with its output in `peerBuildLog`.
 * @param {AbortSignal} signal ends the build.
 * @throws SetupError when the build fails.
 */
export async function buildPeerInBackground(signal) {
  await mkdir(stateFolder, { recursive: true });
  const log = await open(peerBuildLog, 'w');
  try {
    await step({
      ...peerStep,
      title: undefined,
      work: () =>
        run('cargo', buildPeerArgs, { signal, isBackground: true, stdio: ['ignore', log.fd, log.fd] }),
    });
  } finally {
    await log.close();
  }
}

/** @throws SetupError when Rust is too old for the network's client. */
export async function buildNetworkPeer() {
  const needed = [1, 95];
  const version =
    spawnSync('cargo', ['--version'], { encoding: 'utf8' }).stdout.match(/\d+\.\d+/)?.[0] ?? '0.0';
  const [major, minor] = version.split('.').map(Number);
  if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
    throw new SetupError(
      `The client of the Autonomi network needs Rust ${needed.join('.')} or newer; this is ${version}.\n` +
        'Update it with: rustup update',
    );
  }
  await step({
    name: 'network-peer',
    title: 'Building the peer with the client of the Autonomi network (the first time takes some minutes)',
    inputs: peerInputs,
    output: built.networkPeer,
    work: () =>
      run('cargo', [
        ...['build', '--profile', 'network', '--locked', '--features', 'autonomi'],
        ...['--manifest-path', 'peer/Cargo.toml', '--bin', 'antway-peer'],
      ]),
  });
}

export async function buildShell() {
  await step({
    name: 'shell',
    title: 'Building the gateway’s page and service worker',
    inputs: [...builtByVite, 'sw', 'public', 'build', 'vite.config.ts'],
    output: join(built.shell, 'index.html'),
    work: () => viteBuild(),
  });
}

export async function buildCli() {
  await step({
    name: 'cli',
    title: 'Building the command antway',
    inputs: [...builtByVite, 'build', 'vite.cli.config.ts'],
    output: built.cli,
    work: () => viteBuild('--config', 'vite.cli.config.ts'),
  });
}

export async function buildDropIn() {
  await step({
    name: 'drop-in',
    title: 'Building the drop-in',
    inputs: [...builtByVite, 'sw', 'build', 'vite.drop-in.config.ts', 'tsconfig.drop-in.json'],
    output: join(built.dropIn, 'types/sw/workbox.d.ts'),
    async work() {
      // The file names contain content hashes, so old files would stay.
      await rm(built.dropIn, { recursive: true, force: true });
      await viteBuild('--app', '--config', 'vite.drop-in.config.ts');
      for (const project of ['tsconfig.drop-in.json', 'sw/tsconfig.drop-in.json']) {
        await run(process.execPath, [tsc, '-p', project]);
      }
    },
  });
}

/** Builds the folders of the packages `@antway/…`. */
export async function buildNpmPackages() {
  await step({
    name: 'npm-packages',
    title: 'Building the packages @antway/…',
    inputs: [
      ...[...builtByVite, 'sw', 'build', 'vite.packages.config.ts', 'tsconfig.packages.json'],
      ...['LICENSE-APACHE', 'LICENSE-MIT'],
    ],
    output: join(built.packages, 'fetch/package.json'),
    async work() {
      await rm(built.packages, { recursive: true, force: true });
      for (const project of ['tsconfig.packages.json', 'sw/tsconfig.packages.json']) {
        await run(process.execPath, [tsc, '-p', project]);
      }
      await viteBuild('--app', '--config', 'vite.packages.config.ts');
    },
  });
}

/** Always runs a production build: a development build has no worker. */
function viteBuild(...args) {
  const env = { ...process.env, NODE_ENV: 'production' };
  return run(process.execPath, [vite, 'build', ...args, '--logLevel', 'warn'], { env });
}

/**
 * Runs a command in a folder, by default the project's, with its output on the terminal. A background command has low priority. It
 * ends with all programs that it started when the signal aborts and when this process exits.
 * @throws SetupError when the command fails or the signal aborts.
 */
export function run(
  command,
  args,
  { cwd = root, env = process.env, stdio = 'inherit', signal = undefined, isBackground = false } = {},
) {
  const line = [command, ...args].join(' ');
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(new SetupError(`“${line}” was cancelled.`));
    const child = spawn(command, args, {
      cwd,
      stdio,
      env,
      shell: needsShell && command !== process.execPath,
      // A process group of its own, so that `endTree` reaches all of its programs.
      detached: isBackground && process.platform !== 'win32',
    });
    const end = () => endTree(child.pid, isBackground);
    const forget = () => {
      signal?.removeEventListener('abort', end);
      process.off('exit', end);
    };
    child.on('error', (error) => {
      forget();
      reject(new SetupError(`${command} could not be started: ${error.message}`));
    });
    child.on('close', (code, endSignal) => {
      forget();
      if (code === 0) resolve();
      else reject(new SetupError(`“${line}” failed (${endSignal ?? `exit code ${code}`}).`));
    });
    if (child.pid === undefined) return;
    signal?.addEventListener('abort', end);
    if (!isBackground) return;
    process.on('exit', end);
    try {
      // The programs that it starts get the same priority.
      setPriority(child.pid, constants.priority.PRIORITY_LOW);
    } catch {
      // The command has ended already, or the system does not allow it. The build is right at any priority.
    }
  });
}

/** Ends a process at once; on Windows, and for the leader of a process group, with all programs that it started. */
function endTree(pid, isGroup) {
  if (process.platform === 'win32') {
    spawnSync('taskkill', ['/PID', String(pid), '/T', '/F'], { stdio: 'ignore' });
    return;
  }
  try {
    process.kill(isGroup ? -pid : pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error; // otherwise, it has ended already
  }
}

// npx and pnpm are .cmd files on Windows, which only a shell can run.
const needsShell = process.platform === 'win32';

const tsc = join(root, 'node_modules/typescript/bin/tsc');
const vite = join(root, 'node_modules/vite/bin/vite.js');

const builtByVite = ['src', 'package.json', 'pnpm-lock.yaml', 'tsconfig.base.json', 'tsconfig.json'];

/**
 * Runs `work`, and says so with `title`, unless `output` exists and `inputs` (files, and folders with all of their files) have the hash of the
 * last run, which is stored in `.antway/<name>.stamp`.
 */
async function step({ name, title, inputs, output, work }) {
  if (await isUpToDate({ name, inputs, output })) return;
  const before = await digest(inputs);
  if (title) console.log(`${title} …`);
  const startedAt = performance.now();
  await work();
  if (title) console.log(`  done in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  await mkdir(stateFolder, { recursive: true });
  // Store the digest from before the work. If an input changed during the work, the next start repeats the step.
  await writeFile(stampOf(name), before);
}

async function isUpToDate({ name, inputs, output }) {
  if (!existsSync(output)) return false;
  return (await readFile(stampOf(name), 'utf8').catch(() => '')) === (await digest(inputs));
}

function stampOf(name) {
  return join(stateFolder, `${name}.stamp`);
}

async function digest(inputs) {
  const hash = createHash('sha256').update(
    `${process.versions.modules} ${process.platform} ${process.arch}\n`,
  );
  for (const input of inputs) {
    for (const file of await filesOf(input)) {
      const content = await readFile(join(root, file));
      hash.update(`${file} ${content.length}\n`).update(content);
    }
  }
  return hash.digest('hex');
}

/** Returns the files at or below a path of the project, sorted by name; none if the path does not exist. */
async function filesOf(path) {
  let entries;
  try {
    entries = await readdir(join(root, path), { withFileTypes: true });
  } catch (error) {
    if (error.code === 'ENOTDIR') return [path];
    if (error.code === 'ENOENT') return [];
    throw error;
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const below = await Promise.all(
    entries.map((entry) =>
      entry.isDirectory() ? filesOf(`${path}/${entry.name}`) : [`${path}/${entry.name}`],
    ),
  );
  return below.flat();
}
