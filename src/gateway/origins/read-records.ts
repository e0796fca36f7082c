import { Address } from '../../address.ts';
import type { ChunkStore } from '../../chunks/store.ts';
import { limits } from '../../limits.ts';
import type { Stats } from '../../stats/stats.ts';
import { LruCache } from '../../util/lru-cache.ts';

/** How long the records of a site are remembered, in milliseconds. */
const rememberedMs = 30_000;
const rememberedSites = 8;

/** The answer to a site's origin. */
export interface Handed {
  /** The bytes may be damaged: verify them. */
  records: Uint8Array<ArrayBuffer>[];
  /** URLs of the peers that gave the gateway's origin chunks meanwhile. */
  peers: string[];
}

interface ReadOfSite {
  /** In hex. */
  records: Set<string>;
  /** As of `Stats.chunksByPeer`, before the first of them was read. */
  chunksBefore: ReadonlyMap<string, number>;
  /** Set when a navigation led to the site's own origin: ends what the gateway's origin still loads for it. */
  stop: (() => void) | undefined;
  until: number;
}

/**
 * On the gateway's own origin: the records that it read to find that a site opens on its own origin. That origin gets them
 * from here, so it does not load them a second time.
 *
 * Security: a site chooses which records its data map lists, and the store has those of all sites. So that a site does not
 * learn what else the user opened, its origin gets only records that a navigation to the site had to read, once for each
 * navigation.
 */
export class ReadRecords {
  readonly #stats: Pick<Stats, 'chunksByPeer'>;
  readonly #sites = new LruCache<ReadOfSite>(rememberedSites);

  constructor(stats: Pick<Stats, 'chunksByPeer'>) {
    this.#stats = stats;
  }

  /** Returns the set to which a request for a site adds the records (hex) that it reads. */
  of({ hex }: Address): Set<string> {
    const now = Date.now();
    let site = this.#sites.get(hex);
    if (!site || site.until < now) {
      const chunksBefore = this.#stats.chunksByPeer();
      site = { records: new Set(), chunksBefore, stop: undefined, until: 0 };
      this.#sites.set(hex, site);
    }
    site.until = now + rememberedMs;
    return site.records;
  }

  /**
   * Call this when a navigation leads to the site's own origin.
   * @param stop ends what is still being loaded for the navigation. Called when the origin has asked.
   */
  redirected({ hex }: Address, stop: () => void): void {
    const site = this.#sites.get(hex);
    if (site) site.stop = stop;
  }

  /**
   * Returns the records of a site to which a navigation led, as far as they are stored and not too many. The next call returns
   * nothing, until a navigation leads there again.
   */
  async take({ hex }: Address, store: Pick<ChunkStore, 'get'>): Promise<Handed> {
    const site = this.#sites.get(hex);
    const records: Handed['records'] = [];
    if (!site?.stop || site.until < Date.now()) return { records, peers: [] };
    this.#sites.delete(hex);
    site.stop();
    let size = 0;
    // The order of arrival would tell which records were stored before.
    for (const record of [...site.records].sort().slice(0, limits.handed.records)) {
      const bytes = await store.get(Address.fromHex(record)).catch(() => undefined);
      if (!bytes) continue;
      size += bytes.length;
      if (size > limits.handed.bytes) break;
      records.push(bytes);
    }
    return { records, peers: newIn(this.#stats.chunksByPeer(), site.chunksBefore) };
  }
}

/** The peers that gave more chunks than before. */
function newIn(now: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>): string[] {
  return [...now].filter(([url, count]) => count > (before.get(url) ?? 0)).map(([url]) => url);
}
