import { del, get, promisifyRequest, set, type UseStore } from 'idb-keyval';
import * as v from 'valibot';
import { type Address, hexAddress } from '../address.ts';
import { limits } from '../limits.ts';
import * as s from '../schema.ts';

const text = v.pipe(v.string(), v.maxLength(limits.titleCharacters, 'it is too long'));

const path = s.pattern(/^\/[A-Za-z\d][\w.-]{0,99}\/?$/, 'it must be the path of a site');

/** The path and query of an icon, without the browser's tolerance for odd URLs. */
export const visitIcon = v.pipe(
  text,
  v.rawTransform(({ dataset: { value: path }, addIssue, NEVER }) => {
    const origin = 'http://gateway.invalid';
    const url = URL.canParse(path, origin) ? new URL(path, origin) : undefined;
    if (url?.origin === origin && /^\/(?!\/|-\/)/.test(url.pathname) && path.startsWith('/')) {
      return url.pathname + url.search;
    }
    addIssue({ message: 'it must be a file of a site' });
    return NEVER;
  }),
);

const time = v.pipe(
  s.integer('milliseconds'),
  v.check((time) => time <= Date.now(), 'it must not be in the future'),
);

const properties = s.object({
  address: v.pipe(hexAddress, v.toLowerCase()),
  /** The path to open it again: `/<address or name>/`, or without the slash for a file. */
  path,
  /** The alias in the URL that opened it, if any. */
  name: v.nullable(v.string()),
  title: v.nullable(text),
  icon: v.nullable(visitIcon),
  kind: v.picklist(['archive', 'file', 'record']),
  /** The media type of a file. */
  type: v.optional(text),
  /**
   * Set if a reader of the shell showed the content: the encoded path below the address. Empty for the content itself, and
   * for all private content.
   */
  reader: v.optional(text),
  /** Milliseconds since 1970. Null if the time was forgotten and the rest stays for a pin, or was never known. */
  lastOpened: v.nullable(time),
});

export type Visit = v.InferOutput<typeof properties>;

/** A visit of a site that opened on its own origin, which the user may not have seen. */
export type UnseenVisit = Visit & { opened: string };

const visitSchema = v.pipe(
  properties,
  v.check(({ path, name }) => name === null || name === path.split('/')[1], 'its name and path differ'),
);

/**
 * Validates a visit that the gateway recorded at another origin. @throws AntwayError `REFUSED`.
 * Security: its paths become links of the shell, so they must stay on this origin.
 */
export function parseVisit(value: unknown): Visit {
  return s.parse(visitSchema, value, 'REFUSED', 'The visit');
}

const mostVisits = 1_000;

const prefix = 'site:';
const range = () => IDBKeyRange.bound(prefix, `${prefix}\uffff`);

/** Any website can open sites, so these visits have little room, and none of that of the others. */
const mostUnseen = 20;
const unseenPrefix = 'unseen:';
const unseenRange = () => IDBKeyRange.bound(unseenPrefix, `${unseenPrefix}\uffff`);

/** On a site's own origin: when the user last saw a page. */
const seenKey = 'seenAt';

/** The last visit of each address. Not encrypted, so without title and icon of content that only a manifest opens. */
export class Visits {
  readonly #settings: UseStore;

  constructor(settings: UseStore) {
    this.#settings = settings;
  }

