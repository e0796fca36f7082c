import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { distFolder } from './paths.ts';
import { type PeerOptions, PeerProcess } from './peer-process.ts';

/** The contents of `antway.json`. */
export interface HostConfig {
  peers: readonly string[];
  isolation?: 'auto' | 'path' | 'subdomain';
  names?: Record<string, string>;
  trusted?: readonly string[];
  denied?: readonly string[];
  reportUrl?: string;
  sample?: object;
  catalogue?: readonly object[];
  lists?: Record<string, string>;
  nameLists?: Record<string, string>;
  publicGateways?: readonly string[];
  cache?: { maxBytes?: number; memoryBytes?: number };
  transport?: 'auto' | 'webtransport' | 'http';
  usePeersOfPeers?: boolean;
  nodes?: 'mainnet' | readonly string[];
}

/** The processes that tests of any browser can start. */
export interface Processes {
  /** A new empty folder, gone when the processes end. */
  folder: string;
  /** Starts a peer process, which ends with the test or scene that started it. */
  startPeer(options?: PeerOptions): Promise<PeerProcess>;
  /** Starts a host: a peer process without chunks that serves the built gateway and this configuration. */
  startHost(config: HostConfig): Promise<PeerProcess>;
}

/** Processes that end together, with their folder. */
export class ProcessGroup implements Processes, AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'antway-test-'));
  readonly #peers: PeerProcess[] = [];
  #hosts = 0;

  readonly startPeer = async (options?: PeerOptions): Promise<PeerProcess> => {
    const peer = await PeerProcess.start(options);
    this.#peers.push(peer);
    return peer;
  };

  readonly startHost = async (config: HostConfig): Promise<PeerProcess> => {
    const file = join(this.folder, `antway-${++this.#hosts}.json`);
    writeFileSync(file, JSON.stringify(config));
    return this.startPeer({ flags: ['--web', distFolder, '--web-config', file], webTransport: 'none' });
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#peers.map((peer) => peer.stop()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

type Use<Fixture> = (fixture: Fixture) => Promise<void>;
type Group = Pick<ProcessFixtures, 'processGroup'>;

/** The processes of one test, as fixtures. */
export interface ProcessFixtures extends Processes {
  processGroup: ProcessGroup;
}

/** The fixtures, for `test.extend` of Playwright as of vitest. */
export const processes = {
  // biome-ignore lint/correctness/noEmptyPattern: both read from the pattern what a fixture needs
  processGroup: async ({}, use: Use<ProcessGroup>) => {
    await using group = new ProcessGroup();
    await use(group);
  },
  folder: ({ processGroup }: Group, use: Use<Processes['folder']>) => use(processGroup.folder),
  startPeer: ({ processGroup }: Group, use: Use<Processes['startPeer']>) => use(processGroup.startPeer),
  startHost: ({ processGroup }: Group, use: Use<Processes['startHost']>) => use(processGroup.startHost),
};
