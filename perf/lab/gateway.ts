import { join } from 'node:path';
import { expect } from '@playwright/test';
import type { TransportName } from '../../src/stats/peer-attempt.ts';
import type { StatsSnapshot } from '../../src/stats/stats.ts';
import type { PeerProcess } from '../../tests/support/peer-process.ts';
import { MemoryWatch } from './inspector.ts';
import type { LabBrowser, LabPage } from './lab-browser.ts';
import { WorkerProfile } from './profile.ts';
import { type Readers, readAll } from './read.ts';
import type { Measured } from './scenario.ts';

/** The place that the bytes come from. */
export type State =
  /** From the peer, by a session that is up: neither memory nor disk has anything. */
  | 'cold'
  /** From the disk, by a worker that has just started. */
  | 'warm'
  /** From the worker's memory. */
  | 'hot';

/** How often contents are read before they must be in memory, if they ever are. */
const hotReads = 3;

/** A gateway in a browser: a page of a trusted site that reads, and one that sees the worker's counters. */
export class LabGateway {
  private constructor(
    readonly host: PeerProcess,
    readonly page: LabPage,
    private readonly browser: LabBrowser,
    private readonly counters: LabPage,
    private readonly transport: TransportName,
    /** Paths of small files, to open a session with. */
    private readonly warmUps: readonly string[],
    private readonly profileFolder: string | undefined,
  ) {}

  /**
   * @param readerPath of a page that may run scripts, from which the gateway is read: the shell is not used, because
   *   a shell that the user sees shows the worker's counters all the time.
   */
  static async open(options: {
    host: PeerProcess;
    browser: LabBrowser;
    transport: TransportName;
    warmUps: readonly string[];
    readerPath: string;
    profileFolder?: string | undefined;
  }): Promise<LabGateway> {
    const { host, browser, transport, warmUps, readerPath, profileFolder } = options;
    const page = await browser.newPage();
    await page.goto(host.url);
    await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
    await page.goto(host.url + readerPath);
    const counters = await browser.newPage();
    await counters.goto(host.url);
    // A shell that the user does not see asks for nothing by itself.
    await counters.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    return new LabGateway(host, page, browser, counters, transport, warmUps, profileFolder);
  }

  /** Closes its pages. */
  async close(): Promise<void> {
    await this.page.close();
    await this.counters.close();
  }

  stats(): Promise<StatsSnapshot> {
    return this.#internal('stats');
  }

  /** Has a session with the peer up. If there is none, it empties the disk, so that there is something to ask for. */
  async connect(): Promise<void> {
    const { peers } = await this.#internal<{ peers: { state: string }[] }>('peers');
    if (!peers.some(({ state }) => state === this.transport)) await this.#empty();
  }

  /** Stops the worker, and all others of the browser. The next request starts it again, with nothing in memory. */
  stopWorker(): Promise<void> {
    return this.browser.stopWorkers();
  }

  /** Brings about a state in which these contents are read. */
  async enter(state: State, readers: Readers): Promise<void> {
    if (state === 'cold') return this.#empty();
    if (state === 'warm') return this.#fill(readers);
    for (let i = 0; i < hotReads; i++) {
      const before = await this.stats();
      await readAll(this.page, readers);
      await this.settled();
      const after = await this.stats();
      if (isFromMemory(before, after)) return;
    }
    throw new Error('The worker does not keep what is read in memory.');
  }

  /**
   * Reads, and checks by the worker's counters that the bytes came from the expected place.
   * @param profileName the name of the CPU profile, if one is made.
   * @throws Error if the bytes came from another place, or a body was wrong.
   */
  async read(state: State, readers: Readers, profileName: string): Promise<Measured> {
    const before = await this.stats();
    const script = `${this.host.url}/sw.js`;
    const { chromium } = this.browser;
    const profile = this.profileFolder ? await WorkerProfile.start(chromium!, script) : undefined;
    const memory = chromium && (await MemoryWatch.start(chromium, script));
    const measured = await readAll(this.page, readers);
    const workerPeakBytes = await memory?.stop();
    await profile?.stop(join(this.profileFolder!, profileName));
    await this.settled();
    prove(state, before, await this.stats(), distinctBytes(readers));
    return { ...measured, ...(workerPeakBytes !== undefined && { workerPeakBytes }) };
  }

