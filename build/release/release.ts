import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  buildCli,
  buildDropIn,
  buildNpmPackages,
  buildShell,
  built,
  checkCargo,
  fail,
  root,
  run,
  SetupError,
} from '../../src/cli/setup.mjs';
import { packages } from '../packages.ts';
import { peerDependencies, peerPackageName, writePeerPackage } from '../peer-packages.ts';
import { writeArchive } from './archive.ts';
import { writeChecksums } from './checksums.ts';
import { writeCommandPackage } from './command-package.ts';
import { notesOf } from './notes.ts';
import { type Options, readOptions } from './options.ts';
import { buildPeerFor, checkTargets } from './peer-binary.ts';
import { writeBundlesSbom, writePeerSbom } from './sbom.ts';
import { checkClean, compareWithSecondBuild } from './second-build.ts';

try {
  await release(readOptions(process.argv.slice(2)));
} catch (error) {
  fail(error);
}

async function release(options: Options): Promise<void> {
  const { out, tag, targets } = options;
  if (targets.length > 0) {
    checkCargo();
    checkTargets(targets);
  }
  checkClean();
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  checkVersions(version, tag);
  const notes = notesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), tag && version);

  const archives = await build(version, options);
  if (options.verify) {
    const wanted =
      targets.length > 0 ? targets.flatMap(({ triple }) => ['--target', triple]) : ['--bundles-only'];
    const same = ['--no-sbom', ...wanted, ...(tag ? ['--tag', tag] : [])];
    await compareWithSecondBuild(out, archives, same);
    console.log('A second build in another folder has the same bytes.');
  }
  if (options.sbom) {
    await writeBundlesSbom(join(out, `antway-${version}.cdx.json`));
    if (targets.length > 0) await writePeerSbom(join(out, `antway-peer-${version}.cdx.json`));
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
async function build(version: string, { out, targets }: Options): Promise<string[]> {
  await buildShell();
  await buildCli();
  await buildDropIn();
  await buildNpmPackages();
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
  const staged = mkdtempSync(join(tmpdir(), 'antway-staged-'));
  try {
    const folders = packages.map(({ name }) => join(built.packages, name));
    for (const target of targets) {
      const binary = await buildPeerFor(target);
      const notices = { 'THIRD-PARTY-NOTICES.txt': 'peer/THIRD-PARTY-NOTICES.txt' };
      await write(`antway-peer-${version}-${target.triple}`, { 'antway-peer': binary, ...notices });
      const folder = join(staged, peerPackageName(target));
      writePeerPackage(target, binary, folder);
      folders.push(folder);
    }
    const command = join(staged, 'antway');
    writeCommandPackage(command, peerDependencies(targets, version));
    const args = ['pack', command, ...folders, '--ignore-scripts', '--pack-destination', out];
    await run('npm', [...args, '--loglevel', 'error'], { stdio: ['ignore', 'ignore', 'inherit'] });
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
  const scoped = [...packages.map(({ name }) => name), ...targets.map(peerPackageName)];
  const tarballs = ['antway', ...scoped.map((name) => `antway-${name}`)];
  return [...archives, ...tarballs.map((name) => `${name}-${version}.tgz`)];
}

function commitTime(): Date {
  const seconds = execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' });
  return new Date(Number(seconds) * 1000);
}
