import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from '@playwright/test';
import { limits } from '../../src/limits.ts';
import { expect, type Gateway, stopWorkers } from '../support/chromium.ts';
import { hostilePeer } from '../support/paths.ts';
import { type PeerOptions, PeerProcess } from '../support/peer-process.ts';
import { noise, publish, RepeatingFile } from '../support/publish.ts';
import { copyStore } from '../support/stores.ts';
import { makeTarchive, sha256 } from '../support/tar.ts';
import { type Download, download } from './downloads.ts';

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Random = () => number;
const below = (random: Random, limit: number) => Math.floor(random() * limit);
const oneOf = <T>(random: Random, items: readonly T[]) => items[below(random, items.length)]!;

/** A path below the gateway's origin, and what must be there. */
interface Resource {
  path: string;
  bytes: Buffer;
}

/** Publishes files of all sizes and an archive into a store. */
export async function publishContent(store: string, folder: string): Promise<Resource[]> {
  const peer = await PeerProcess.start({ store });
  const part = limits.plaintextChunkBytes;
  const resources: Resource[] = [];
  for (const size of [3 * part + 1, 5 * part - 77, 8 * part]) {
    const file = new RepeatingFile(size);
    const pieces: Uint8Array[] = [];
    for await (const piece of file) pieces.push(piece);
    resources.push({ path: `/${await publish(file, peer)}`, bytes: Buffer.concat(pieces) });
  }
  for (let i = 0; i < 30; i++) {
    const bytes = noise(10 + i, 100 + i * i * 1_000);
    resources.push({ path: `/${await publish(bytes, peer)}`, bytes });
  }
  const members = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      `folder-${i % 4}/member-${i}.bin`,
      noise(60 + i, 1_000 + 7_919 * i),
    ]),
  );
  const archive = await publish(makeTarchive(folder, members), peer);
  for (const [path, bytes] of Object.entries(members)) resources.push({ path: `/${archive}/${path}`, bytes });
  await peer.stop();
  return resources;
}

const lies = ['flip', 'wrong', 'short', 'junk'];
const failings = ['silent', 'slow', 'reset', 'busy', 'not-found'];

/**
 * A port where one peer after another listens. Only the third one ever lies, and of the first two
 * one is honest and up at any time, so that every request can be answered.
 */
class Place {
  #peer: PeerProcess | undefined;
  #honestSince = Number.POSITIVE_INFINITY;
  #http = '127.0.0.1:0';

  constructor(
    readonly index: number,
    private readonly store: string,
  ) {}

  get peer(): PeerProcess | undefined {
    return this.#peer;
  }

  get url(): string {
    return `http://${this.#http}`;
  }

  get honestMs(): number {
    return Math.max(Date.now() - this.#honestSince, 0);
  }

  async kill(): Promise<void> {
    this.#honestSince = Number.POSITIVE_INFINITY;
    await this.#peer?.kill();
    this.#peer = undefined;
  }

  async start(fault?: string): Promise<void> {
    await this.kill();
    const options: PeerOptions = fault
      ? {
          binary: hostilePeer,
          flags: ['--fault', fault, '--bytes-per-second', '20000', '--honest-first', '2'],
        }
      : {};
    this.#peer = await PeerProcess.start({ ...options, http: this.#http, store: this.store });
    this.#http = new URL(this.#peer.url).host;
    if (!fault) this.#honestSince = Date.now();
  }
}

/** Three peers with the same content, of which some fail now and then. */
export class FaultyPeers {
  readonly #folder = mkdtempSync(join(tmpdir(), 'antway-soak-'));
  readonly #random: Random;
  readonly #places: Place[];
  readonly faults: Record<string, number> = {};

  constructor(store: string, random: Random) {
    this.#random = random;
    this.#places = [0, 1, 2].map((index) => {
      const own = join(this.#folder, `peer-${index}`);
      copyStore(store, own);
      return new Place(index, own);
    });
  }

  get urls(): string[] {
    return this.#places.map(({ url }) => url);
  }

  get running(): PeerProcess[] {
    return this.#places.map(({ peer }) => peer).filter((peer) => peer !== undefined);
  }

