import { get, promisifyRequest, type UseStore } from 'idb-keyval';
import * as v from 'valibot';
import { completed } from '../../chunks/indexed-db.ts';
import * as s from '../../schema.ts';
import {
  type Activity,
  type ActivityCounts,
  addCounts,
  historySeconds,
  noCounts,
  type StoredActivity,
} from '../../stats/activity.ts';
import { lifetimeSchema } from '../../stats/lifetime-schema.ts';

const key = 'activity';
/** The pause between the first count and its write, in milliseconds. A killed worker loses at most this much. */
const writeMs = 2_000;

/** The largest exact sum. */
const count = s.number(Number.MAX_SAFE_INTEGER);

/** A site can change what its own origin stores. */
const storedSchema: s.Schema<StoredActivity> = s.object({
  since: count,
  seconds: v.pipe(
    v.map(count, s.object({ peerBytes: count, servedBytes: count })),
    v.maxSize(2 * historySeconds),
  ),
  lifetime: lifetimeSchema(count),
});

/**
 * Stores the counts of `Activity`, so that they outlive the worker. Each write adds what this worker has counted since
 * its last write, in one transaction. Two workers of one origin therefore do not overwrite each other's counts.
 */
export class ActivityStore {
  readonly #activity: Activity;
  readonly #state: UseStore;
  /** The counts in the store at the last read or write. */
  #known: StoredActivity | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(activity: Activity, state: UseStore) {
    this.#activity = activity;
    this.#state = state;
    activity.onCount = () => this.#schedule();
  }

  /** The stored counts with those that are not written yet. If storage is blocked, the counts of this worker. */
  async read(now = Date.now()): Promise<StoredActivity> {
    await this.#writing;
    const stored = this.#known ?? valid(await get<unknown>(key, this.#state).catch(() => undefined), now);
    // A write may have ended since.
    this.#known ??= stored;
    return addCounts(this.#known, this.#activity.pending, now);
  }

  /** Writes the counts now. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Deletes all counts, also those that are not written yet. @throws AntwayError `REFUSED` if storage is blocked. */
  async clear(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#writing;
    this.#activity.take();
    this.#known = undefined;
    await this.#state('readwrite', (store) => {
      store.delete(key);
      return completed(store.transaction);
    });
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.flush(), writeMs);
    // Node would wait for the timer.
    (this.#timer as { unref?(): void }).unref?.();
  }

  async #write(): Promise<void> {
    const counts = this.#activity.take();
    const now = Date.now();
    try {
      this.#known = await this.#state('readwrite', async (store) => {
        const stored = valid(await promisifyRequest<unknown>(store.get(key)), now);
        const sum = addCounts(stored, counts, now);
        store.put(sum, key);
        await completed(store.transaction);
        return sum;
      });
    } catch {
      this.#keep(counts, now);
    }
  }

  /** Storage is blocked or full: the counts last as long as this worker. */
  #keep(counts: ActivityCounts, now: number): void {
    this.#known = addCounts(this.#known ?? valid(undefined, now), counts, now);
  }
}

/** Begins with no counts if nothing valid is stored. */
function valid(stored: unknown, now: number): StoredActivity {
  const result = v.safeParse(storedSchema, stored, { abortEarly: true });
  return result.success ? result.output : { since: now, ...noCounts() };
}
