import { useEffect, useRef, useState } from 'preact/hooks';
import type { StatsSnapshot } from '../../stats/stats.ts';
import { asGatewayApiError, type CacheState, GatewayApiError, type ListedSite } from '../gateway-api.ts';
import { askSite, parallelSites } from '../site-bridge.ts';
import { texts } from '../texts/texts.ts';
import { siteCache, siteStats } from './site-stats.ts';
import { type CounterAt, counterAt, rateBetween, withSample } from './throughput.ts';

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
  /** Bytes per second sent to pages, one sample per second, oldest first. */
  samples: readonly number[];
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

  /** Forgets the rates, because the next answer comes after a pause. */
  pause(): void {
    this.#last = null;
    this.#rate = null;
    this.#samples = [];
  }

  /** Called once a second. */
  sample(): SiteFigures {
    const isSilent = performance.now() - this.#heardAt > silentMs;
    // An origin with a new worker or without an answer has no measurable rate.
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
      return undefined; // `siteStats` reports this as an invalid answer.
    }
  }
}

function silent(): GatewayApiError {
  return new GatewayApiError('SITE_UNREACHABLE', texts.status.siteUnreachable, { isTranslated: true });
}
