import { execFileSync } from 'node:child_process';
import { fromRoot } from './paths.ts';

/** Before the first test: the peer that lies, which is built for tests only. */
export default function buildFixtures(): void {
  const args = ['build', '--release', '--locked', '--example', 'hostile_peer'];
  execFileSync('cargo', [...args, '--manifest-path', fromRoot('peer/Cargo.toml'), '--quiet'], {
    stdio: 'inherit',
  });
}
