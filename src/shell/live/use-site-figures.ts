import { useEffect, useRef, useState } from 'preact/hooks';
import type { ActivityReport } from '../../gateway/api/activity.ts';
import type { StatsSnapshot } from '../../stats/stats.ts';
import { asGatewayApiError, type CacheState, GatewayApiError, type ListedSite } from '../gateway-api.ts';
import { askSite, parallelSites } from '../origins/site-bridge.ts';
import { texts } from '../texts/texts.ts';
import { siteActivity } from './site-activity.ts';
import { siteCache, siteStats } from './site-stats.ts';

const askEveryMs = 1_000;
const retryMs = 5_000;
const sampleEveryMs = 1_000;
/** The storage figures are requested once per this number of requests. */
const storageEvery = 5;
/** An origin without an answer for this time is reported as silent, in milliseconds. */
const silentMs = 6_000;
/** The maximum size of an answer, in bytes. A worker's answer is never longer. */
const longestAnswer = 500_000;

export interface SiteFigures {
  address: string;
  /** Null before the first answer. */
  stats: StatsSnapshot | null;
  cache: CacheState | null;
  activity: ActivityReport | null;
  error: GatewayApiError | null;
}

/** The followed sites: the most recently opened ones. Each has a hidden frame. */
export function followedSites(sites: readonly ListedSite[] | null): ListedSite[] {
  return (sites ?? [])
    .filter(({ hasOwnOrigin }) => hasOwnOrigin)
    .sort((a, b) => (b.lastOpened ?? 0) - (a.lastOpened ?? 0))
    .slice(0, parallelSites);
}

/** Polls while `active`. The sites' workers do not broadcast their counters, because pages of a site could listen. */
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
    };
  }, [active, key]);

  return figures.filter(({ address }) => key.includes(address));
}

class FollowedSite {
  readonly #address: string;
  #stats: StatsSnapshot | null = null;
  #cache: CacheState | null = null;
  #error: GatewayApiError | null = null;
  #activity: ActivityReport | null = null;
  #heardAt = performance.now();

  constructor(address: string) {
    this.#address = address;
  }

  async follow(signal: AbortSignal): Promise<void> {
    this.#heardAt = performance.now();
    for (let question = 0; !signal.aborted; question++) {
      try {
        const [stats, activity] = [
          siteStats(await this.#ask('stats')),
          siteActivity(await this.#ask('activity')),
        ];
        const cache =
          !this.#cache || question % storageEvery === 0 ? siteCache(await this.#ask('cache')) : this.#cache;
        if (signal.aborted) return;
        if (!stats || !cache || !activity)
          throw new GatewayApiError('INTERNAL', texts.live.siteOdd, { isTranslated: true });
        this.#heardAt = performance.now();
        this.#stats = stats;
        this.#activity = activity;
        this.#cache = cache;
        this.#error = null;
      } catch (error) {
        if (signal.aborted) return;
        this.#error = asGatewayApiError(error);
      }
      await new Promise((resolve) => setTimeout(resolve, this.#error ? retryMs : askEveryMs));
    }
  }

  /** Called once a second. */
  sample(): SiteFigures {
    const isSilent = performance.now() - this.#heardAt > silentMs;
    const error = this.#error ?? (isSilent ? silent() : null);
    // The bytes of a silent origin would stay in the newest seconds of the chart.
    const activity = isSilent ? null : this.#activity;
    return { address: this.#address, stats: this.#stats, cache: this.#cache, activity, error };
  }

  async #ask(path: string): Promise<unknown> {
    const answer = await askSite(this.#address, path, { isBackground: true });
    if (answer.size > longestAnswer) return undefined;
    try {
      return JSON.parse(await answer.text());
    } catch {
      return undefined; // `siteStats` reports this as an invalid answer.
    }
  }
}

function silent(): GatewayApiError {
  return new GatewayApiError('SITE_UNREACHABLE', texts.status.siteUnreachable, { isTranslated: true });
}
