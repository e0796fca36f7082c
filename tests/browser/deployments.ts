import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { urlOf } from './announcing.ts';
import { test as base, expect, type HostConfig } from './harness.ts';
import { distFolder, fromRoot } from './paths.ts';
import type { PeerProcess } from './peer.ts';

export { expect };

/** The version of the build that is newer than `dist`. */
export const nextVersion = '99.0.0';

/** A host whose files can be exchanged, and which can fail. */
export class Deployment {
  /** Requests that the host drops without an answer. */
  drops: ((path: string) => boolean) | undefined;
  readonly #web: string;
  readonly #peer: PeerProcess;
  readonly #server: Server;

  private constructor(web: string, peer: PeerProcess, server: Server) {
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
    cpSync(distFolder, web, { recursive: true });
    const configFile = join(folder, 'deployment.json');
    writeFileSync(configFile, JSON.stringify(config));
    const peer = await startPeer(['--web', web, '--web-config', configFile]);
    const server = createServer((request, response) => {
      if (deployment.drops?.(request.url!)) {
        request.socket.destroy();
        return;
      }
      const { method, headers } = request;
      const passedOn = httpRequest(peer.url + request.url, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      passedOn.on('error', () => request.socket.destroy());
      request.pipe(passedOn);
    });
    const deployment = new Deployment(web, peer, server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return deployment;
  }

  get url(): string {
    return urlOf(this.#server);
  }

  /** Puts a build in place of the one that is served. */
  put(build: string): void {
    rmSync(this.#web, { recursive: true });
    cpSync(build, this.#web, { recursive: true });
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
    if (this.#server.listening) {
      const closed = new Promise((resolve) => this.#server.close(resolve));
      this.#server.closeAllConnections();
      await closed;
    }
    await this.#peer.kill();
  }
}

interface Fixtures {
  /** Starts a host that serves `dist`. */
  deploy(config: HostConfig): Promise<Deployment>;
}

export const test = base.extend<Fixtures, { nextBuild: string }>({
  /** A build like `dist`, but of another version, and with other names for the shell's scripts. */
  nextBuild: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern what a fixture needs
    async ({}, use) => {
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
      await use(folder);
      rmSync(folder, { recursive: true, force: true });
    },
    { scope: 'worker', timeout: 120_000 },
  ],

  deploy: async ({ startPeer, folder }, use) => {
    const started: Deployment[] = [];
    await use(async (config) => {
      const deployment = await Deployment.start(folder, config, (flags) =>
        startPeer({ flags, webTransport: 'none' }),
      );
      started.push(deployment);
      return deployment;
    });
    await Promise.all(started.map((deployment) => deployment.close()));
  },
});

/** Gives scripts the names that they would have if anything in them had changed. */
function renameScripts(build: string): void {
  for (const name of readdirSync(join(build, 'assets')).filter((name) => name.endsWith('.js'))) {
    const newName = name.replace(/\.js$/, 'x.js');
    renameSync(join(build, 'assets', name), join(build, 'assets', newName));
    for (const user of ['sw.js', 'index.html']) {
      const text = readFileSync(join(build, user), 'utf8');
      writeFileSync(join(build, user), text.replaceAll(name, newName));
    }
  }
}
