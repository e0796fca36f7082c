import type { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { PendingLookup } from '../peers/selection/pending-lookups.ts';
import { delay } from '../util/delay.ts';
import { LruCache } from '../util/lru-cache.ts';
import type { GatewayPeers } from './create-gateway.ts';
import type { Deployment } from './deployment.ts';
import { isSavedType, isShownEverywhere, typeOfName } from './http/content-type.ts';
import { isTopLevelNavigation } from './http/navigation.ts';
import { ownPageHeaders } from './http/policy.ts';
import { isOfProgressPage } from './http/script-request.ts';
import { type ContentTarget, namesMember } from './http/target.ts';
import { progressPage } from './pages/progress-page.ts';
import { readerOf } from './pages/reader.ts';
import type { ChosenAppearance } from './state/appearance.ts';

/** Most URLs that are remembered. A failure that is not remembered is found again. */
const rememberedUrls = 100;
/** How long the start of a wait is remembered after the last request, in milliseconds. */
const waitMs = limits.progressMs.ask + limits.progressMs.goOn;

export interface SlowNavigationsOptions {
  deployment: Deployment;
  peers: Pick<GatewayPeers, 'describe' | 'lookups'>;
  appearance: ChosenAppearance;
}

/** Answers a navigation with the progress page if peers take long to find its content. */
export class SlowNavigations {
  readonly #options: SlowNavigationsOptions;
  readonly #failures = new LruCache<{ failure: AntwayError; until: number }>(rememberedUrls);
  /** Since when users wait. Times are milliseconds since 1970. */
  readonly #waits = new LruCache<{ since: number; until: number }>(rememberedUrls);

  constructor(options: SlowNavigationsOptions) {
    this.#options = options;
  }

  /**
   * Waits for the answer to a request.
   * @param answer never rejects.
   * @returns the answer in its place if it takes too long: the progress page for a navigation in a window, and a note
   *   for the script of that page. Undefined if the answer comes first.
   */
  async placeholderFor(
    answer: Promise<unknown>,
    request: Request,
    target: ContentTarget,
  ): Promise<Response | undefined> {
    // A site that embeds the gateway decides itself what its users see meanwhile.
    if (!this.#options.deployment.ownsOrigin) return undefined;
    if (isTopLevelNavigation(request)) {
      // A download would leave the progress page open, and the page cannot tell that it was answered.
      return isSaved(target) ? undefined : this.#pageFor(answer, request, target);
    }
    if (!isOfProgressPage(request)) return undefined;
    const note = await noteFor(answer);
    if (note) this.#waitingSince(request, Date.now());
    return note;
  }

  async #pageFor(
    answer: Promise<unknown>,
    request: Request,
    { address }: ContentTarget,
  ): Promise<Response | undefined> {
    const { deployment, peers, appearance } = this.#options;
    const lookups = await this.#lookupsBefore(answer);
    if (!lookups) {
      this.#waits.delete(withoutFragment(request.url));
      return undefined;
    }
    const asked = new Set(lookups.map(({ peer }) => peer));
    const own = lookups.filter((lookup) => lookup.address.equals(address));
    // Another navigation may have waited for the same content before.
    const first = Math.min(Date.now() - limits.progressMs.first, ...own.map(({ since }) => since));
    const progress = {
      address: address.hex,
      peers: peers.describe().filter(({ url }) => asked.has(url)),
      waitedMs: Date.now() - this.#waitingSince(request, first),
    };
    return progressPage(progress, await readerOf(request, appearance), deployment);
  }

  /** Returns since when the user waits for this URL. @param since the start if no earlier start is known. */
  #waitingSince({ url }: Request, since: number): number {
    const now = Date.now();
    const key = withoutFragment(url);
    const before = this.#waits.get(key);
    const start = before && now < before.until ? Math.min(before.since, since) : since;
    this.#waits.set(key, { since: start, until: now + waitMs });
    return start;
  }

  #lookupsBefore(answer: Promise<unknown>): Promise<readonly PendingLookup[] | undefined> {
    return new Promise((resolve) => {
      let timer: ReturnType<typeof setTimeout>;
      const look = () => {
        const lookups = this.#options.peers.lookups();
        if (lookups.length > 0) resolve(lookups);
        else timer = setTimeout(look, limits.progressMs.next);
      };
      timer = setTimeout(look, limits.progressMs.first);
      void answer.then(() => {
        clearTimeout(timer);
        resolve(undefined);
      });
    });
  }

  /** Remembers for a short time why the content did not arrive. Otherwise, the next navigation would wait again. */
  noteFailure({ url }: Request, failure: AntwayError): void {
    // Without attempts, the peers are not the reason, and a navigation may get another answer.
    if (!failure.details.attempts) return;
    this.#failures.set(withoutFragment(url), { failure, until: Date.now() + limits.progressMs.failed });
  }

  /** Returns a remembered failure once, so that the navigation after it asks the peers again. */
  takeFailure({ url }: Request): AntwayError | undefined {
    const key = withoutFragment(url);
    const noted = this.#failures.get(key);
    this.#failures.delete(key);
    return noted && Date.now() < noted.until ? noted.failure : undefined;
  }
}

/** Tells the progress page to ask again. */
async function noteFor(answer: Promise<unknown>): Promise<Response | undefined> {
  const timer = new AbortController();
  const isLate = delay(limits.progressMs.ask, timer.signal).then(
    () => true,
    () => false,
  );
  void answer.then(() => timer.abort());
  if (!(await isLate)) return undefined;
  const headers = { ...ownPageHeaders(), 'Cache-Control': 'no-store', 'Antway-Waiting': '1' };
  return new Response(null, { status: 503, headers });
}

/** Whether the browser probably saves the answer, as far as the URL tells. */
function isSaved(target: ContentTarget): boolean {
  return asksForFile(target) || typeMatches(target, isSavedType);
}

/** Whether any browser may save the answer, as far as the URL tells. */
export function mayBeSavedByUrl(target: ContentTarget): boolean {
  return asksForFile(target) || typeMatches(target, (type) => !isShownEverywhere(type));
}

function asksForFile(target: ContentTarget): boolean {
  const { query } = target;
  // For a member, the query belongs to the site.
  const isFormat = !['json', null].includes(query.get('format')) && !namesMember(target);
  return isFormat || query.has('download');
}

function typeMatches({ path = '' }: ContentTarget, matches: (type: string) => boolean): boolean {
  const type = typeOfName(path);
  return type !== undefined && matches(type);
}

function withoutFragment(url: string): string {
  return url.replace(/#.*/, '');
}
