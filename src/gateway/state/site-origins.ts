import { delMany, get, promisifyRequest, type UseStore, update } from 'idb-keyval';
import type { Address } from '../../address.ts';
import { errorStatus } from '../../errors.ts';
import type { PinState, Share } from '../../library/pin-state.ts';

/** The report of a site's own origin, sent by its bridge. Sizes are in bytes. */
export interface SiteReport {
  chunks: { stored: number; total: number | null };
  bytes: { stored: number; total: number | null };
  /** Whether the whole site is stored there. */
  offline: boolean;
  pin: PinState | null;
  /** The size of the origin's whole chunk store. */
  storedBytes: number;
  /** Whether the browser promised not to evict the origin's data. Null if the browser does not report this. */
  persisted: boolean | null;
}

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

  /**
   * Returns the size of the chunk stores of all these origins, according to their reports, in bytes.
   * @param but an origin to leave out.
   */
  async storedBytes(but?: Address): Promise<number> {
    const origins = await this.list().catch(() => []);
    return origins
      .filter(({ address }) => address !== but?.hex)
      .reduce((sum, { report }) => sum + (report?.storedBytes ?? 0), 0);
  }

  /** Adds a record of an origin, or changes it. */
  async put({ hex }: Address, change: Partial<Omit<SiteOrigin, 'address'>>): Promise<void> {
    const none: SiteOrigin = { address: hex, readyAt: null, settingsId: null, report: null };
    await update<SiteOrigin>(prefix + hex, (before = none) => ({ ...before, ...change }), this.#state);
    this.#known.delete(hex);
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

/**
 * Parses a report from the bridge. It comes from a site's own origin, so it is not trusted: the result
 * contains only known and validated properties.
 * @returns undefined if it is not a report.
 */
export function siteReport(value: unknown): SiteReport | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { chunks, bytes, offline, pin, storedBytes, persisted } = value as Record<string, unknown>;
  const isReport =
    isShare(chunks) &&
    isShare(bytes) &&
    typeof offline === 'boolean' &&
    (pin === null || isPinState(pin)) &&
    isSize(storedBytes) &&
    (persisted === null || typeof persisted === 'boolean');
  if (!isReport) return undefined;
  const share = <T extends { stored: number; total: number | null }>({ stored, total }: T) =>
    ({ stored, total }) as Pick<T, 'stored' | 'total'>;
  return {
    chunks: share(chunks),
    bytes: share(bytes),
    offline,
    pin: pin && {
      chunks: share(pin.chunks),
      bytes: share(pin.bytes),
      state: pin.state,
      activity: pin.activity,
      bytesPerSecond: pin.bytesPerSecond,
      secondsLeft: pin.secondsLeft,
      problem: pin.problem && {
        code: Object.hasOwn(errorStatus, pin.problem.code) ? pin.problem.code : 'INTERNAL',
        message: pin.problem.message.slice(0, mostCharacters),
      },
    },
    storedBytes,
    persisted,
  };
}

/** The maximum length of a problem's message from a site's origin, in characters. */
const mostCharacters = 500;

const pinStates = ['complete', 'partial', 'damaged'];
const activities = ['idle', 'fetching', 'verifying', 'paused', 'waiting'];

function isPinState(value: unknown): value is PinState {
  if (typeof value !== 'object' || value === null) return false;
  const { chunks, bytes, state, activity, bytesPerSecond, secondsLeft, problem } = value as Record<
    string,
    unknown
  >;
  const isProblem =
    problem === null ||
    (typeof problem === 'object' &&
      ['code', 'message'].every((key) => typeof (problem as Record<string, unknown>)[key] === 'string'));
  return (
    isShare(chunks) &&
    isShare(bytes) &&
    pinStates.includes(state as string) &&
    activities.includes(activity as string) &&
    [bytesPerSecond, secondsLeft].every((number) => number === null || isSize(number)) &&
    isProblem
  );
}

function isShare(value: unknown): value is Share {
  if (typeof value !== 'object' || value === null) return false;
  const { stored, total } = value as Record<string, unknown>;
  return isSize(stored) && (total === null || isSize(total));
}

/** No device stores more bytes. */
const mostBytes = 1e15;

function isSize(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= mostBytes;
}
