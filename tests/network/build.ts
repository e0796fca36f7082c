import { spawnSync } from 'node:child_process';
import { run, SetupError } from '../../src/cli/setup.mjs';
import { fromRoot } from '../support/paths.ts';

/** Kept between runs, as the network's crates take some ten minutes to build. */
const targetFolder = fromRoot('tests/network/target');

/** The programs that the test runs. */
export const programs = {
  devnet: `${targetFolder}/release/antway-devnet`,
  peer: `${targetFolder}/release/antway-peer`,
};

/** Builds the local network, and the peer with its feature `autonomi`. @throws SetupError */
export async function buildPrograms(): Promise<void> {
  checkTools();
  // The system's OpenSSL: the crates would else build their own, for minutes more.
  const env = { ...process.env, OPENSSL_NO_VENDOR: '1', CARGO_TARGET_DIR: targetFolder };
  const build = (manifest: string, ...flags: string[]) =>
    run('cargo', ['build', '--release', '--locked', '--manifest-path', manifest, ...flags], { env });
  console.log('Building a local network and a peer of it (the first time takes some 20 minutes) …');
  await build('tests/network/devnet/Cargo.toml');
  await build('peer/Cargo.toml', '--features', 'autonomi');
}

function checkTools(): void {
  const missing = [
    { what: 'cargo', check: ['cargo', '--version'], get: 'https://rustup.rs/' },
    { what: 'cmake', check: ['cmake', '--version'], get: 'apt-get install cmake' },
    { what: 'pkg-config', check: ['pkg-config', '--version'], get: 'apt-get install pkg-config' },
    {
      what: 'the headers of OpenSSL',
      check: ['pkg-config', '--exists', 'openssl'],
      get: 'apt-get install libssl-dev',
    },
  ].filter(({ check: [command, ...args] }) => spawnSync(command!, args).status !== 0);
  if (missing.length === 0) return;
  const lines = missing.map(({ what, get }) => `  ${what}: ${get}`);
  throw new SetupError(['The Autonomi network’s crates need what is not here:', ...lines].join('\n'));
}
