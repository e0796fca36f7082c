import { delay } from '../util/delay.ts';
import { LruCache } from '../util/lru-cache.ts';
import { isForeignNavigation } from './http/navigation.ts';
import type { RequestContext } from './request-context.ts';

/** So many navigations may get content and then open no window, in so many milliseconds. */
const mostUnopened = 2;
const unopenedMs = 600_000;

/** How long a window may take to open, in milliseconds. A user can close it soon, so that the first looks follow each other. */
const openingMs = 10_000;
const lookMs = { first: 10, most: 250 };

/** Most opening pages that are remembered. */
const rememberedPages = 100;

/**
 * A website can lead its window to content and stop that at once, again and again: its page stays open, and each time the
 * worker fetches and stores. After a few such navigations, the next ones get a page that first replaces the website.
 */
export class ForeignNavigations {
  /** Of each navigation whose window has not opened: when it was answered, in milliseconds since 1970. */
  readonly #unopened = new Set<{ answeredAt: number }>();
  /** The windows that got an opening page, by its URL. */
  readonly #openingPages = new LruCache<string>(rememberedPages);

  /** Whether too many navigations opened no window, so that this one gets an opening page. Counts it otherwise. */
  async isTooMany(request: Request, context: RequestContext): Promise<boolean> {
    const { clientIds, isOpen } = context;
    if (!isForeignNavigation(request) || !clientIds?.created || !isOpen) return false;
    const forgotten = Date.now() - unopenedMs;
    for (const navigation of this.#unopened)
      if (navigation.answeredAt < forgotten) this.#unopened.delete(navigation);
    if (this.#unopened.size >= mostUnopened) return this.needsPage(request, context);
    context.waitUntil(this.#countUntil(() => isOpen(clientIds.created)));
    return false;
  }

  /**
   * Whether a page of another origin may lead a window here, so that it gets an opening page. That page navigates to the same
   * URL. In browsers that hide its referrer, the gateway knows it by its window.
   */
  async needsPage(request: Request, { clientIds, isOpen }: RequestContext): Promise<boolean> {
    if (!isForeignNavigation(request)) return false;
    const [url] = request.url.split('#') as [string];
    const page = this.#openingPages.get(url);
    this.#openingPages.delete(url);
    if (page && (await isOpen?.(page))) return false;
    if (clientIds?.created) this.#openingPages.set(url, clientIds.created);
    return true;
  }

  async #countUntil(isOpen: () => Promise<boolean>): Promise<void> {
    const navigation = { answeredAt: Date.now() };
    this.#unopened.add(navigation);
    for (let waited = 0, ms = lookMs.first; waited < openingMs; ms = Math.min(2 * ms, lookMs.most)) {
      if (await isOpen()) {
        this.#unopened.delete(navigation);
        return;
      }
      await delay(ms);
      waited += ms;
    }
  }
}
