import { delMany, get, promisifyRequest, type UseStore, update } from 'idb-keyval';
import type { Address } from '../../address.ts';
import { errorStatus } from '../../errors.ts';
import type { PinState, Share } from '../../library/pin-state.ts';

/** What a site's own origin says of itself, by its bridge. Sizes in bytes. */
export interface SiteReport {
  chunks: { stored: number; total: number | null };
  bytes: { stored: number; total: number | null };
  /** Whether all of the site is stored there. */
  offline: boolean;
  pin: PinState | null;
  /** All that its chunk store holds. */
  storedBytes: number;
  /** Whether the browser promised not to clear it on its own; null where the browser does not tell. */
  persisted: boolean | null;
}

/** An origin of a site that was used in this browser. Times in milliseconds since 1970. */
export interface SiteOrigin {
  /** 64 hex characters. */
  address: string;
  /** When its worker was first known to run, with the user's settings; null before. */
  readyAt: number | null;
  /** Identifies the settings that it was given last; null when it has none of them. */
  settingsId: string | null;
  report: SiteReport | null;
}

const prefix = 'origin:';
const range = () => IDBKeyRange.bound(prefix, `${prefix}\uffff`);

/** What the gateway's own origin knows of the origins of sites. Only the gateway's own worker keeps it. */
export class SiteOrigins {
  readonly #state: UseStore;
  /** Every navigation asks for one. */
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

  /** Bytes that the chunk stores of all these origins hold, as far as they have said. @param but one that is left out. */
  async storedBytes(but?: Address): Promise<number> {
    const origins = await this.list().catch(() => []);
    return origins
      .filter(({ address }) => address !== but?.hex)
      .reduce((sum, { report }) => sum + (report?.storedBytes ?? 0), 0);
  }

  /** Notes an origin, or what has changed about one. */
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
 * Reads a report as the bridge sends it. It comes from a site's own origin, so nothing of it is trusted: only what is known
 * is taken.
 * @returns undefined when it is none.
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

/** Most characters of a problem that a site's origin tells. */
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

function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
