import type { ErrorCode } from '../errors.ts';

/** A number of things and their bytes. */
export interface Tally {
  count: number;
  bytes: number;
}

export type Transport = 'webtransport' | 'http';

/** What came from one peer over one transport. `chunks` counts only those that matched their address. */
export interface TransportTally {
  chunks: number;
  bytes: number;
  /** Requests that brought nothing usable, by error code. */
  failures: Partial<Record<ErrorCode, number>>;
}

export interface PeerTally {
  /** The peer's URL as configured, without certificate hashes. */
  url: string;
  webtransport: TransportTally;
  http: TransportTally;
  /** Chunks that did not match their address. */
  corrupt: number;
}

/** Everything the worker counts, since `startedAt`. Plain data: the body of `/-/stats`. */
export interface StatsSnapshot {
  /** When this worker started, in milliseconds since 1970. A browser may stop and start it at any time. */
  startedAt: number;
  requests: { total: number; active: number; failed: Partial<Record<ErrorCode, number>> };
  /** Body bytes handed to pages. */
  servedBytes: number;
  chunks: {
    /** Opened chunks found in memory. */
    memory: Tally;
    /** Sealed chunks read from IndexedDB. */
    disk: Tally;
    /** Requests for a chunk that joined one already under way. */
    joined: number;
    /** Chunks written to IndexedDB. */
    stored: Tally;
    /** Chunks that could not be written (no quota, blocked storage). */
    unstored: number;
    /** Stored chunks that turned out damaged, and were dropped and fetched again. */
    damaged: number;
  };
  peers: PeerTally[];
}

/** Counters of one worker. Every layer may hold it; nobody reads it but `/-/stats`. */
export class Stats {
  readonly #data: StatsSnapshot = {
    startedAt: Date.now(),
    requests: { total: 0, active: 0, failed: {} },
    servedBytes: 0,
    chunks: { memory: tally(), disk: tally(), joined: 0, stored: tally(), unstored: 0, damaged: 0 },
    peers: [],
  };
  readonly #listeners = new Set<() => void>();

  snapshot(): StatsSnapshot {
    return structuredClone(this.#data);
  }

  /** Calls `listener` after every change, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  requestStarted(): void {
    this.#data.requests.total++;
    this.#data.requests.active++;
    this.#changed();
  }

  /** @param failure the error's code when the request was not answered whole. */
  requestEnded(failure?: ErrorCode): void {
    this.#data.requests.active--;
    if (failure) increment(this.#data.requests.failed, failure);
    this.#changed();
  }

  served(bytes: number): void {
    this.#data.servedBytes += bytes;
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

  fromPeer(url: string, transport: Transport, bytes: number): void {
    const peer = this.#peer(url)[transport];
    peer.chunks++;
    peer.bytes += bytes;
    this.#changed();
  }

  peerFailed(url: string, transport: Transport, code: ErrorCode): void {
    const peer = this.#peer(url);
    increment(peer[transport].failures, code);
    if (code === 'CORRUPT') peer.corrupt++;
    this.#changed();
  }

  #peer(url: string): PeerTally {
    let peer = this.#data.peers.find((known) => known.url === url);
    if (!peer) {
      const transport = (): TransportTally => ({ chunks: 0, bytes: 0, failures: {} });
      peer = { url, webtransport: transport(), http: transport(), corrupt: 0 };
      this.#data.peers.push(peer);
    }
    return peer;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
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
