import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { buildNetworkPeer, built, run, SetupError } from '../../src/cli/setup.mjs';
import { fromRoot } from '../support/paths.ts';

/** A folder with both programs, built before. */
const builtFolder = process.env.ANTWAY_NETWORK_PROGRAMS;

/** The programs that the test runs. */
export const programs = builtFolder
  ? { devnet: join(builtFolder, 'antway-devnet'), peer: join(builtFolder, 'antway-peer') }
  : { devnet: fromRoot('peer/target/network/antway-devnet'), peer: built.networkPeer };

/** Builds the nodes, and the peer with the client of the network. @throws SetupError */
export async function buildPrograms(): Promise<void> {
  if (builtFolder) return;
  await buildNetworkPeer();
  checkNodeTools();
  // The network's own code needs OpenSSL. Without this variable, it would compile OpenSSL too.
  const env = { ...process.env, OPENSSL_NO_VENDOR: '1' };
  console.log('Building the nodes of a local network (the first time takes some ten minutes) …');
  const manifest = 'tests/network/devnet/Cargo.toml';
  // Both programs are built in one folder with one profile, so they share most of the compiled crates.
  await run('cargo', ['build', '--profile', 'network', '--locked', '--manifest-path', manifest], { env });
}

function checkNodeTools(): void {
  const missing = [
    { what: 'pkg-config', check: ['pkg-config', '--version'], get: 'apt-get install pkg-config' },
    {
      what: 'the headers of OpenSSL',
      check: ['pkg-config', '--exists', 'openssl'],
      get: 'apt-get install libssl-dev',
    },
  ].filter(({ check: [command, ...args] }) => spawnSync(command!, args).status !== 0);
  if (missing.length === 0) return;
  const lines = missing.map(({ what, get }) => `  ${what}: ${get}`);
  throw new SetupError(['The nodes of the Autonomi network need what is not here:', ...lines].join('\n'));
}
