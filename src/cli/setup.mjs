// This file runs before the packages are installed. It must not import a package, and must be plain JavaScript.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

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
};

export class SetupError extends Error {
  name = 'SetupError';
}

export function fail(error) {
  console.error(error instanceof SetupError ? `\n${error.message}` : error);
  process.exit(1);
}

/** @throws SetupError when Node or cargo is missing or too old. */
export function checkTools() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new SetupError(
      `Antway needs Node 20.19 or newer; this is ${process.versions.node}.\n` +
        'Install a current one from https://nodejs.org/ or with your version manager (nvm install 22).',
    );
  }
  if (spawnSync('cargo', ['--version']).status !== 0) {
    throw new SetupError(
      'Antway’s peer is built with cargo, which is not here.\n' +
        'Install Rust from https://rustup.rs/ and open a new terminal, so that cargo is on the PATH.',
    );
  }
}

export async function installPackages() {
  const { packageManager } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const version = packageManager.split('@')[1].split('+')[0];
  await step({
    name: 'packages',
    title: 'Installing packages',
    inputs: ['package.json', 'pnpm-lock.yaml', '.npmrc'],
    output: join(root, 'node_modules/.modules.yaml'),
    async work() {
      const args = ['install', '--frozen-lockfile'];
      // The version is checked here. pnpm must not download and run another version of itself.
      const env = { ...process.env, pnpm_config_pm_on_fail: 'ignore', COREPACK_ENABLE_DOWNLOAD_PROMPT: '0' };
      const own = spawnSync('pnpm', ['--version'], { encoding: 'utf8', env, shell: needsShell });
      if (own.status === 0 && own.stdout.trim() === version) await run('pnpm', args, { env });
      else await run('npx', ['--yes', `pnpm@${version}`, ...args], { env });
    },
  });
}

export async function buildPeer() {
  await step({
    name: 'peer',
    title: 'Building the peer (the first time takes some minutes)',
    inputs: peerInputs,
    output: built.peer,
    work: () => run('cargo', ['build', '--release', '--locked', '--manifest-path', 'peer/Cargo.toml']),
  });
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

/** Always runs a production build: a development build has no worker. */
function viteBuild(...args) {
  const env = { ...process.env, NODE_ENV: 'production' };
  return run(process.execPath, [vite, 'build', ...args, '--logLevel', 'warn'], { env });
}

/**
 * Runs a command in the project's folder, with its output on the terminal. @throws SetupError when the command fails.
 */
export function run(command, args, { env = process.env } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: 'inherit',
      env,
      shell: needsShell && command !== process.execPath,
    });
    child.on('error', (error) => reject(new SetupError(`${command} could not be started: ${error.message}`)));
    child.on('close', (code, signal) => {
      if (code === 0) resolve();
      else
        reject(
          new SetupError(`“${[command, ...args].join(' ')}” failed (${signal ?? `exit code ${code}`}).`),
        );
    });
  });
}

// npx and pnpm are .cmd files on Windows, which only a shell can run.
const needsShell = process.platform === 'win32';

const tsc = join(root, 'node_modules/typescript/bin/tsc');
const vite = join(root, 'node_modules/vite/bin/vite.js');

const peerInputs = ['peer/Cargo.toml', 'peer/Cargo.lock', 'peer/src', 'peer/build.rs', 'peer/.cargo'];
const builtByVite = ['src', 'package.json', 'pnpm-lock.yaml', 'tsconfig.base.json', 'tsconfig.json'];

/**
 * Runs `work`, unless `output` exists and `inputs` (files, and folders with all of their files) have the hash of the
 * last run, which is stored in `.antway/<name>.stamp`.
 */
async function step({ name, title, inputs, output, work }) {
  const stamp = join(stateFolder, `${name}.stamp`);
  const before = await digest(inputs);
  if (existsSync(output) && (await readFile(stamp, 'utf8').catch(() => '')) === before) return;
  console.log(`${title} …`);
  const startedAt = performance.now();
  await work();
  console.log(`  done in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  await mkdir(stateFolder, { recursive: true });
  // Store the digest from before the work. If an input changed during the work, the next start repeats the step.
  await writeFile(stamp, before);
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
