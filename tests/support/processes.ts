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

/** The processes that a test of any browser can start. */
export interface Processes {
  /** A new empty folder, gone after the test. */
  folder: string;
  /** Starts a peer process, which ends with the test. */
  startPeer(options?: PeerOptions): Promise<PeerProcess>;
  /** Starts a host: a peer process without chunks that serves the built gateway and this configuration. */
  startHost(config: HostConfig): Promise<PeerProcess>;
}

type Use<Fixture> = (fixture: Fixture) => Promise<void>;

/** The fixtures, for `test.extend` of Playwright as of vitest. */
export const processes = {
  // biome-ignore lint/correctness/noEmptyPattern: both read from the pattern what a fixture needs
  folder: async ({}, use: Use<Processes['folder']>) => {
    const folder = mkdtempSync(join(tmpdir(), 'antway-test-'));
    await use(folder);
    rmSync(folder, { recursive: true, force: true });
  },

  // biome-ignore lint/correctness/noEmptyPattern: as above
  startPeer: async ({}, use: Use<Processes['startPeer']>) => {
    const started: PeerProcess[] = [];
    await use(async (options) => {
      const peer = await PeerProcess.start(options);
      started.push(peer);
      return peer;
    });
    await Promise.all(started.map((peer) => peer.stop()));
  },

  startHost: async (
    { startPeer, folder }: Pick<Processes, 'startPeer' | 'folder'>,
    use: Use<Processes['startHost']>,
  ) => {
    let hosts = 0;
    await use(async (config) => {
      const file = join(folder, `antway-${++hosts}.json`);
      writeFileSync(file, JSON.stringify(config));
      return startPeer({ flags: ['--web', distFolder, '--web-config', file], webTransport: 'none' });
    });
  },
};
