import type { ShownPage, ViewReport } from './view-api.ts';

/**
 * `same`: the known page. `next`: another page of the same origin. `elsewhere`: the frame of a site's own origin shows a
 * page of the gateway's origin. `waiting`: no page yet. `unknown`: a page that no worker knows.
 */
export type Finding =
  | { kind: 'same' | 'next' | 'elsewhere'; page: ShownPage }
  | { kind: 'waiting' | 'unknown' };

/** Tells the page of a frame from the pages of other tabs. */
export interface Shown {
  /** Whether the frame can show this page. */
  is(page: ShownPage): boolean;
  /**
   * If false, a page that the frame seems not to show is better than none: a script can change the URL of its page. If
   * true, the frame shows a page of its own origin.
   */
  isStrict: boolean;
}

const anyPage: Shown = { is: () => true, isStrict: false };
/** How many pages of other tabs one look skips. */
const mostSkipped = 20;

/** As of `framedPages`. */
export type AskFrames = (
  site: string | null,
  after: number,
  client?: string,
  isAny?: boolean,
) => Promise<ViewReport>;

/**
 * How many looks a page stays possible after the first one that saw its record. The worker records a page shortly before
 * the frame leaves the known page.
 */
const looks = {
  ofPage: 1,
  /** The browser may tell late that it refused a page, and a page of another tab is refused rarely. */
  ofRefused: 10,
};

/**
 * Excludes the pages of other tabs. While a frame still shows its known page, each page that is newer than the known one
 * belongs to another tab, or lies inside of the known one.
 */
class Baseline {
  /** Only newer pages can be shown. */
  after: number;
  /** The newest pages of the last looks, the oldest first. */
  #seen: number[];

  constructor(after: number, looks: number) {
    this.after = after;
    this.#seen = Array<number>(looks).fill(after);
  }

  /** The frame shows the known page. @param isAtOnce whether one look is enough to exclude the pages until `last`. */
  raise(last: number, isAtOnce: boolean): void {
    if (isAtOnce) this.#seen.fill(last);
    this.#seen.push(last);
    this.after = this.#seen.shift()!;
  }
}

/** Finds out which page a frame shows. The workers record the pages of all frames of their origin, in all tabs. */
export class FrameFollower {
  readonly #site: string | null;
  readonly #ask: AskFrames;
  #own: Baseline;
  #refused: Baseline;
  readonly #gateway: Baseline | null;

  private constructor(site: string | null, own: number, gateway: number | null, ask: AskFrames) {
    this.#site = site;
    this.#ask = ask;
    this.#own = new Baseline(own, looks.ofPage);
    this.#refused = new Baseline(own, looks.ofRefused);
    this.#gateway = gateway === null ? null : new Baseline(gateway, looks.ofPage);
  }

  /**
   * Call this before the frame is made.
   * @param site address of a site on its own origin. Null if the frame is on the gateway's origin.
   */
  static async start(site: string | null, ask: AskFrames): Promise<FrameFollower> {
    const own = (await ask(site, 0)).last;
    return new FrameFollower(site, own, site === null ? null : (await ask(null, 0)).last, ask);
  }

  /** Does not change what later looks find. @param page the page that the frame showed at the last look. */
  async look(page: ShownPage | null, shown = anyPage): Promise<Finding> {
    return (await this.#look(page, shown)).finding;
  }

  /**
   * Like `look`, and later looks find only pages that are newer than the last polls, while the frame stays as it is.
   * @param isKnown whether the frame showed the page at the last look. If not, only a load of the frame can change that,
   *   because the pages that open now may be those of other tabs.
   * @param isFirst whether the user could not see the frame until now, so that no navigation of the user is under way.
   */
  async poll(page: ShownPage | null, isKnown: boolean, isFirst: boolean, shown = anyPage): Promise<Finding> {
    const gateway = this.#gateway && (await this.#ask(null, this.#gateway.after));
    const { finding, last } = await this.#look(page, shown);
    const isSame = finding.kind === 'same';
    if (isSame || !isKnown) {
      this.#own.raise(last, isFirst);
      this.#refused.raise(last, isFirst);
      if (gateway) this.#gateway!.raise(gateway.last, isFirst);
    }
    return isSame || isKnown ? finding : { kind: 'unknown' };
  }

  /**
   * The newest page that the frame may have requested, also one that the browser refused to show.
   * @param page as of `look`.
   */
  async newest(page: ShownPage | null): Promise<ShownPage | null> {
    let newest: ShownPage | null = null;
    for (let i = 0; i < mostSkipped; i++) {
      const after = newest?.sequence ?? this.#refused.after;
      const { next } = await this.#ask(this.#site, after, page?.client, true);
      if (!next) break;
      newest = next;
    }
    return newest;
  }

  /** From now on the frame shows this page of its origin. */
  take(page: ShownPage): void {
    this.#own = new Baseline(page.sequence, looks.ofPage);
    this.#refused = new Baseline(page.sequence, looks.ofRefused);
  }

  async #look(page: ShownPage | null, shown: Shown): Promise<{ finding: Finding; last: number }> {
    const { after } = this.#own;
    const { last, next: first, known, isOpen } = await this.#ask(this.#site, after, page?.client);
    if (page && isOpen && (shown.is(page) || !shown.isStrict))
      return { finding: { kind: 'same', page: known ?? page }, last };
    let next = first;
    for (let i = 0; next && !shown.is(next); i++) {
      next = i < mostSkipped ? (await this.#ask(this.#site, next.sequence, page?.client)).next : null;
    }
    next ??= shown.isStrict ? null : first;
    if (next) return { finding: { kind: 'next', page: next }, last };
    const elsewhere =
      page && !shown.isStrict && this.#gateway && (await this.#ask(null, this.#gateway.after)).next;
    if (elsewhere) return { finding: { kind: 'elsewhere', page: elsewhere }, last };
    return { finding: { kind: page || last > after ? 'unknown' : 'waiting' }, last };
  }
}
