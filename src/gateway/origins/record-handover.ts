import { Address } from '../../address.ts';
import type { ChunkStore } from '../../chunks/store.ts';
import { limits } from '../../limits.ts';
import { peersSince, type Stats } from '../../stats/stats.ts';
import type { Trace } from '../../stats/trace.ts';

/** How long the records of a site are remembered, in milliseconds. */
const rememberedMs = 30_000;
/** The records of each can have `limits.handed.bytes`. */
const rememberedSites = 2;

type Records = NonNullable<Trace['records']>;

/** The answer to a site's origin: bytes in the gateway, blobs in the shell. */
export interface HandedRecords<Bytes extends Uint8Array | Blob> {
  /** The bytes may be damaged: verify them. */
  records: Bytes[];
  /** URLs of the peers that gave them. Empty for the network's nodes. Null if all of them were stored before. */
  peers: string[] | null;
}

interface ReadOfSite {
  records: Records;
  /** As of `Stats.chunksByPeer`, before the first of them was read. */
  chunksBefore: ReadonlyMap<string, number>;
  /** Of the requests for the site. */
  traces: Trace[];
  /** Set when a navigation led to the site's own origin: ends what the gateway's origin still loads for it. */
  stop: (() => void) | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/**
 * On the gateway's own origin: the records that it read to find that a site opens on its own origin. That origin gets them
 * from here, so it does not load them a second time.
 *
 * Security: a site chooses which records its data map lists, and the store has those of all sites. A site must not learn which
 * other sites the user opened. So its origin gets the records that resolving the site reads, and those that a peer sent with
 * them, stored or not. It gets them once for each navigation.
 */
export class RecordHandover {
  readonly #stats: Pick<Stats, 'chunksByPeer'>;
  /** By the site's address. The oldest comes first. */
  readonly #sites = new Map<string, ReadOfSite>();

  constructor(stats: Pick<Stats, 'chunksByPeer'>) {
    this.#stats = stats;
  }

  /** Lets a request for a site note the records that it reads. */
  note({ hex }: Address, trace: Trace): void {
    let site = this.#sites.get(hex);
    if (!site) {
      const chunksBefore = this.#stats.chunksByPeer();
      site = { records: new Map(), chunksBefore, traces: [], stop: undefined, timer: undefined };
    }
    this.#remember(hex, site);
    trace.records = site.records;
    site.traces.push(trace);
  }

  /**
   * Call this when a navigation leads to the site's own origin.
   * @param stop ends what is still being loaded for the navigation. Called when the origin has asked.
   */
  redirected({ hex }: Address, stop: () => void): void {
    const site = this.#sites.get(hex);
    if (!site) return;
    site.stop = stop;
    this.#remember(hex, site);
  }

  /**
   * Returns the records of a site to which a navigation led, as far as they are not too many. The next call returns nothing,
   * until a navigation leads there again.
   */
  async take(
    { hex }: Address,
    store: Pick<ChunkStore, 'get'>,
  ): Promise<HandedRecords<Uint8Array<ArrayBuffer>>> {
    const site = this.#sites.get(hex);
    const records: Uint8Array<ArrayBuffer>[] = [];
    if (!site?.stop) return { records, peers: null };
    this.#forget(hex);
    site.stop();
    let size = 0;
    // The order of arrival would tell which records were stored before.
    for (const [record, arrived] of [...site.records].sort().slice(0, limits.handed.records)) {
      const bytes = arrived ?? (await store.get(Address.fromHex(record)).catch(() => undefined));
      if (!bytes) continue;
      size += bytes.length;
      if (size > limits.handed.bytes) break;
      records.push(bytes);
    }
    const isFromPeers = site.traces.some(({ chunks }) => chunks.peer + chunks.joined > 0);
    return { records, peers: isFromPeers ? peersSince(this.#stats, site.chunksBefore) : null };
  }

  #remember(hex: string, site: ReadOfSite): void {
    this.#forget(hex);
    this.#sites.set(hex, site);
    site.timer = setTimeout(() => this.#forget(hex), rememberedMs);
    for (const oldest of this.#sites.keys()) if (this.#sites.size > rememberedSites) this.#forget(oldest);
  }

  #forget(hex: string): void {
    clearTimeout(this.#sites.get(hex)?.timer);
    this.#sites.delete(hex);
  }
}
