import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from '@playwright/test';
import { PeerProcess } from '../../tests/support/peer-process.ts';
import type { HostConfig } from '../../tests/support/processes.ts';
import { launchBrowser } from '../browser.ts';
import { RelayClient } from '../link/relay-client.ts';
import type { RelayRequest } from '../link/relay-messages.ts';

/** A link without loss. */
export interface Cell {
  rttMs: number;
  mbitPerSecond: number;
}

/** The first window of TCP connections in Linux: ten segments. */
const tcpWindowBytes = 10 * 1448;

interface StartOptions {
  flags?: readonly string[];
  /** One of the bench's builds. */
  build?: string;
  /** Of HTTP; a free one if not given. */
  port?: number;
}

/** A browser, a copy of the built gateway, and the processes that a measurement starts. */
export class Bench {
  readonly #closers: (() => Promise<unknown>)[] = [];

  private constructor(
    readonly browser: Browser,
    /** For files of the measurements. */
    readonly folder: string,
    /** Folders of the project with a build. The first one is used where a measurement has no choice. */
    readonly builds: readonly string[],
    private readonly isRealTime: boolean,
  ) {}

  static async start(builds: readonly string[], isRealTime: boolean): Promise<Bench> {
    const folder = await mkdtemp(join(tmpdir(), 'antway-perf-'));
    const bench = new Bench(await launchBrowser(), folder, builds, isRealTime);
    // The same build for all, even if another process builds meanwhile.
    for (const build of builds) await cp(join(build, 'dist'), bench.#webOf(build), { recursive: true });
    return bench;
  }

  /** Ends a process or server when the bench stops. */
  defer(close: () => Promise<unknown>): void {
    this.#closers.push(close);
  }

  async peer({ flags = [], build = this.builds[0]! }: StartOptions = {}): Promise<PeerProcess> {
    const peer = await PeerProcess.start({ flags, build: join(build, 'peer/target/release/antway-peer') });
    this.defer(() => peer.stop());
    return peer;
  }

  async gatewayHost(
    config: HostConfig,
    { port = 0, build = this.builds[0]! }: StartOptions = {},
  ): Promise<PeerProcess> {
    const file = join(this.folder, `antway-${this.#closers.length}.json`);
    await writeFile(file, JSON.stringify(config));
    const host = await PeerProcess.start({
      flags: ['--web', this.#webOf(build), '--web-config', file],
      http: `127.0.0.1:${port}`,
      webTransport: 'none',
    });
    this.defer(() => host.stop());
    return host;
  }

  async relay(
    { rttMs, mbitPerSecond }: Cell,
    targets: Pick<RelayRequest, 'peers' | 'hosts'>,
  ): Promise<RelayClient> {
    const relay = await RelayClient.start({
      link: {
        delayMs: rttMs / 2,
        loss: 0,
        bitsPerSecond: mbitPerSecond * 1e6,
        queueMs: Math.max(rttMs, 50),
        seed: 1,
        tcpWindowBytes,
      },
      ...targets,
      isRealTime: this.isRealTime,
    });
    this.defer(() => relay.stop());
    return relay;
  }

  async stop(): Promise<void> {
    await this.browser.close();
    for (const close of this.#closers.reverse()) await close();
    await rm(this.folder, { recursive: true, force: true });
  }

  #webOf(build: string): string {
    return join(this.folder, `web-${this.builds.indexOf(build)}`);
  }
}

/** Runs all cases once in each round, and each round starts with another case. The first round is not counted. */
export async function interleaved<T>(
  rounds: number,
  cases: Readonly<Record<string, (round: number) => Promise<T>>>,
): Promise<Record<string, T[]>> {
  const names = Object.keys(cases);
  const results: Record<string, T[]> = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(round + i) % names.length]!;
      const result = await cases[name]!(round);
      if (round > 0) results[name]!.push(result);
    }
  }
  return results;
}
