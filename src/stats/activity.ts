/** The age of the oldest second that is counted, in seconds. */
export const historySeconds = 120;

/** Counters of one second. All are 0 or more. */
export interface SecondCounts {
  /** Verified bytes of chunks that peers sent. */
  peerBytes: number;
  /** Body bytes sent to pages. */
  servedBytes: number;
}

/** Counters since a reset, over all workers of this origin. */
export interface LifetimeCounts {
  /** Chunks from peers that matched their address, and their bytes. */
  verifiedChunks: number;
  verifiedBytes: number;
  /** Chunks from peers that did not match their address. They were discarded. */
  badChunks: number;
  servedBytes: number;
  requests: number;
  failures: number;
}

export interface ActivityCounts {
  /** By second since 1970. Seconds without bytes are missing. */
  seconds: Map<number, SecondCounts>;
  lifetime: LifetimeCounts;
}

/** The counters as the state store contains them. */
export interface StoredActivity extends ActivityCounts {
  /** The time of the first count or of the last reset, in milliseconds since 1970. */
  since: number;
}

export function noCounts(): ActivityCounts {
  const lifetime = {
    ...{ verifiedChunks: 0, verifiedBytes: 0, badChunks: 0 },
    ...{ servedBytes: 0, requests: 0, failures: 0 },
  };
  return { seconds: new Map(), lifetime };
}

/**
 * Adds counters, and drops seconds that are too old or in the future because the clock was changed. Workers of one
 * origin add only what each has counted itself, so none overwrites the counts of another.
 * @param now milliseconds since 1970.
 */
export function addCounts<Counts extends ActivityCounts>(
  to: Counts,
  more: ActivityCounts,
  now: number,
): Counts {
  const newest = Math.floor(now / 1000);
  const seconds = new Map<number, SecondCounts>();
  for (const [at, counts] of [...to.seconds, ...more.seconds]) {
    if (at <= newest - historySeconds || at > newest) continue;
    const known = seconds.get(at);
    seconds.set(at, known ? sum(known, counts) : counts);
  }
  return { ...to, seconds, lifetime: sum(to.lifetime, more.lifetime) };
}

function sum<T extends SecondCounts | LifetimeCounts>(a: T, b: T): T {
  const keys = Object.keys(a) as (keyof T)[];
  return Object.fromEntries(keys.map((key) => [key, Number(a[key]) + Number(b[key])])) as unknown as T;
}

/** Counts what this worker does until the counts are taken for the store. A count is two additions. */
export class Activity {
  #counts = noCounts();
  #at = 0;
  #second: SecondCounts | undefined;
  #isEmpty = true;
  /** Called at the first count after `take`. */
  onCount = () => {};

  /** @param now milliseconds since 1970. */
  bytes(kind: keyof SecondCounts, bytes: number, now = Date.now()): void {
    const at = Math.floor(now / 1000);
    if (at !== this.#at || !this.#second) {
      this.#at = at;
      this.#second = this.#counts.seconds.get(at) ?? { peerBytes: 0, servedBytes: 0 };
      this.#counts.seconds.set(at, this.#second);
      // Storage that never answers must not let the map grow.
      if (this.#counts.seconds.size > 2 * historySeconds)
        this.#counts = addCounts(noCounts(), this.#counts, now);
    }
    this.#second[kind] += bytes;
    this.add(kind === 'peerBytes' ? 'verifiedBytes' : 'servedBytes', bytes);
  }

  add(kind: keyof LifetimeCounts, count = 1): void {
    this.#counts.lifetime[kind] += count;
    if (!this.#isEmpty) return;
    this.#isEmpty = false;
    this.onCount();
  }

  /** The counts that no caller has taken. Do not change them. */
  get pending(): ActivityCounts {
    return this.#counts;
  }

  /** Returns the counts, and begins at 0 again. */
  take(): ActivityCounts {
    const counts = this.#counts;
    this.#counts = noCounts();
    this.#second = undefined;
    this.#isEmpty = true;
    return counts;
  }
}
