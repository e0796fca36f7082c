import type { ErrorCode } from '../../errors.ts';
import { peersSince, type Stats } from '../../stats/stats.ts';
import type { Trace } from '../../stats/trace.ts';
import { LruCache } from '../../util/lru-cache.ts';

/** A page that a frame of this origin loaded. The worker makes the record, so no page can forge it. */
export interface FramedPage {
  /** The id of the page's client. It stays the same when the browser restarts the worker. */
  client: string;
  /** Grows with each page, also when the browser restarts the worker. */
  sequence: number;
  /** In hex: the address of the URL. */
  address: string;
  /** Path and query below the address's root, with a leading slash. Without a fragment: workers do not see it. */
  path: string;
  /** As in the document's HTML, so with character references. Null if the document has none. */
  title: string | null;
  /** The error of the page itself. Null if the answer began. */
  code: ErrorCode | null;
  /** Requests of this page that failed or whose body broke off, by error code. Includes the page itself. */
  failures: Partial<Record<ErrorCode, number>>;
  /** Chunks that the page and its files needed: from this device, and from peers. */
  chunks: { stored: number; peers: number };
  /** URLs of the peers that gave this origin chunks since the page was loaded. */
  peers: string[];
}

interface Entry extends Omit<FramedPage, 'client' | 'peers'> {
  chunksBefore: ReadonlyMap<string, number>;
}

export interface FrameReport {
  /** The newest sequence. */
  last: number;
  /** The oldest open page that is newer than the given sequence, without the known page. */
  next: FramedPage | null;
  /** The known page. Null if this worker does not remember it. */
  known: FramedPage | null;
  /** Whether the known page still exists. Browsers know that also if this worker does not remember the page. */
  isOpen: boolean;
}

const mostPages = 100;

/**
 * The pages that frames of this origin show. The shell shows sites in a frame of another origin, whose URL and title a
 * page cannot read. Only in memory.
 */
export class FrameJournal {
  readonly #stats: Pick<Stats, 'chunksByPeer'>;
  /** By the id of the page's client. */
  readonly #pages = new LruCache<Entry>(mostPages);
  readonly #ids: string[] = [];
  /** The time, so that it also grows when the worker starts again. */
  #last = Date.now();

  constructor(stats: Pick<Stats, 'chunksByPeer'>) {
    this.#stats = stats;
  }

  /** @param chunksBefore as of `Stats.chunksByPeer`, before the page was requested. */
  opened(
    clientId: string,
    page: Pick<FramedPage, 'address' | 'path' | 'title' | 'code'>,
    chunksBefore: ReadonlyMap<string, number>,
  ): void {
    const counted = this.#pages.get(clientId);
    const { failures = {}, chunks = { stored: 0, peers: 0 } } = counted ?? {};
    this.#last++;
    this.#pages.set(clientId, { ...page, sequence: this.#last, failures, chunks, chunksBefore });
    if (!counted) this.#ids.push(clientId);
    while (this.#ids.length > mostPages) this.#ids.shift();
  }

  /** Counts a finished request of a page. */
  ended(clientId: string, { chunks }: Pick<Trace, 'chunks'>, failure?: ErrorCode): void {
    const page = this.#pages.get(clientId);
    if (!page) return;
    page.chunks.stored += chunks.disk + chunks.memory;
    page.chunks.peers += chunks.peer + chunks.joined;
    if (failure) page.failures[failure] = (page.failures[failure] ?? 0) + 1;
  }

  /**
   * @param after a sequence. The frames of all tabs are in this journal, so the caller excludes the pages that were open
   *   before its frame could leave its page. A frame inside a page is newer than its page, so the oldest newer page is
   *   the one of the outer frame.
   * @param client the id of the page that the caller knows. Empty if it knows none.
   */
  async report(
    after: number,
    client: string,
    isOpen: (clientId: string) => Promise<boolean>,
  ): Promise<FrameReport> {
    const last = this.#last;
    const page = client ? this.#pages.get(client) : undefined;
    const isKnownOpen = client !== '' && (await isOpen(client));
    const known = page ? this.#described(client, page) : null;
    return { last, next: await this.#firstAfter(after, client, isOpen), known, isOpen: isKnownOpen };
  }

  async #firstAfter(
    after: number,
    client: string,
    isOpen: (clientId: string) => Promise<boolean>,
  ): Promise<FramedPage | null> {
    for (const id of [...this.#ids]) {
      const page = this.#pages.get(id);
      if (page && page.sequence > after && id !== client && (await isOpen(id)))
        return this.#described(id, page);
    }
    return null;
  }

  #described(client: string, { chunksBefore, ...page }: Entry): FramedPage {
    const peers = page.chunks.peers > 0 ? peersSince(this.#stats, chunksBefore) : [];
    return { ...page, client, peers };
  }
}
