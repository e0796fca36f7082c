import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PeerProcess } from './peer-process.ts';
import { publish, RepeatingFile } from './publish.ts';

export interface Published {
  address: string;
  size: number;
  sha256: string;
}

/** Stores a large file of this size at a peer. */
export async function publishFile(size: number, peer: PeerProcess): Promise<Published> {
  const file = new RepeatingFile(size);
  const hash = createHash('sha256');
  for await (const bytes of file) hash.update(bytes);
  return { address: await publish(file, peer), size, sha256: hash.digest('hex') };
}

/** Makes a store with the chunks of another one. They are the same files: a store's files never change. */
export function copyStore(store: string, copy: string): void {
  linkTree(join(store, 'chunks'), join(copy, 'chunks'));
}

function linkTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkTree(source, target);
    else linkSync(source, target);
  }
}
