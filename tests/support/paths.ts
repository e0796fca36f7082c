import { fileURLToPath } from 'node:url';

/** The full path of something in the project. */
export function fromRoot(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}

export const distFolder = fromRoot('dist');
export const hostilePeer = fromRoot('peer/target/release/examples/hostile_peer');