  /** Newest first. */
  async list(): Promise<Visit[]> {
    const visits = await this.#settings('readonly', (store) =>
      promisifyRequest<Visit[]>(store.getAll(range())),
    );
    return visits.sort((a, b) => (b.lastOpened ?? 0) - (a.lastOpened ?? 0));
  }

  get({ hex }: Address): Promise<Visit | undefined> {
    return get<Visit>(prefix + hex, this.#settings);
  }

  /**
   * A missing title or icon is taken from the previous visit.
   * @param isPrivate if true, title, icon, type and path are not stored, and earlier ones are removed.
   */
  async add(visit: Visit, isPrivate = false): Promise<void> {
    await this.#settings('readwrite', async (store) => {
      const key = prefix + visit.address;
      const before = await promisifyRequest<Visit | undefined>(store.get(key));
      const title = isPrivate ? null : (visit.title ?? before?.title ?? null);
      const icon = isPrivate ? null : (visit.icon ?? before?.icon ?? null);
      const { type, reader, ...rest } = visit;
      const more = {
        ...(type && !isPrivate && { type }),
        ...(reader !== undefined && { reader: isPrivate ? '' : reader }),
      };
      store.put({ ...rest, ...more, title, icon } satisfies Visit, key);
      if (!before && (await promisifyRequest(store.count(range()))) > mostVisits) await removeOldest(store);
      await promisifyRequest(store.transaction);
    });
  }

  /**
   * Notes a visit that counts once the user has seen a page of the site. Only the site's own origin learns that.
   * @param opened the address that was opened. That of a pointer differs from that of the visit.
   * @param isPrivate as of `add`.
   */
  async addUnseen({ hex }: Address, { type, ...visit }: Visit, isPrivate: boolean): Promise<void> {
    const secret = isPrivate ? { title: null, icon: null } : type === undefined ? {} : { type };
    await this.#settings('readwrite', async (store) => {
      store.put({ ...visit, ...secret, opened: hex } satisfies UnseenVisit, unseenPrefix + hex);
      const all = await promisifyRequest<UnseenVisit[]>(store.getAll(unseenRange()));
      all.sort((a, b) => (b.lastOpened ?? 0) - (a.lastOpened ?? 0));
      for (const { opened } of all.slice(mostUnseen)) store.delete(unseenPrefix + opened);
      await promisifyRequest(store.transaction);
    });
  }

  listUnseen(): Promise<UnseenVisit[]> {
    return this.#settings('readonly', (store) =>
      promisifyRequest<UnseenVisit[]>(store.getAll(unseenRange())),
    );
  }

  /** Removes a visit of `addUnseen`. @returns the visit if it began before the user saw the site. */
  async takeUnseen({ hex }: Address, seenAt: number): Promise<Visit | undefined> {
    const key = unseenPrefix + hex;
    const found = await get<UnseenVisit>(key, this.#settings);
    if (!found || (found.lastOpened ?? 0) > seenAt) return undefined;
    await del(key, this.#settings);
    const { opened: _, ...visit } = found;
    return visit;
  }

  noteSeen(): Promise<void> {
    return set(seenKey, Date.now(), this.#settings);
  }

  async seenAt(): Promise<number | null> {
    return (await get<number>(seenKey, this.#settings)) ?? null;
  }

  /** Deletes the time of a visit, and leaves title and icon. */
  async forgetTime({ hex }: Address): Promise<void> {
    await this.#settings('readwrite', async (store) => {
      const visit = await promisifyRequest<Visit | undefined>(store.get(prefix + hex));
      if (visit) store.put({ ...visit, lastOpened: null } satisfies Visit, prefix + hex);
      await promisifyRequest(store.transaction);
    });
  }

  async remove({ hex }: Address): Promise<void> {
    await this.#settings('readwrite', async (store) => {
      store.delete(prefix + hex);
      // The key of a pointer's is the pointer.
      const unseen = await promisifyRequest<UnseenVisit[]>(store.getAll(unseenRange()));
      for (const { address, opened } of unseen)
        if (address === hex || opened === hex) store.delete(unseenPrefix + opened);
      await promisifyRequest(store.transaction);
    });
  }

  async clear(): Promise<void> {
    await this.#settings('readwrite', (store) => {
      store.delete(range());
      store.delete(unseenRange());
      return promisifyRequest(store.transaction);
    });
  }
}

async function removeOldest(store: IDBObjectStore): Promise<void> {
  const visits = await promisifyRequest<Visit[]>(store.getAll(range()));
  const oldest = visits.reduce((a, b) => ((a.lastOpened ?? 0) <= (b.lastOpened ?? 0) ? a : b));
  store.delete(prefix + oldest.address);
}
