import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  buildCli,
  buildDropIn,
  buildNpmPackages,
  buildPeer,
  buildShell,
  built,
  checkCargo,
  fail,
  root,
  run,
  SetupError,
} from '../../src/cli/setup.mjs';
import { packages } from '../packages.ts';
import { writeArchive } from './archive.ts';
import { writeChecksums } from './checksums.ts';
import { mergeReleases } from './merge.ts';
import { notesOf } from './notes.ts';
import { writeBundlesSbom, writePeerSbom } from './sbom.ts';
import { checkClean, compareWithSecondBuild } from './second-build.ts';

/**
 * - `--out <folder>`: where the files go, `.antway/release` if not given. It is emptied.
 * - `--tag v1.2.3`: the release must have this version, and the changelog a section of it.
 * - `--bundles-only`: without the peer, which each platform builds for itself.
 * - `--verify`: builds twice, and compares.
 * - `--no-sbom`: without the bills of materials.
 * - `--merge <folder> <folder>…`: builds nothing; puts the releases of several platforms into the first folder.
 */
const flags = {
  out: { type: 'string', default: join(root, '.antway/release') },
  tag: { type: 'string' },
  'bundles-only': { type: 'boolean', default: false },
  verify: { type: 'boolean', default: false },
  'no-sbom': { type: 'boolean', default: false },
  merge: { type: 'boolean', default: false },
} as const;

type Options = ReturnType<typeof readOptions>['values'];

try {
  const { values, positionals } = readOptions();
  if (values.merge) mergeReleases(positionals);
  else await release(values);
} catch (error) {
  fail(error);
}

function readOptions() {
  try {
    const { values, positionals } = parseArgs({ options: flags, allowPositionals: true });
    if (positionals.length > 0 && !values.merge) throw new Error(`Unexpected argument ${positionals[0]}`);
    return { values: { ...values, out: resolve(values.out) }, positionals };
  } catch (error) {
    throw new SetupError((error as Error).message);
  }
}

async function release(options: Options): Promise<void> {
  const { out, tag } = options;
  const isBundlesOnly = options['bundles-only'];
  if (!isBundlesOnly) checkCargo();
  checkClean();
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  checkVersions(version, tag);
  const notes = notesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), tag && version);

  const archives = await build(version, options);
  if (options.verify) {
    const same = ['--no-sbom', ...(isBundlesOnly ? ['--bundles-only'] : []), ...(tag ? ['--tag', tag] : [])];
    await compareWithSecondBuild(out, archives, same);
    console.log('A second build in another folder has the same bytes.');
  }
  if (!options['no-sbom']) {
    await writeBundlesSbom(join(out, `antway-${version}.cdx.json`));
    if (!isBundlesOnly) await writePeerSbom(join(out, `${peerName(version)}.cdx.json`));
  }
  writeFileSync(join(out, 'NOTES.md'), notes);
  writeChecksums(out);
  console.log(`The release is in ${out}`);
}

function checkVersions(version: string, tag: string | undefined): void {
  const crate = /^version = "([^"]+)"/m.exec(readFileSync(join(root, 'peer/Cargo.toml'), 'utf8'))?.[1];
  if (crate !== version) throw new SetupError(`The peer has version ${crate}, the packages have ${version}.`);
  if (tag && tag !== `v${version}`) throw new SetupError(`The tag is ${tag}, the version is ${version}.`);
}

/** @returns the names of the archives. */
async function build(version: string, { out, 'bundles-only': isBundlesOnly }: Options): Promise<string[]> {
  await buildShell();
  await buildCli();
  await buildDropIn();
  await buildNpmPackages();
  if (!isBundlesOnly) await buildPeer();
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });

  const time = commitTime();
  const archives: string[] = [];
  const write = async (name: string, contents: Record<string, string>) => {
    const members = { ...contents, 'LICENSE-MIT': 'LICENSE-MIT', 'LICENSE-APACHE': 'LICENSE-APACHE' };
    // All below one folder, as archives of programs are.
    const paths = Object.entries(members).map(([member, path]) => [`${name}/${member}`, resolve(root, path)]);
    await writeArchive(join(out, `${name}.tar.gz`), Object.fromEntries(paths), time);
    archives.push(`${name}.tar.gz`);
  };
  await write(`antway-app-${version}`, { web: built.shell });
  if (!isBundlesOnly) {
    const notices = { 'THIRD-PARTY-NOTICES.txt': 'peer/THIRD-PARTY-NOTICES.txt' };
    await write(peerName(version), { 'antway-peer': built.peer, ...notices });
  }
  const folders = ['.', ...packages.map(({ name }) => join(built.packages, name))];
  const args = ['pack', ...folders, '--ignore-scripts', '--pack-destination', out, '--loglevel', 'error'];
  await run('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const tarballs = ['antway', ...packages.map(({ name }) => `antway-${name}`)];
  return [...archives, ...tarballs.map((name) => `${name}-${version}.tgz`)];
}

/** With Rust's name for this platform, such as `x86_64-unknown-linux-gnu`. */
function peerName(version: string): string {
  const platform = /^host: (.+)$/m.exec(execFileSync('rustc', ['-vV'], { encoding: 'utf8' }))![1];
  return `antway-peer-${version}-${platform}`;
}

function commitTime(): Date {
  const seconds = execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' });
  return new Date(Number(seconds) * 1000);
}