  async start(): Promise<void> {
    await Promise.all(this.#places.map((place) => place.start()));
  }

  /** One more fault, or the end of one. @returns what happened. */
  async disturb(): Promise<string> {
    const [first, second] = this.#places;
    const free = this.#places.filter(
      (place) => place.index === 2 || (place === first ? second! : first!).honestMs > limits.stallMs,
    );
    const place = oneOf(this.#random, free);
    const kinds = place.index === 2 ? [...lies, ...failings] : failings;
    const what = place.honestMs === 0 ? 'honest' : oneOf(this.#random, ['dead', 'restarted', ...kinds]);
    if (what === 'dead') await place.kill();
    else await place.start(what === 'honest' || what === 'restarted' ? undefined : what);
    this.faults[what] = (this.faults[what] ?? 0) + 1;
    return `peer ${place.index} is ${what}`;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#places.map((place) => place.kill()));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export interface SoakReport {
  seconds: number;
  requests: number;
  whole: number;
  cancelled: number;
  /** By what the page got: `504 PEERS_UNREACHABLE`, or `body` when it broke off. */
  failed: Record<string, number>;
  /** Failures right after the worker was stopped, which ends what is under way. */
  interrupted: number;
  bytes: number;
  /** Requests that brought a byte that is not the right one, or that ended too soon without an error. */
  wrong: string[];
  /** Requests that took longer than any may. */
  hung: string[];
  longestMs: number;
  faults: Record<string, number>;
  /** Resident megabytes over time. */
  memory: { second: number; renderers: number; browser: number; peers: number }[];
  openStreams: number;
  activeRequests: number;
}

export interface SoakOptions {
  gateway: Gateway;
  browser: Browser;
  peers: FaultyPeers;
  resources: readonly Resource[];
  random: Random;
  seconds: number;
}

/** Requests under way at a time. */
const lanes = 4;
/** A few times what a client may wait for one silent peer: nothing may take longer. */
const requestMs = 6 * limits.stallMs;
const disturbEveryMs = { least: 1_500, most: 5_000 };
const stopWorkerEveryMs = 20_000;
const sampleEveryMs = 5_000;

/** Mixed load and random faults for some time. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const { gateway, browser, peers, resources, random, seconds } = options;
  const startedAt = Date.now();
  const endsAt = startedAt + seconds * 1000;
  const report: SoakReport = {
    ...{ seconds, requests: 0, whole: 0, cancelled: 0, interrupted: 0, bytes: 0, longestMs: 0 },
    ...{ openStreams: 0, activeRequests: 0, failed: {}, wrong: [], hung: [], memory: [] },
    faults: peers.faults,
  };
  /** When the stopping of a worker was over; infinite while it is under way. */
  const workerStops: number[] = [];

  const every = async (milliseconds: () => number, act: () => Promise<void>) => {
    while (Date.now() < endsAt) {
      await sleep(Math.min(milliseconds(), endsAt - Date.now()));
      if (Date.now() < endsAt) await act();
    }
  };
  const lane = async () => {
    while (Date.now() < endsAt) await oneRequest();
  };
  const oneRequest = async () => {
    const { path, bytes } = oneOf(random, resources);
    const isRange = random() < 0.4;
    const start = isRange ? below(random, bytes.length) : 0;
    const end = isRange ? start + 1 + below(random, bytes.length - start) : bytes.length;
    const range = isRange ? `bytes=${start}-${end - 1}` : undefined;
    const cancelAfter = random() < 0.15 ? below(random, end - start) + 1 : undefined;
    const name = `${path} ${range ?? ''}`;
    const askedAt = Date.now();
    report.requests++;
    const got = await Promise.race([
      download(gateway.shell, path, { range, cancelAfter }),
      sleep(requestMs).then(() => undefined),
    ]);
    report.longestMs = Math.max(report.longestMs, Date.now() - askedAt);
    if (!got) report.hung.push(name);
    else judge(got, bytes.subarray(start, end), name, askedAt, isRange ? 206 : 200);
  };
  const judge = (got: Download, expected: Buffer, name: string, askedAt: number, status: number) => {
    if (got.status === status) {
      report.bytes += got.received;
      const isShort = got.outcome === 'ended' && got.received !== expected.length;
      if (isShort || got.sha256 !== sha256(expected.subarray(0, got.received))) {
        report.wrong.push(`${name}: ${got.outcome} after ${got.received} of ${expected.length} bytes`);
      } else if (got.outcome === 'ended') report.whole++;
      else if (got.outcome === 'cancelled') report.cancelled++;
    }
    if (got.status === status && got.outcome !== 'failed') return;
    if (workerStops.some((at) => at >= askedAt)) {
      report.interrupted++;
      return;
    }
    const how = got.status === status ? 'body' : `${got.status} ${got.code ?? ''}`;
    report.failed[how] = (report.failed[how] ?? 0) + 1;
  };

  await Promise.all([
    ...Array.from({ length: lanes }, lane),
    every(
      () => disturbEveryMs.least + random() * (disturbEveryMs.most - disturbEveryMs.least),
      async () => {
        const second = Math.round((Date.now() - startedAt) / 1000);
        console.log(`${second} s: ${await peers.disturb()}`);
      },
    ),
    every(
      () => stopWorkerEveryMs,
      async () => {
        const stop = workerStops.push(Number.POSITIVE_INFINITY) - 1;
        await stopWorkers(gateway.shell);
        workerStops[stop] = Date.now();
        peers.faults['worker stopped'] = workerStops.length;
      },
    ),
    every(
      () => sampleEveryMs,
      async () => {
        const second = Math.round((Date.now() - startedAt) / 1000);
        report.memory.push({ second, ...(await memory(browser, peers.running)) });
      },
    ),
  ]);

  const streams = async () => {
    const open = await Promise.all(peers.running.map((peer) => peer.metric('streams')));
    return open.reduce((sum, count) => sum + count, 0);
  };
  await expect
    .poll(async () => [(await gateway.stats()).requests.active, await streams()], { timeout: requestMs })
    .toEqual([0, 0])
    .catch(() => undefined); // the report says what is left
  report.activeRequests = (await gateway.stats()).requests.active;
  report.openStreams = await streams();
  return report;
}

/**
 * By how much the median of resident memory grew after the warm-up, from the first half of the rest to the second. In
 * megabytes; NaN when there are no samples of either.
 */
export function growth({ memory, seconds }: SoakReport, of: 'renderers' | 'peers'): number {
  const warmUp = Math.min(60, seconds / 3);
  const middle = (warmUp + seconds) / 2;
  const between = (from: number, to: number) =>
    median(memory.filter(({ second }) => second >= from && second < to).map((sample) => sample[of]));
  return between(middle, Number.POSITIVE_INFINITY) - between(warmUp, middle);
}

function median(values: number[]): number {
  const sorted = values.sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function printReport(report: SoakReport): void {
  const { memory, wrong, hung, failed, faults, ...numbers } = report;
  console.log(
    [
      Object.entries(numbers)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
      `failed ${JSON.stringify(failed)}`,
      `faults ${JSON.stringify(faults)}`,
      `wrong ${wrong.length} ${wrong.join('; ')}`,
      `hung ${hung.length} ${hung.join('; ')}`,
      'resident MB at second: renderers, whole browser, peers',
      ...memory.map(
        ({ second, renderers, browser, peers }) => `  ${second}: ${renderers}, ${browser}, ${peers}`,
      ),
    ].join('\n'),
  );
}

async function memory(
  browser: Browser,
  peers: readonly PeerProcess[],
): Promise<{ renderers: number; browser: number; peers: number }> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const renderers = processInfo.filter(({ type }) => type === 'renderer');
  return {
    renderers: residentMegabytes(renderers.map(({ id }) => id)),
    browser: residentMegabytes(processInfo.map(({ id }) => id)),
    peers: residentMegabytes(peers.map(({ processId }) => processId)),
  };
}

function residentMegabytes(processIds: readonly number[]): number {
  if (processIds.length === 0) return 0;
  try {
    const kilobytes = execFileSync('ps', ['-o', 'rss=', '-p', processIds.join(',')], { encoding: 'utf8' });
    return Math.round(kilobytes.split('\n').reduce((sum, line) => sum + Number(line), 0) / 1024);
  } catch {
    return 0; // all of them ended meanwhile
  }
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
