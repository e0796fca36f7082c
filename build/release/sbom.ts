import { spawnSync } from 'node:child_process';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, runPnpm, SetupError, stateFolder } from '../../src/cli/setup.mjs';

const generatorVersion = '0.5.9';

/** Writes the bill of materials of the bundles, in CycloneDX's JSON. */
export async function writeBundlesSbom(file: string): Promise<void> {
  await runPnpm(['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--out', file]);
}

/** Writes the bill of materials of the peer, in CycloneDX's JSON. Installs cargo-cyclonedx if it is not on the PATH. */
export async function writePeerSbom(file: string): Promise<void> {
  const name = 'antway-peer-sbom';
  const args = [
    'cyclonedx',
    '--manifest-path',
    'peer/Cargo.toml',
    '--format',
    'json',
    '--override-filename',
    name,
  ];
  await run(await generator(), args);
  renameSync(join(root, 'peer', `${name}.json`), file);
}

async function generator(): Promise<string> {
  if (spawnSync('cargo-cyclonedx', ['--version']).status === 0) return 'cargo-cyclonedx';
  const folder = join(stateFolder, `cargo-cyclonedx-${generatorVersion}`);
  const program = join(folder, 'bin/cargo-cyclonedx');
  const args = ['cargo-cyclonedx', '--version', generatorVersion, '--locked', '--root', folder];
  if (!existsSync(program)) await run('cargo', ['install', ...args]);
  if (!existsSync(program)) throw new SetupError('cargo-cyclonedx was not installed.');
  return program;
}
