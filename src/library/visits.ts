import { get, promisifyRequest, type UseStore } from 'idb-keyval';
import { Address } from '../address.ts';
import type { Content } from '../content/resolver.ts';
import { AntwayError } from '../errors.ts';

/** A visit to a site or file. */
export interface Visit {
  address: string;
  /** The path to open it again: `/<address or name>/`, or without the slash for a file. */
  path: string;
  /** The alias in the URL that opened it, if any. */
  name: string | null;
  /** Title of its document. */
  title: string | null;
  /** Path of its icon. */
  icon: string | null;
  kind: Content['kind'];
  /** Milliseconds since 1970. Null if the time was forgotten and the rest stays for a pin, or was never known. */
  lastOpened: number | null;
}

/** Most stored visits. */
const mostVisits = 1_000;

const prefix = 'site:';
const range = () => IDBKeyRange.bound(prefix, `${prefix}\uffff`);

/**
 * The last visit of each address. The history is not encrypted, like the browser's own. Therefore it contains no title
 * and no icon of content that only a manifest opens.
 */
export class Visits {
  readonly #settings: UseStore;

  constructor(settings: UseStore) {
    this.#settings = settings;
  }

  /** Lists the visits, newest first. */
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
   * Stores a visit. A missing title or icon is taken from the previous visit.
   * @param isPrivate if true, title and icon are not stored, and earlier ones are removed.
   */
  async add(visit: Visit, isPrivate = false): Promise<void> {
    await this.#settings('readwrite', async (store) => {
      const key = prefix + visit.address;
      const before = await promisifyRequest<Visit | undefined>(store.get(key));
      const title = isPrivate ? null : (visit.title ?? before?.title ?? null);
      const icon = isPrivate ? null : (visit.icon ?? before?.icon ?? null);
      store.put({ ...visit, title, icon } satisfies Visit, key);
      if (!before && (await promisifyRequest(store.count(range()))) > mostVisits) await removeOldest(store);
      await promisifyRequest(store.transaction);
    });
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
    await this.#settings('readwrite', (store) => {
      store.delete(prefix + hex);
      return promisifyRequest(store.transaction);
    });
  }

  async clear(): Promise<void> {
    await this.#settings('readwrite', (store) => {
      store.delete(range());
      return promisifyRequest(store.transaction);
    });
  }
}

/** Most UTF-16 units of a title, and of the path of an icon. */
const mostCharacters = 2_000;

/**
 * Validates a visit that the gateway recorded at another origin. Security: its paths become links of the shell, so they
 * must stay on this origin.
 * @throws AntwayError `REFUSED`.
 */
export function parseVisit(value: unknown): Visit {
  const { address, path, name, title, icon, kind, lastOpened } = (value ?? {}) as Record<string, unknown>;
  const root = typeof path === 'string' ? /^\/([a-z\d][\w.-]{0,99})\/?$/i.exec(path)?.[1] : undefined;
  const isText = (text: unknown) =>
    text === null || (typeof text === 'string' && text.length <= mostCharacters);
  const isVisit =
    typeof address === 'string' &&
    Address.isHex(address) &&
    root !== undefined &&
    (name === null || name === root) &&
    isText(title) &&
    isText(icon) &&
    ['archive', 'file', 'record'].includes(kind as string) &&
    (lastOpened === null ||
      (Number.isSafeInteger(lastOpened) &&
        (lastOpened as number) >= 0 &&
        (lastOpened as number) <= Date.now()));
  if (!isVisit) throw new AntwayError('REFUSED', 'This is not a visit.');
  const { hex } = Address.fromHex(address);
  return {
    address: hex,
    path,
    name,
    title,
    icon: iconHere(icon as string | null),
    kind,
    lastOpened,
  } as Visit;
}

/** The path and query of an icon, without the browser's tolerance for odd URLs. @throws AntwayError `REFUSED`. */
function iconHere(icon: string | null): string | null {
  if (icon === null) return null;
  const origin = 'http://gateway.invalid';
  const url = URL.canParse(icon, origin) ? new URL(icon, origin) : undefined;
  if (url?.origin === origin && icon.startsWith('/') && !url.pathname.startsWith('/-/')) {
    return url.pathname + url.search;
  }
  throw new AntwayError('REFUSED', 'The icon of this visit is not a file of a site.');
}

async function removeOldest(store: IDBObjectStore): Promise<void> {
  const visits = await promisifyRequest<Visit[]>(store.getAll(range()));
  const oldest = visits.reduce((a, b) => ((a.lastOpened ?? 0) <= (b.lastOpened ?? 0) ? a : b));
  store.delete(prefix + oldest.address);
}
