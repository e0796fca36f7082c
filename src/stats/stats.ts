import type { AntwayError, ErrorCode } from '../errors.ts';
import { Activity } from './activity.ts';
import { Histogram, type HistogramSnapshot } from './histogram.ts';
import type { AttemptObserver, AttemptOutcome, PeerAttempt, TransportName } from './peer-attempt.ts';
import { Transfers } from './transfers.ts';

export interface Tally {
  count: number;
  bytes: number;
}

/** Chunks from one peer over one transport. `chunks` counts only chunks that matched their address. */
export interface TransportTally {
  chunks: number;
  bytes: number;
  /** Requests without a usable answer, by error code. */
  failures: Partial<Record<ErrorCode, number>>;
  /** From the request to the answer's first byte and to its last, in milliseconds. For OPEN, of the whole answer. */
  firstByteMs: HistogramSnapshot;
  totalMs: HistogramSnapshot;
}

export interface PeerTally {
  /** The peer's URL as configured, without certificate hashes. */
  url: string;
  webtransport: TransportTally;
  http: TransportTally;
  /** Chunks that did not match their address. */
  corrupt: number;
  /** Number of bans because of such chunks. */
  bans: number;
  /** Hedges sent to this peer: `won` if it answered first, `lost` if not. */
  hedges: { won: number; lost: number };
}

/** All counters of the worker since `startedAt`, its start or the last reset. Plain data: the body of `/-/stats`. */
export interface StatsSnapshot {
  /** When this worker started or was reset, in milliseconds since 1970. A browser may stop and start it at any time. */
  startedAt: number;
  requests: {
    total: number;
    active: number;
    failed: Partial<Record<ErrorCode, number>>;
    /** From the request to the answer's first body byte, and to its last, in milliseconds. Successful answers only. */
    firstByteMs: HistogramSnapshot;
    totalMs: HistogramSnapshot;
  };
  /** Body bytes sent to pages. */
  servedBytes: number;
  chunks: {
    /** Decrypted chunks found in memory. */
    memory: Tally;
    /** Encrypted chunks read from IndexedDB. */
    disk: Tally;
    /** Verified chunks that nodes of the network gave. */
    nodes: Tally;
    /** Requests for a chunk that joined a running request. */
    joined: number;
    /** Chunks written to IndexedDB. */
    stored: Tally;
    /** Chunks that could not be written (no quota, blocked storage). */
    unstored: number;
    /** Stored chunks that were damaged. They were deleted and fetched again. */
    damaged: number;
  };
  /** The gateway's own files: shell, scripts, WebAssembly. */
  files: {
    /** Cached files that did not match their hash. They were fetched again from the host. */
    damaged: number;
    /** Requests for a file of which neither the cache nor the host had an unchanged copy. */
    refused: number;
  };
  peers: PeerTally[];
  /** The file that was read last while a listener was registered; null before. */
  reading: FileReading | null;
}

export interface FileReading {
  /** Path of the URL that the file was requested by; null if it was not read for a request. */
  path: string | null;
  /** Plaintext bytes. */
  size: number;
  /** Number of chunks. */
  count: number;
  /**
   * One character per chunk, or per run of neighbours if there are more than 4,096: `.` not requested, `~` requested,
   * `p` came from a peer, `d` from the disk, `m` from memory.
   */
  chunks: string;
}

export type ChunkState = '~' | 'p' | 'd' | 'm';
/** More cells than a screen can show. */
const maxCells = 4_096;

/** The counters of one worker. Any layer may update them. `/-/stats` returns a snapshot. */
export class Stats implements AttemptObserver {
  /** Counts that outlive the worker. */
  readonly activity = new Activity();
  readonly transfers = new Transfers();
  #data = noData();
  #firstByte = new Histogram();
  #total = new Histogram();
  #reading: { map: object; cells: ChunkState[]; about: Omit<FileReading, 'chunks'> } | undefined;
  readonly #peers = new Map<string, PeerCounters>();
  readonly #listeners = new Set<() => void>();

