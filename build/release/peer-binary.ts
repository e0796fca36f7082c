import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root, run, SetupError } from '../../src/cli/setup.mjs';
import type { PeerTarget } from '../peer-packages.ts';
import { installWheels } from '../wheels.mjs';

/** The oldest glibc on which the binaries run: the one that Rust itself needs. */
const glibc = '2.17';

const requirements = fileURLToPath(new URL('requirements.txt', import.meta.url));

/**
 * Checks, before anything is built, that Rust's standard library for all targets is there.
 * @param library the folder of the libraries of a target; for tests.
 * @throws SetupError
 */
export function checkTargets(targets: readonly PeerTarget[], library = targetLibrary): void {
  const missing = targets
    .map(({ triple }) => triple)
    .filter((triple) => {
      const folder = library(triple);
      return !existsSync(folder) || !readdirSync(folder).some((name) => /^libstd-.+\.rlib$/.test(name));
    });
  if (missing.length === 0) return;
  const rest = targets.map(({ triple }) => triple).filter((triple) => !missing.includes(triple));
  const without =
    rest.length > 0 ? ` Or build without: ${rest.map((triple) => `--target ${triple}`).join(' ')}` : '';
  throw new SetupError(
    `Rust’s standard library for ${missing.join(' and ')} is not installed.\n` +
      `Install it: rustup target add ${missing.join(' ')}.${without}`,
  );
}

function targetLibrary(triple: string): string {
  const args = ['--print', 'target-libdir', '--target', triple];
  return execFileSync(process.env.RUSTC ?? 'rustc', args, { encoding: 'utf8' }).trim();
}

/**
 * Builds the peer for a target, on any machine.
 * @returns the path of the binary.
 * @throws SetupError
 */
export async function buildPeerFor({ triple }: PeerTarget): Promise<string> {
  const wheels = installWheels('zigbuild', requirements);
  if (wheels === undefined) {
    throw new SetupError('The peer is compiled with Zig, which pip installs. It needs Python 3 with pip.');
  }
  const env = {
    ...process.env,
    CARGO_ZIGBUILD_ZIG_PATH: join(wheels, 'ziglang/zig'),
    PATH: [join(wheels, 'bin'), process.env.PATH].join(delimiter),
  };
  const target = ['--target', `${triple}.${glibc}`];
  const manifest = ['--manifest-path', 'peer/Cargo.toml', '--bin', 'antway-peer'];
  await run('cargo-zigbuild', ['zigbuild', '--release', '--locked', ...target, ...manifest], { env });
  return join(root, 'peer/target', triple, 'release/antway-peer');
}
