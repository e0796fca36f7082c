import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { embedBuild } from '../../build/embed-build.ts';
import { filesOf, isCompressed } from '../../build/files-of.ts';
import { Address } from '../../src/address.ts';
import { LoopbackServer, passOn } from './loopback-server.ts';
import { distFolder, fromRoot } from './paths.ts';
import type { PeerProcess } from './peer-process.ts';
import type { HostConfig } from './processes.ts';

/** The version of the build that is newer than `dist`. */
export const nextVersion = '99.0.0';

/** Copies a build without its compressed files, so that the copy can be changed. */
export function copyBuild(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => !isCompressed(path) });
}

/** A host whose files can be exchanged, and which can fail. */
export class Deployment {
  /** Requests that the host drops without an answer. `host` is the name and port that the browser asked. */
  drops: ((path: string, host: string) => boolean) | undefined;
  /** Requests that the host leaves open without an answer. */
  holds: ((path: string) => boolean) | undefined;
  readonly #web: string;
  readonly #peer: PeerProcess;
  readonly #server: LoopbackServer;

  private constructor(web: string, peer: PeerProcess, server: LoopbackServer) {
    this.#web = web;
    this.#peer = peer;
    this.#server = server;
  }

  /** @param startPeer starts the process that serves `folder/web`. */
  static async start(
    folder: string,
    config: HostConfig,
    startPeer: (flags: string[]) => Promise<PeerProcess>,
  ): Promise<Deployment> {
    const web = join(folder, 'web');
    copyBuild(distFolder, web);
    const configFile = join(folder, 'deployment.json');
    writeFileSync(configFile, JSON.stringify(config));
    const peer = await startPeer(['--web', web, '--web-config', configFile]);
    const server = await LoopbackServer.start((request, response) => {
      if (deployment.drops?.(request.url!, request.headers.host!)) request.socket.destroy();
      else if (!deployment.holds?.(request.url!)) void passOn(request, response, peer.url);
    });
    const deployment = new Deployment(web, peer, server);
    return deployment;
  }

  get url(): string {
    return this.#server.url;
  }

  /** The front page of a site on an origin of its own. */
  siteUrl(address: string): string {
    return `http://${Address.fromHex(address).base32}.antway.localhost:${this.#server.port}/`;
  }

  /** Puts a build in place of the one that is served. */
  put(build: string): void {
    rmSync(this.#web, { recursive: true });
    copyBuild(build, this.#web);
  }

  /** Changes one of the files that are served. */
  change(path: string, change: (text: string) => string): void {
    const file = join(this.#web, path);
    writeFileSync(file, change(readFileSync(file, 'utf8')));
  }

  /** Takes one of the files away. */
  remove(path: string): void {
    rmSync(join(this.#web, path));
  }

  /** No host any more, until the test is over. */
  async close(): Promise<void> {
    await this.#server.stop();
    await this.#peer.kill();
  }
}

/** Makes a build like `dist`, but of another version, and with other names for the shell's scripts. @returns its folder. */
export async function buildNext(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'antway-next-'));
  await promisify(execFile)(
    process.execPath,
    [
      fromRoot('node_modules/vite/bin/vite.js'),
      'build',
      '--outDir',
      folder,
      '--emptyOutDir',
      '--logLevel',
      'warn',
    ],
    { cwd: fromRoot(''), env: { ...process.env, ANTWAY_VERSION: nextVersion } },
  );
  renameScripts(folder);
  return folder;
}

/** Gives scripts the names that they would have if anything in them had changed, and the worker the hashes of that. */
function renameScripts(build: string): void {
  const names = filesOf(build).flatMap((path) => /^assets\/(.*)\.js$/.exec(path)?.[1] ?? []);
  for (const name of names) {
    renameSync(join(build, `assets/${name}.js`), join(build, `assets/${name}x.js`));
  }
  // Scripts import each other by these names.
  for (const path of filesOf(build).filter((path) => /\.(html|js)$/.test(path))) {
    const text = readFileSync(join(build, path), 'utf8');
    writeFileSync(
      join(build, path),
      names.reduce((changed, name) => changed.replaceAll(`${name}.js`, `${name}x.js`), text),
    );
  }
  embedBuild(build);
}

/** Has the browser look for a newer worker, as it does by itself from time to time. To be run in a page. */
export async function lookForUpdate(): Promise<'found' | 'failed'> {
  const registration = (await navigator.serviceWorker.getRegistration())!;
  return registration.update().then(
    () => 'found' as const,
    () => 'failed' as const,
  );
}

/**
 * Looks for a newer worker and lets it take over, as the shell does. If a page has missed a file of the former version, the
 * newer worker takes over by itself. The page must make no request meanwhile: a request that arrives while Chromium stops
 * the former worker starts it again. To be run in a page.
 */
export async function updateAtOnce(): Promise<void> {
  const registration = (await navigator.serviceWorker.getRegistration())!;
  const replaced = new Promise((resolve) => {
    navigator.serviceWorker.addEventListener('controllerchange', resolve, { once: true });
  });
  await registration.update();
  while (registration.installing) await new Promise((resolve) => setTimeout(resolve, 50));
  registration.active!.postMessage({ type: 'HAND_OVER' });
  registration.waiting?.postMessage({ type: 'SKIP_WAITING' });
  await replaced;
}

type DownloadWindow = typeof globalThis & { rest(): Promise<{ size: number; sha256: string }> };

/** Begins a download and leaves it at its first piece, until `finishDownload`. To be run in a page. */
export async function beginDownload(path: string): Promise<void> {
  const reader = (await fetch(path)).body!.getReader();
  const pieces = [(await reader.read()).value!];
  const rest = async () => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value);
    const bytes = await new Blob(pieces as Uint8Array<ArrayBuffer>[]).arrayBuffer();
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    const sha256 = Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return { size: bytes.byteLength, sha256 };
  };
  Object.assign(globalThis, { rest });
}

/** The whole of what was begun. To be run in the same page. */
export function finishDownload(): Promise<{ size: number; sha256: string }> {
  return (globalThis as DownloadWindow).rest();
}
