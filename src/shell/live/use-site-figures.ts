import { useEffect, useRef, useState } from 'preact/hooks';
import type { StatsSnapshot } from '../../stats/stats.ts';
import { asGatewayApiError, type CacheState, GatewayApiError, type ListedSite } from '../gateway-api.ts';
import { askSite, parallelSites } from '../site-bridge.ts';
import { texts } from '../texts/texts.ts';
import { siteCache, siteStats } from './site-stats.ts';
import { type CounterAt, counterAt, rateBetween, withSample } from './throughput.ts';

const askEveryMs = 1_000;
/** The same after an error. */
const retryMs = 5_000;
const sampleEveryMs = 1_000;
/** Storage is asked for with every so many questions. */
const storageEvery = 5;
/** An origin that is silent for so long is said not to answer, in milliseconds. */
const silentMs = 6_000;
/** A longer answer is not the worker's. */
const longestAnswer = 500_000;

/** What the worker of one site's own origin counts. */
export interface SiteFigures {
  address: string;
  /** Null before its first answer. */
  stats: StatsSnapshot | null;
  cache: CacheState | null;
  /** Bytes per second to pages, a second apart, oldest first. */
  samples: readonly number[];
  /** Why the figures are old or missing. */
  error: GatewayApiError | null;
}

/** The sites whose figures are asked for: those opened last. Each has a hidden frame. */
export function followedSites(sites: readonly ListedSite[] | null): ListedSite[] {
  return (sites ?? [])
    .filter(({ hasOwnOrigin }) => hasOwnOrigin)
    .sort((a, b) => (b.lastOpened ?? 0) - (a.lastOpened ?? 0))
    .slice(0, parallelSites);
}

/**
 * The counters of sites' own origins, asked for again and again while `active`. The sites' workers broadcast nothing: pages
 * of a site could listen to it.
 */
export function useSiteFigures(sites: readonly ListedSite[], active: boolean): SiteFigures[] {
  const [figures, setFigures] = useState<SiteFigures[]>([]);
  const followed = useRef(new Map<string, FollowedSite>());
  const key = sites
    .map(({ address }) => address)
    .sort()
    .join();

  useEffect(() => {
    if (!active || key === '') return;
    const stop = new AbortController();
    const addresses = key.split(',');
    const before = followed.current;
    followed.current = new Map(
      addresses.map((address) => [address, before.get(address) ?? new FollowedSite(address)]),
    );
    const all = [...followed.current.values()];
    for (const site of all) void site.follow(stop.signal);
    const sample = setInterval(() => setFigures(all.map((site) => site.sample())), sampleEveryMs);
    return () => {
      stop.abort();
      clearInterval(sample);
      for (const site of all) site.pause();
    };
  }, [active, key]);

  return figures.filter(({ address }) => key.includes(address));
}

class FollowedSite {
  readonly #address: string;
  #stats: StatsSnapshot | null = null;
  #cache: CacheState | null = null;
  #error: GatewayApiError | null = null;
  #last: CounterAt | null = null;
  #rate: number | null = null;
  #samples: readonly number[] = [];
  #heardAt = performance.now();

  constructor(address: string) {
    this.#address = address;
  }

  async follow(signal: AbortSignal): Promise<void> {
    this.#heardAt = performance.now();
    for (let question = 0; !signal.aborted; question++) {
      try {
        const stats = siteStats(await this.#ask('stats'));
        const cache =
          !this.#cache || question % storageEvery === 0 ? siteCache(await this.#ask('cache')) : this.#cache;
        if (signal.aborted) return;
        if (!stats || !cache)
          throw new GatewayApiError('INTERNAL', texts.live.siteOdd, { isTranslated: true });
        this.#heard(stats);
        this.#cache = cache;
        this.#error = null;
      } catch (error) {
        if (signal.aborted) return;
        this.#error = asGatewayApiError(error);
        this.#rate = null;
      }
      await new Promise((resolve) => setTimeout(resolve, this.#error ? retryMs : askEveryMs));
    }
  }

  /** Rates that were measured before a pause are forgotten. */
  pause(): void {
    this.#last = null;
    this.#rate = null;
    this.#samples = [];
  }

  /** Called once a second. */
  sample(): SiteFigures {
    const isSilent = performance.now() - this.#heardAt > silentMs;
    // An origin whose worker starts anew, or that does not answer, serves nothing that is known of.
    if (this.#last) this.#samples = withSample(this.#samples, isSilent ? 0 : (this.#rate ?? 0));
    const error = this.#error ?? (isSilent ? silent() : null);
    return { address: this.#address, stats: this.#stats, cache: this.#cache, samples: this.#samples, error };
  }

  #heard(stats: StatsSnapshot): void {
    this.#heardAt = performance.now();
    const next = counterAt(stats, this.#heardAt);
    this.#rate = rateBetween(this.#last, next);
    this.#last = next;
    this.#stats = stats;
  }

  async #ask(path: string): Promise<unknown> {
    const answer = await askSite(this.#address, path, { isBackground: true });
    if (answer.size > longestAnswer) return undefined;
    try {
      return JSON.parse(await answer.text());
    } catch {
      return undefined; // said to be no answer of a worker
    }
  }
}

function silent(): GatewayApiError {
  return new GatewayApiError('SITE_UNREACHABLE', texts.status.siteUnreachable, { isTranslated: true });
}