  /** Starts the worker with nothing in memory or on disk, and opens a session with the peer. */
  async #empty(): Promise<void> {
    await this.stopWorker();
    await this.page.evaluate(async () => {
      for (const { name } of await indexedDB.databases()) {
        if (!name?.startsWith('antway-chunks')) continue;
        await new Promise((resolve, reject) => {
          const request = indexedDB.deleteDatabase(name);
          request.onsuccess = resolve;
          request.onerror = () => reject(request.error);
        });
      }
    });
    for (const path of this.warmUps) {
      await this.page.evaluate(async (path) => (await fetch(path)).arrayBuffer(), path);
      const { peers } = await this.stats();
      if (peers.some((peer) => peer[this.transport].chunks > 0)) return this.settled();
    }
    throw new Error(`The peer was not used by ${this.transport}.`);
  }

  /** Has everything on disk, and starts the worker with nothing in memory. */
  async #fill(readers: Readers): Promise<void> {
    const isComplete = async () => {
      await this.stopWorker();
      const before = await this.stats();
      if (before.requests.total > 0) throw new Error('The worker did not stop.');
      return before;
    };
    await isComplete();
    await readAll(this.page, readers);
    await this.settled();
    await isComplete();
  }

  /** Resolves when nothing is sent any more, and all received bytes are on disk. */
  async settled(): Promise<void> {
    let before = '';
    await expect
      .poll(
        async () => {
          const { requests, ...counters } = await this.stats();
          const { waiting } = await this.#internal<{ waiting: number }>('cache');
          const now = JSON.stringify(counters);
          const standStill = now === before;
          before = now;
          return standStill && requests.active === 0 && waiting === 0;
        },
        { timeout: 60_000, intervals: [50] },
      )
      .toBe(true);
  }

  async #internal<T>(name: string): Promise<T> {
    const text = await this.counters.evaluate(async (path) => (await fetch(path)).text(), `/-/${name}`);
    return JSON.parse(text) as T;
  }
}

function prove(state: State, before: StatsSnapshot, after: StatsSnapshot, bytes: number): void {
  const peerBytes = bytesOfPeers(after) - bytesOfPeers(before);
  const diskBytes = after.chunks.disk.bytes - before.chunks.disk.bytes;
  expectThat(after.startedAt === before.startedAt, 'the worker runs all the time');
  if (state === 'cold') {
    // A chunk that was just received and waits to be written counts as found on disk.
    expectThat(peerBytes >= bytes, `a cold read is from the peer (${peerBytes} of ${bytes} bytes were)`);
  } else if (state === 'warm') {
    expectThat(peerBytes === 0, `a warm read asks no peer (${peerBytes} bytes came)`);
    expectThat(diskBytes >= bytes, `a warm read is from disk (${diskBytes} of ${bytes} bytes were)`);
  } else {
    expectThat(peerBytes === 0, `a hot read asks no peer (${peerBytes} bytes came)`);
    expectThat(diskBytes === 0, `a hot read is not from disk (${diskBytes} bytes were)`);
  }
}

function isFromMemory(before: StatsSnapshot, after: StatsSnapshot): boolean {
  return bytesOfPeers(after) === bytesOfPeers(before) && after.chunks.disk.bytes === before.chunks.disk.bytes;
}

function bytesOfPeers({ peers }: StatsSnapshot): number {
  return peers.reduce((sum, { webtransport, http }) => sum + webtransport.bytes + http.bytes, 0);
}

/** Of different bodies: an incompressible body has at least as many bytes when it is encrypted. */
function distinctBytes(readers: Readers): number {
  return [...new Set(readers.flat())].reduce((sum, { size }) => sum + size, 0);
}

function expectThat(holds: boolean, what: string): void {
  if (!holds) throw new Error(`It should be, and is not: ${what}.`);
}
