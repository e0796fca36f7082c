import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import packageJson from '../package.json' with { type: 'json' };
import { noticesFile } from './third-party-notices.ts';

const fromRoot = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** A platform for which a release has the peer's binary. */
export interface PeerTarget {
  /** As Node names it. */
  os: 'linux';
  cpu: 'x64' | 'arm64';
  /** As Rust names it. */
  triple: string;
  /** For readers. */
  title: string;
}

/** The binaries need glibc. Systems with musl (Alpine) use the peer in Node, or build their own. */
export const peerTargets: readonly PeerTarget[] = [
  { os: 'linux', cpu: 'x64', triple: 'x86_64-unknown-linux-gnu', title: 'Linux on x86-64' },
  { os: 'linux', cpu: 'arm64', triple: 'aarch64-unknown-linux-gnu', title: 'Linux on 64-bit ARM' },
];

/** Without the scope. */
export function peerPackageName({ os, cpu }: PeerTarget): string {
  return `peer-${os}-${cpu}`;
}

/** The packages of the peer as dependencies of the command: npm installs only the one of its platform. */
export function peerDependencies(targets: readonly PeerTarget[], version: string): Record<string, string> {
  return Object.fromEntries(targets.map((target) => [`@antway/${peerPackageName(target)}`, version]));
}

/** Writes the folder of the package `@antway/peer-<os>-<cpu>`: a binary with its licences, and no code. */
export function writePeerPackage(target: PeerTarget, binary: string, folder: string): void {
  const { version, license } = packageJson;
  const name = `@antway/${peerPackageName(target)}`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  copyFileSync(binary, join(folder, 'antway-peer'));
  chmodSync(join(folder, 'antway-peer'), 0o755);
  for (const licence of ['LICENSE-APACHE', 'LICENSE-MIT'])
    copyFileSync(fromRoot(licence), join(folder, licence));
  copyFileSync(fromRoot('peer/THIRD-PARTY-NOTICES.txt'), join(folder, noticesFile));
  const metadata = {
    name,
    version,
    description: `The peer of Antway for ${target.title}: serves chunks to browsers over WebTransport and HTTP.`,
    keywords: ['autonomi', 'ant', 'peer', 'webtransport'],
    license,
    os: [target.os],
    cpu: [target.cpu],
    libc: ['glibc'],
    preferUnplugged: true,
    files: ['antway-peer', 'LICENSE-APACHE', 'LICENSE-MIT', noticesFile],
    publishConfig: { access: 'public' },
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(metadata, undefined, 2)}\n`);
  writeFileSync(join(folder, 'README.md'), readme(name, target));
}

const readme = (name: string, { title }: PeerTarget) => `# ${name}

The program \`antway-peer\` for ${title} with glibc 2.17 or newer. The package \`antway\` installs it where it runs, and
\`antway serve\` and \`npm start\` use it. It runs by itself too:

\`\`\`sh
node_modules/${name}/antway-peer serve --store chunks
\`\`\`
`;
