import { delMany, get, promisifyRequest, type UseStore, update } from 'idb-keyval';
import * as v from 'valibot';
import type { Address } from '../../address.ts';
import { type ErrorCode, errorStatus } from '../../errors.ts';
import * as s from '../../schema.ts';
import { textsIn } from '../pages/texts/texts.ts';

/** In bytes or chunks. No device stores more. */
const size = s.number(1e15);
const storedCount = s.object({ stored: size, total: v.nullable(size) });
const pinStoredCount = s.object({ stored: size, total: size });

const problem = v.pipe(
  s.object({
    code: v.pipe(
      v.string(),
      v.transform((code) => (Object.hasOwn(errorStatus, code) ? (code as ErrorCode) : 'INTERNAL')),
    ),
    message: v.string(),
    /** A worker of an earlier version does not say it. */
    isFinal: v.optional(v.boolean(), false),
  }),
  // The shell shows the message, and a script of the site can write it.
  v.transform((problem) => ({ ...problem, message: textsIn('en').errors[problem.code] })),
);

const pinState = s.object({
  chunks: pinStoredCount,
  bytes: pinStoredCount,
  state: v.picklist(['complete', 'partial', 'damaged']),
  activity: v.picklist(['idle', 'fetching', 'verifying', 'paused', 'waiting']),
  bytesPerSecond: v.nullable(size),
  secondsLeft: v.nullable(size),
  problem: v.nullable(problem),
});

/** The report of a site's own origin, sent by its bridge. Scripts of the site can forge it. Sizes are in bytes. */
export const siteReportSchema = s.object({
  chunks: storedCount,
  bytes: storedCount,
  /** Whether the whole site is stored there. */
  offline: v.boolean(),
  pin: v.nullable(pinState),
  /** Size of the origin's whole chunk store. */
  storedBytes: size,
  /** Whether the browser promised not to evict the origin's data. Null if unknown. */
  persisted: v.nullable(v.boolean()),
  /** When the user last saw a page of the site, in milliseconds since 1970. A worker of an earlier version does not say it. */
  seenAt: v.optional(v.nullable(size), null),
});

export type SiteReport = v.InferOutput<typeof siteReportSchema>;

/** The origin of a site that was used in this browser. Times are in milliseconds since 1970. */
export interface SiteOrigin {
  /** 64 hex characters. */
  address: string;
  /** When the origin's worker was first known to run with the user's settings. Null before that. */
  readyAt: number | null;
  /** Identifies the settings that the origin received last. Null if it has received none. */
  settingsId: string | null;
  report: SiteReport | null;
}

/** Any website can open the origins of any addresses. Above this number, origins without content make room. */
const mostOrigins = 1_000;

const prefix = 'origin:';
const range = () => IDBKeyRange.bound(prefix, `${prefix}\uffff`);

/** Records of the origins of sites. Only the worker of the gateway's own origin stores them. */
export class SiteOrigins {
  readonly #state: UseStore;
  /** A cache, because every navigation reads a record. */
  readonly #known = new Map<string, Promise<SiteOrigin | undefined>>();

  constructor(state: UseStore) {
    this.#state = state;
  }

  get({ hex }: Address): Promise<SiteOrigin | undefined> {
    let known = this.#known.get(hex);
    if (!known) {
      known = get<SiteOrigin>(prefix + hex, this.#state);
      this.#known.set(hex, known);
      known.catch(() => this.#known.delete(hex));
    }
    return known;
  }

  list(): Promise<SiteOrigin[]> {
    return this.#state('readonly', (store) => promisifyRequest<SiteOrigin[]>(store.getAll(range())));
  }

  /** Returns the reported size of all chunk stores except `but`, in bytes. */
  async storedBytes(but?: Address): Promise<number> {
    const origins = await this.list().catch(() => []);
    return origins
      .filter(({ address }) => address !== but?.hex)
      .reduce((sum, { report }) => sum + (report?.storedBytes ?? 0), 0);
  }

  async put({ hex }: Address, change: Partial<Omit<SiteOrigin, 'address'>>): Promise<void> {
    const none: SiteOrigin = { address: hex, readyAt: null, settingsId: null, report: null };
    await update<SiteOrigin>(prefix + hex, (before = none) => ({ ...before, ...change }), this.#state);
    this.#known.delete(hex);
    const origins = await this.list();
    const empty = origins.filter(({ address, report }) => address !== hex && !report?.bytes.stored);
    empty.sort((a, b) => (a.readyAt ?? 0) - (b.readyAt ?? 0));
    const surplus = empty.slice(0, Math.max(0, origins.length - mostOrigins)).map(({ address }) => address);
    if (surplus.length > 0)
      await delMany(
        surplus.map((address) => prefix + address),
        this.#state,
      );
    for (const address of surplus) this.#known.delete(address);
  }

  async remove({ hex }: Address): Promise<void> {
    await delMany([prefix + hex], this.#state);
    this.#known.delete(hex);
  }

  async clear(): Promise<void> {
    await this.#state('readwrite', (store) => {
      store.delete(range());
      return promisifyRequest(store.transaction);
    });
    this.#known.clear();
  }
}
