import { execFileSync } from 'node:child_process';
import { fromRoot } from '../support/paths.ts';
import { printSeed } from '../support/random.ts';

/** Before the first test: builds the peer that lies, which only tests need. */
export default function buildFixtures(): void {
  printSeed();
  const args = ['build', '--release', '--locked', '--example', 'hostile_peer'];
  execFileSync('cargo', [...args, '--manifest-path', fromRoot('peer/Cargo.toml'), '--quiet'], {
    stdio: 'inherit',
  });
}