  snapshot(): StatsSnapshot {
    const peers = Array.from(this.#peers, ([url, { webtransport, http, ...rest }]) => ({
      url,
      webtransport: webtransport.snapshot(),
      http: http.snapshot(),
      ...rest,
    }));
    const requests = {
      ...this.#data.requests,
      firstByteMs: this.#firstByte.snapshot(),
      totalMs: this.#total.snapshot(),
    };
    return structuredClone({ ...this.#data, requests, peers, reading: this.#readingSnapshot() });
  }

  /** The verified chunks that each peer gave, by the peer's URL. */
  chunksByPeer(): Map<string, number> {
    return new Map(
      Array.from(this.#peers, ([url, { webtransport, http }]) => [url, webtransport.chunks + http.chunks]),
    );
  }

  #readingSnapshot(): FileReading | null {
    if (!this.#reading) return null;
    const { about, cells } = this.#reading;
    return { ...about, chunks: Array.from(cells, (state) => state ?? '.').join('') };
  }

  /**
   * Call this when a chunk of a file is requested or found. Costs nothing without listeners.
   * @param map the file's own data map: the same object for the same file.
   */
  chunkOf(map: { count: number; size: number }, index: number, state: ChunkState, path: string | null): void {
    if (this.#listeners.size === 0) return;
    if (this.#reading?.map !== map) {
      // A late chunk of a file that was read before must not replace the current file.
      if (state !== '~' && state !== 'm') return;
      const { count, size } = map;
      const cells = new Array<ChunkState>(Math.min(count, maxCells));
      this.#reading = { map, cells, about: { path, size, count } };
    }
    const { cells, about } = this.#reading;
    // For an archive, the path of the member that is read now.
    about.path = path ?? about.path;
    const cell = map.count <= maxCells ? index : Math.floor((index * maxCells) / map.count);
    // Keep the first source: it says more than "in memory".
    if (state === 'm' && (cells[cell] === 'p' || cells[cell] === 'd')) return;
    cells[cell] = state;
    this.#changed();
  }

  /** Begins at 0 again. Requests that are running still count as active. */
  reset(): void {
    const { active } = this.#data.requests;
    this.#data = noData();
    this.#data.requests.active = active;
    this.#firstByte = new Histogram();
    this.#total = new Histogram();
    this.#peers.clear();
    this.transfers.clear();
    this.activity.take();
    this.#changed();
  }

  /** Calls `listener` after every change, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Requests that are being answered. */
  get activeRequests(): number {
    return this.#data.requests.active;
  }

  requestStarted(): void {
    this.#data.requests.total++;
    this.#data.requests.active++;
    this.activity.add('requests');
    this.#changed();
  }

  /**
   * @param failure the error's code if the request was not answered completely.
   * @param times of a complete answer, from the request to its first and last byte, in milliseconds.
   */
  requestEnded(failure?: ErrorCode, times?: { firstByteMs: number; totalMs: number }): void {
    this.#data.requests.active--;
    if (failure) {
      increment(this.#data.requests.failed, failure);
      this.activity.add('failures');
    }
    if (times) {
      this.#firstByte.record(times.firstByteMs);
      this.#total.record(times.totalMs);
    }
    this.#changed();
  }

  served(bytes: number): void {
    this.#data.servedBytes += bytes;
    this.activity.bytes('servedBytes', bytes);
    this.#changed();
  }

  fromMemory(bytes: number): void {
    add(this.#data.chunks.memory, bytes);
    this.#changed();
  }

  fromDisk(bytes: number): void {
    add(this.#data.chunks.disk, bytes);
    this.#changed();
  }

  fromNodes(bytes: number): void {
    add(this.#data.chunks.nodes, bytes);
    this.activity.bytes('peerBytes', bytes);
    this.activity.add('verifiedChunks');
    this.#changed();
  }

  joined(): void {
    this.#data.chunks.joined++;
    this.#changed();
  }

  stored(bytes: number): void {
    add(this.#data.chunks.stored, bytes);
    this.#changed();
  }

  unstored(): void {
    this.#data.chunks.unstored++;
    this.#changed();
  }

  damaged(): void {
    this.#data.chunks.damaged++;
    this.#changed();
  }

  fileDamaged(): void {
    this.#data.files.damaged++;
    this.#changed();
  }

  fileRefused(): void {
    this.#data.files.refused++;
    this.#changed();
  }

  chunkReceived({ request, chunks, firstByteMs }: PeerAttempt, bytes: number): void {
    const counters = this.#peer(request.peer)[request.transport];
    counters.chunks++;
    counters.bytes += bytes;
    this.activity.bytes('peerBytes', bytes);
    this.activity.add('verifiedChunks');
    if (chunks === 1 && firstByteMs !== undefined) counters.firstByte.record(firstByteMs);
    this.#changed();
  }

  attemptEnded({ request, totalMs }: PeerAttempt, outcome: AttemptOutcome, isFinal: boolean): void {
    const { operation, transport, isHedge } = request;
    if (outcome === 'cancelled' || outcome === 'busy' || (outcome === 'overtaken' && !isHedge)) return;
    // Most addresses are no pointers, and a blocked pointer is no failure of the peer either.
    if (operation === 'pointer' && ['NOT_FOUND', 'DENIED'].includes((outcome as AntwayError).code)) return;
    const peer = this.#peer(request.peer);
    if (outcome === 'success') peer[transport].total.record(totalMs);
    else if (outcome !== 'overtaken') {
      increment(peer[transport].failures, outcome.code);
      if (outcome.code === 'CORRUPT') {
        peer.corrupt++;
        // Peers cannot check the signatures of pointers.
        if (operation !== 'pointer') {
          peer.bans++;
          this.activity.add('badChunks');
        }
      }
    }
    if (isHedge && isFinal) peer.hedges[outcome === 'success' ? 'won' : 'lost']++;
    this.#changed();
  }

  #peer(url: string): PeerCounters {
    let peer = this.#peers.get(url);
    if (!peer) {
      peer = {
        webtransport: new TransportCounters(),
        http: new TransportCounters(),
        corrupt: 0,
        bans: 0,
        hedges: { won: 0, lost: 0 },
      };
      this.#peers.set(url, peer);
    }
    return peer;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

type PeerCounters = Omit<PeerTally, 'url' | TransportName> & Record<TransportName, TransportCounters>;

class TransportCounters {
  chunks = 0;
  bytes = 0;
  readonly failures: TransportTally['failures'] = {};
  readonly firstByte = new Histogram();
  readonly total = new Histogram();

  snapshot(): TransportTally {
    const { chunks, bytes, failures, firstByte, total } = this;
    return { chunks, bytes, failures, firstByteMs: firstByte.snapshot(), totalMs: total.snapshot() };
  }
}

function noData() {
  return {
    startedAt: Date.now(),
    requests: { total: 0, active: 0, failed: {} as Partial<Record<ErrorCode, number>> },
    servedBytes: 0,
    chunks: {
      memory: tally(),
      disk: tally(),
      nodes: tally(),
      joined: 0,
      stored: tally(),
      unstored: 0,
      damaged: 0,
    },
    files: { damaged: 0, refused: 0 },
  };
}

function tally(): Tally {
  return { count: 0, bytes: 0 };
}

function add(to: Tally, bytes: number): void {
  to.count++;
  to.bytes += bytes;
}

function increment<K extends string>(counts: Partial<Record<K, number>>, key: K): void {
  counts[key] = (counts[key] ?? 0) + 1;
}

/** The URLs of the peers that gave chunks since then. @param before as of `chunksByPeer`. */
export function peersSince(
  stats: Pick<Stats, 'chunksByPeer'>,
  before: ReadonlyMap<string, number>,
): string[] {
  const now = [...stats.chunksByPeer()];
  return now.filter(([url, count]) => count > (before.get(url) ?? 0)).map(([url]) => url);
}
